import csv
import io
import re

import jinja2
import pytest

from report import small
from steelyard.analysis.evidence import Evidence
from steelyard.errors import StudyError, UnknownNameError
from steelyard.report import render
from steelyard.report.content import collect
from steelyard.report.page import Page, PageStudy, page_html


@pytest.fixture
def templates(tmp_path):
    (tmp_path / "experiments").mkdir()
    return render.environment(tmp_path)


def markdown_tables(text):
    """Return the tables of a Markdown text, each as a list of lines."""
    tables, current = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            current.append(line)
        elif current:
            tables.append(current)
            current = []
    return tables


def write_prose(tmp_path, study, text):
    folder = tmp_path / "experiments" / study
    folder.mkdir()
    (folder / "report.md.j2").write_text(text, encoding="utf-8")


def test_every_section_stands_in_its_order(later, templates):
    text = render.report_text(later, templates)
    heads = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert heads == [
        "Question",
        "Evidence",
        "What the evidence supports",
        "Tables",
        "Figures",
        "Audit",
        "Pins",
        "Limits",
    ]
    assert text.count("\n# ") == 1


def test_tables_are_well_formed(later, templates):
    tables = markdown_tables(render.report_text(later, templates))
    assert len(tables) > 8
    for lines in tables:
        widths = {line.replace("\\|", "").count("|") for line in lines}
        assert len(widths) == 1
        assert re.fullmatch(r"\|( -+:? \|)+", lines[1])
        assert len(lines) > 2


def test_pins_are_listed_by_what_became_of_them(later, templates):
    text = render.report_text(later, templates)
    assert "4 published numbers: 1 reproduced, 1 disputed, 1 not determinable, 1 failed." in text
    assert "- `c4`: value expected &lt;1>, \\*not\\* 2" in text
    assert "**other.** mixed | up" in text
    assert "| `c2` | 0.5 | 0.25 |" in text
    assert "- 1 number: no table holds it" in text


def test_no_two_blank_lines_and_no_trailing_space(later, templates):
    text = render.report_text(later, templates)
    assert "\n\n\n" not in text
    assert not re.search(r"[ \t]$", text, flags=re.MULTILINE)
    assert text.endswith("\n")


def test_files_link_to_each_other(later, templates):
    files = render.report_files(later, templates)
    text = files["report.md"].decode()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert set(targets) == set(files) - {"report.md"}
    for name, content in files.items():
        assert b"\r" not in content
        if name.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(content.decode())))
            assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("make", [small.pair, small.single])
def test_the_order_of_insertion_changes_no_byte(small_study, templates, pins, make):
    seen = []
    for seed in (None, 1, 2):
        content = collect(Evidence(make(small_study, seed)), pins)
        files = render.report_files(content, templates)
        files["index.html"] = page_html(Page(), [content], templates)
        seen.append(files)
    assert seen[0] == seen[1]
    assert seen[0] == seen[2]


def test_a_studys_own_sentences(later, templates, tmp_path):
    write_prose(
        tmp_path,
        "later",
        '{% extends "report.md.j2" %}{% block headline %}{% set r = row("rates", arm="b", '
        'perturbation="fault") %}**{{ fraction(r) }}** = {{ r.estimate | rate }}, printed as '
        '{{ claim("c1").value | number }}{% endblock %}',
    )
    words = render.prose(later, templates)
    assert words["headline"] == "**3/5** = 60.0%, printed as 0.8333"
    assert words["limits"] == ""
    assert words["headline"] in render.report_text(later, templates)
    page = page_html(Page(), [later], templates).decode()
    assert "<strong>3/5</strong> = 60.0%" in page


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{{ nothing }}", r"experiments/later/report\.md\.j2: 'nothing' is undefined"),
        ('{{ row("rates", arm="b").x }}', "need one"),
        ('{{ row("repeats", arm="b").x }}', "no attribute 'x'"),
        ("\n{% if %}", r"experiments/later/report\.md\.j2:2: "),
    ],
)
def test_a_template_that_asks_for_what_is_not_there(later, templates, tmp_path, body, message):
    write_prose(tmp_path, "later", body)
    with pytest.raises(StudyError, match=message):
        render.report_text(later, templates)


def test_a_template_that_asks_for_an_unknown_table(later, templates, tmp_path):
    write_prose(tmp_path, "later", '{{ row("rate") }}')
    with pytest.raises(UnknownNameError, match="did you mean 'rates'"):
        render.report_text(later, templates)


def test_figures_of_a_published_number():
    text = render.figures_text
    assert text({"successes": 52, "total": 64, "low": 0.7, "high": 0.889}) == "52/64, [0.7, 0.889]"
    assert text({"text": "baseline", "p_value": 0.0029}) == "baseline, p value 0.0029"
    assert text({"value": None}) == "\N{EN DASH}"


class TestPage:
    def test_open_tables_can_be_cut_to_some_rows(self, later, templates):
        entry = PageStudy(id="later", tables=("comparisons",), where={"stratum": "fault"})
        page = page_html(Page(studies=(entry,)), [later], templates).decode()
        cut = page.index("<caption>Differences, fault</caption>")
        assert cut < page.index("More tables") < page.index("<caption>Differences</caption>")
        assert "baseline" not in page[cut : page.index("</table>", cut)]

    def test_title_and_lead_are_escaped(self, later, templates):
        page = page_html(Page(title="<T>", lead="a < **b**"), [later], templates).decode()
        assert "<h1>&lt;T&gt;</h1>" in page
        assert "<p>a &lt; <strong>b</strong></p>" in page

    def test_unlisted_studies_follow(self, later, solo, templates):
        entry = PageStudy(id="solo", tables=("spread",))
        page = page_html(Page(studies=(entry,)), [later, solo], templates).decode()
        assert re.findall(r'<section class="study" id="(\w+)"', page) == ["solo", "later"]

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            (PageStudy(id="latter"), "names the unknown study 'latter'"),
            (PageStudy(id="later", tables=("rate",)), "later has no table 'rate'; it has trials"),
            (
                PageStudy(id="later", tables=("rates",), where={"x": "y"}),
                "table 'rates' of later has no column 'x'",
            ),
        ],
    )
    def test_the_page_asks_for_what_is_not_there(self, later, templates, entry, message):
        with pytest.raises(StudyError, match=message):
            page_html(Page(studies=(entry,)), [later], templates)


def test_the_environment_refuses_undefined_names(templates):
    assert templates.undefined is jinja2.StrictUndefined


def test_many_audit_lines_alike_are_counted():
    def line(number, check="clustering", verdict="pass"):
        said = {"evidence": f"line {number}.", "recommendation": ""}
        return {"check": check, "verdict": verdict, "subject": f"arm {number}", **said}

    few = [line(number) for number in range(12)]
    assert render.shortened(few) == few
    lines = [line(0, verdict="fail"), *map(line, range(13)), line(99, "missing_trials")]
    shown = render.shortened(lines)
    assert [one["subject"] for one in shown] == ["arm 0", "arm 0", "arm 1", "arm 2", "", "arm 99"]
    assert shown[4]["evidence"] == "the same check, 10 lines more with this verdict."
    assert {**shown[4], "subject": "x"}.keys() == lines[0].keys()
