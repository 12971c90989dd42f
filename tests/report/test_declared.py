"""A study's own tables and figures: declared in its study.toml, asked and drawn by name."""

import inspect
import random
import shutil

import pytest

from report import small
from steelyard.analysis.evidence import Evidence
from steelyard.errors import StudyError
from steelyard.report import drawings, render
from steelyard.report.content import collect
from steelyard.report.page import Page, page_html
from steelyard.report.reproduce import reproduce
from steelyard.report.tables import csv_text
from steelyard.store.declaration import Declaration, read_declaration
from steelyard.store.manifest import write_manifest

TABLE = {
    "name": "by_task",
    "ask": "rates",
    "parameters": {"by": ["task"], "missing": "fail"},
    "title": "Which task fails",
    "note": "One row per task.",
    "columns": [
        {"heading": "task", "from": ["task"], "kind": "code"},
        {"heading": "passed/n", "from": ["successes", "total"], "kind": "fraction"},
    ],
}
FIGURE = {
    "name": "tasks",
    "draw": "rates",
    "tables": ["by_task"],
    "parameters": {"group": None, "series": "task"},
    "title": "Which task fails?",
    "subtitle": "Rates.",
    "caption": "Each task *once* < twice.",
}

WRONG = {"group": None, "series": {"task": 1}}


def own(tables=(TABLE,), figures=(FIGURE,), **more):
    return {"tables": list(tables), "figures": list(figures), **more}


def study(small_study, report, seed=None):
    trials = [
        {"task": f"t{task}", "success": int(task > repeat)}
        for task in range(3)
        for repeat in range(2)
    ]
    if seed is not None:
        random.Random(seed).shuffle(trials)  # noqa: S311
    return small_study(trials, report=report)


@pytest.fixture
def content(small_study):
    return collect(Evidence(study(small_study, own(title="What this study is about"))), ())


@pytest.fixture
def templates(tmp_path):
    (tmp_path / "experiments").mkdir()
    return render.environment(tmp_path)


def test_a_declared_table_is_the_answer_to_its_question(content):
    table = content.all_tables["by_task"]
    assert table.frame["task"].tolist() == ["t0", "t1", "t2"]
    assert table.frame["successes"].tolist() == [0, 1, 2]
    assert content.row("by_task", task="t1")["total"] == 2


def test_the_report_prints_what_was_declared(content, templates):
    files = render.report_files(content, templates)
    text = files["report.md"].decode()
    section = text[text.index("## What this study is about") : text.index("## Tables")]
    assert "| task | passed/n |\n| --- | ---: |\n| `t0` | 0/2 |\n| `t1` | 1/2 |" in section
    assert "One row per task.\n" in section
    assert "![Which task fails?](figures/tasks.svg)\n\nEach task \\*once\\* &lt; twice." in section
    assert "[by_task.csv](tables/by_task.csv)" in section
    assert b"<svg" in files["figures/tasks.svg"]
    assert files["tables/by_task.csv"].decode() == csv_text(content.own.tables["by_task"].frame)


def test_the_page_shows_the_section(content, templates):
    page = page_html(Page(), [content], templates).decode()
    assert "<h3>What this study is about</h3>" in page
    assert "<figcaption>Each task *once* &lt; twice.</figcaption>" in page
    assert "<caption>Which task fails</caption>" in page


def test_nothing_declared_nothing_printed(small_study, templates):
    content = collect(Evidence(study(small_study, None)), ())
    assert content.own.title == ""
    assert "Results of this study" not in render.report_text(content, templates)


def test_a_table_can_be_left_to_its_file_or_cut(small_study, templates):
    report = own([TABLE | {"printed": False}, TABLE | {"name": "one", "where": {"task": "t2"}}], [])
    files = render.report_files(collect(Evidence(study(small_study, report)), ()), templates)
    text = files["report.md"].decode()
    assert "Not printed here: [by_task.csv](tables/by_task.csv)." in text
    assert text.count("| `t2` | 2/2 |") == 1
    assert "`t1`" not in text
    assert files["tables/by_task.csv"] == files["tables/one.csv"]


def test_without_columns_every_column_is_printed(small_study):
    table = {name: value for name, value in TABLE.items() if name != "columns"}
    content = collect(Evidence(study(small_study, own([table], []))), ())
    (view,) = content.own.tables["by_task"].views
    assert [column.header for column in view.columns] == list(view.frame.columns)


def test_the_order_of_rows_changes_no_byte(small_study, templates):
    made = [study(small_study, own(), seed) for seed in (1, 2)]
    first, second = (
        render.report_files(collect(Evidence(tables), ()), templates) for tables in made
    )
    assert first == second


