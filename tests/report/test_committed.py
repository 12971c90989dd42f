"""The committed reports: complete, self-contained, and what the code would write today."""

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from steelyard.analysis.evidence import Evidence
from steelyard.report import render
from steelyard.report.content import collect
from steelyard.report.pins import check_pins, read_pins
from steelyard.store.declaration import read_declarations

from .test_render import markdown_tables

ROOT = Path(__file__).parents[2]
STUDIES = sorted(path.parent.name for path in ROOT.glob("experiments/*/study.toml"))
# Words of our sentences that hold a digit and are no results: names, not numbers.
NAMES = re.compile(r"pass\^k|§\d+")


class Collector(HTMLParser):
    """Gathers what the checks below ask of a page."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "use", "path", "rect"})

    def __init__(self):
        super().__init__()
        self.ids, self.targets, self.tags, self.stack, self.attributes = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.attributes.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        for name in ("href", "xlink:href", "src"):
            if name in given:
                self.targets.append(given[name])
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.stack.pop() == tag


@pytest.fixture(scope="module")
def page(root):
    return (root / "reports" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def parsed(page):
    collector = Collector()
    collector.feed(page)
    assert collector.stack == []
    return collector


def test_every_declared_study_has_a_report(root):
    assert sorted(read_declarations(root)) == STUDIES
    for study in STUDIES:
        assert (root / "reports" / study / "report.md").is_file()


@pytest.mark.parametrize("study", STUDIES)
def test_links_and_tables_of_a_report(root, study):
    folder = root / "reports" / study
    text = (folder / "report.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"\]\(([^)\s]+)\)", text))
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert targets == files - {"report.md"}
    for lines in markdown_tables(text):
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


@pytest.mark.parametrize("study", STUDIES)
def test_no_number_is_typed_into_a_sentence(root, study):
    text = (root / "experiments" / study / "report.md.j2").read_text(encoding="utf-8")
    words = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", text, flags=re.DOTALL)
    assert re.findall(r"\S*\d\S*", NAMES.sub("", words)) == []


@pytest.mark.parametrize("study", ["mle_bench_famou", "tau_bench_airline"])
def test_the_committed_files_are_what_the_code_writes(root, tables, study):
    opened = tables(study)
    pins = check_pins(opened, read_pins(root / "experiments" / study / "pins.toml"))
    content = collect(Evidence(opened), pins)
    for name, expected in render.report_files(content, render.environment(root)).items():
        assert (root / "reports" / study / name).read_bytes() == expected, name


def test_the_page_asks_for_nothing_else(page, parsed):
    assert not re.search(r"(?:https?:)?//(?!www\.w3\.org/)[\w.]+\.\w+/", page)
    assert "@import" not in page
    assert "url(" not in re.sub(r"url\(#[^)]+\)", "", page)
    assert not {"script", "link", "iframe", "img", "object"} & set(parsed.tags)


def test_anchors_and_files_of_the_page_exist(root, parsed):
    assert len(parsed.ids) == len(set(parsed.ids))
    for target in parsed.targets:
        if target.startswith("#"):
            assert target[1:] in parsed.ids
        else:
            assert (root / "reports" / target).is_file()


def test_the_page_can_be_read_without_seeing_it(parsed):
    given = parsed.attributes
    assert ("html", {"lang": "en"}) in given
    pictures = [attributes for tag, attributes in given if tag == "svg"]
    assert pictures
    assert all(a.get("role") == "img" and len(a["aria-label"]) > 40 for a in pictures)
    scrolling = [a for tag, a in given if tag == "div" and a.get("class") == "scroll"]
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in scrolling)
    assert parsed.tags.count("table") == parsed.tags.count("caption") == len(scrolling)
    heads = [int(tag[1]) for tag in parsed.tags if re.fullmatch(r"h[1-6]", tag)]
    assert heads[0] == 1
    assert heads.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(heads))


def test_the_page_is_light_and_dark_and_fits_a_phone(page):
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport" content="width=device-width, initial-scale=1"' in page


def test_nothing_of_this_machine_is_in_a_report(root):
    for path in (root / "reports").rglob("*"):
        if path.suffix in {".md", ".csv", ".html", ".svg"}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(?:root|tmp|home|Users|work)/", text), path.name