def test_a_study_without_claims_speaks_of_no_published_numbers(content, small_study, templates):
    text = render.report_text(content, templates)
    assert "0 pinned numbers" in text
    assert [line for line in text.splitlines() if "ublished" in line] == []
    two = collect(Evidence(small_study(small.trials(), study="mine")), ())
    text = render.report_text(two, templates)
    assert [line for line in text.splitlines() if "ublished" in line] == []


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        ("tables", {"ask": "ratse"}, r"\.ask: unknown question 'ratse'; did you mean 'rates'"),
        (
            "tables",
            {"parameters": {"bye": 1}},
            r"\.parameters: question 'rates' takes no 'bye'; it filters by arm",
        ),
        ("tables", {"parameters": {"by": ["tusk"]}}, r"\.parameters: .*'tusk'"),
        ("tables", {"parameters": {"measure": ["a"]}}, r"\.parameters: measure is \['a'\]"),
        ("tables", {"ask": "compare"}, r"\.parameters: .*missing a required argument"),
        ("tables", {"name": "rates"}, r"\.name: the report has a table 'rates' already"),
        ("tables", {"name": "pins"}, r"\.name: the report has a table 'pins' already"),
        ("tables", {"where": {"tsk": "t1"}}, r"\.where\.tsk: unknown column 'tsk'"),
        (
            "tables",
            {"columns": [{"heading": "x", "from": ["succeses"]}]},
            r"\.columns\[0\]\.from: unknown column 'succeses'.*'successes'",
        ),
        (
            "tables",
            {"columns": [{"heading": "x", "from": ["successes"], "kind": "percent"}]},
            r"\.columns\[0\]: column 'x': kind 'percent' is none of text",
        ),
        (
            "tables",
            {"columns": [{"heading": "x", "from": ["successes"], "kind": "fraction"}]},
            r"\.columns\[0\]: column 'x': kind 'fraction'",
        ),
        ("figures", {"draw": "rats"}, r"\.draw: unknown drawing 'rats'"),
        ("figures", {"tables": ["by_tsk"]}, r"\.tables: unknown table 'by_tsk'"),
        ("figures", {"parameters": {"colour": 1}}, r"\.draw: .*argument 'colour'; it takes frame"),
        ("figures", {"parameters": {"estimate": "x"}}, r"\.draw: .*needs the column 'x'"),
        ("figures", {"parameters": WRONG}, r"\.draw: drawing 'rates' cannot use its"),
        (
            "figures",
            {"name": "reliability"},
            r"\.name: the report has a figure 'reliability' already",
        ),
    ],
)
def test_what_does_not_exist_is_named_with_its_place(small_study, place, change, message):
    changed = own(**{place: [{"tables": TABLE, "figures": FIGURE}[place] | change]})
    if place == "tables":
        changed["figures"] = []
    changed["tables"] = changed["tables"] if place == "tables" else [TABLE]
    evidence = Evidence(study(small_study, changed))
    with pytest.raises(StudyError, match=rf"study\.toml: report\.{place}\[0\]{message}"):
        collect(evidence, ())


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (own([TABLE, TABLE]), "two tables are called 'by_task'"),
        (own([TABLE | {"name": "By task"}]), r"tables.*name"),
        (own([TABLE | {"columns": [{"heading": "x", "from": []}]}]), "from"),
        (own([TABLE | {"parameters": {"x": float("nan")}}]), "only JSON values"),
        (own([TABLE | {"colums": []}]), "colums"),
        (own(figures=[FIGURE | {"tables": []}]), "tables"),
    ],
)
def test_the_schema_refuses(report, message):
    sections = {
        "study": {
            "id": "small",
            "title": "t",
            "question": "q",
            "origin": "run",
            "source": "s",
            "licence": "MIT",
        },
        "data": {"source": "small"},
        "design": {"arms": ["a"], "perturbations": ["baseline"]},
        "measures": {"primary": "success"},
    }
    with pytest.raises(StudyError, match=message):
        Declaration.of(**sections, report=report)


def test_a_declaration_survives_the_database(content):
    again = Declaration.from_json(content.design.to_json())
    assert again == content.design
    assert again.report.tables[0].columns[1].sources == ("successes", "total")


def test_reproduce_names_the_line(root, tmp_path):
    name = "mle_bench_famou"
    for part in ("experiments", "data"):
        shutil.copytree(root / part / name, tmp_path / part / name)
    write_manifest(tmp_path / "data")
    path = tmp_path / "experiments" / name / "study.toml"
    text = path.read_text(encoding="utf-8") + (
        '\n[[report.tables]]\nname = "mine"\nask = "rates"\ntitle = "t"\n'
        'columns = [{ heading = "x", from = ["no_such"] }]\n'
    )
    path.write_text(text, encoding="utf-8", newline="\n")
    read_declaration(path)
    line = len(text.splitlines())
    expected = rf"study\.toml:{line}: report\.tables\[0\]\.columns\[0\]\.from: unknown column"
    with pytest.raises(StudyError, match=expected):
        reproduce(tmp_path)
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("name", sorted(drawings.DRAWINGS))
def test_every_drawing_exists_and_takes_a_head(name):
    taken = inspect.signature(drawings.find(name)).parameters
    assert {"name", "title", "subtitle"} <= set(taken)
