import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from report import walks
from steelyard.analysis.consensus import consensus
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.path_map import path_map
from steelyard.report import render
from steelyard.report.content import collect
from steelyard.report.content_trajectories import study_trajectories
from steelyard.report.figures import consensus_figure, path_map_figure
from steelyard.report.page import Page, PageStudy, page_html

WORDS = {"title": "Is it so?", "subtitle": "By the calls that took effect."}
ALWAYS = [
    "failed_calls",
    "consensus",
    "step_rates",
    "paths",
    "path_trials",
    "path_similarity",
    "similarity",
    "similarity_tests",
    "behaviour_shift",
    "first_divergence",
]
MADE = {}
EQUIVALENCE = ["equivalence", "equivalence_bounds", "equivalence_by_perturbation", "divergences"]


@pytest.fixture
def content(small_study):
    """The whole report's content, collected once."""
    if "content" not in MADE:
        MADE["content"] = collect(Evidence(walks.study(small_study)), ())
    return MADE["content"]


@pytest.fixture
def walked(content):
    return content.trajectories


@pytest.fixture
def templates(tmp_path):
    (tmp_path / "experiments").mkdir()
    return render.environment(tmp_path)


class TestContent:
    def test_a_study_with_steps_has_all_of_it(self, walked):
        assert list(walked.tables) == [*EQUIVALENCE, *ALWAYS, "conformance", "controls"]
        assert [d.name for d in walked.drawings] == ["same_calls", "consensus", "path_map"]

    def test_without_steps_there_is_none(self, small_study):
        assert study_trajectories(Evidence(small_study([{"success": 1}]))) is None

    def test_what_was_not_declared_is_left_out(self, small_study):
        tables = walks.study(small_study, comparisons=[], rules={}, controls=[])
        found = study_trajectories(Evidence(tables))
        assert list(found.tables) == ALWAYS
        assert [d.name for d in found.drawings] == ["consensus", "path_map"]

    def test_rules_without_controls(self, small_study):
        found = study_trajectories(Evidence(walks.study(small_study, controls=[])))
        assert "conformance" in found.tables
        assert "controls" not in found.tables

    def test_one_condition_and_no_failed_call(self, small_study):
        rows = [
            {"task": f"t{task}", "success": int(task != 1), "steps": walks.steps("look", "pay")}
            for task in range(3)
            for _ in range(2)
        ]
        found = study_trajectories(Evidence(small_study(rows)))
        assert "behaviour_shift" not in found.tables
        assert "failed_calls" not in found.tables

    def test_a_policy_that_scores_missing_trials_shows_the_completed_ones(self, small_study):
        tables = walks.study(small_study, missing={"policy": "fail", "reason": "made up"})
        found = study_trajectories(Evidence(tables))
        assert found.tables["paths"].frame["trials"].sum() == 24

    def test_controls_hold_text_and_no_list_of_trials(self, walked):
        frame = walked.tables["controls"].frame
        assert list(frame["arm"]) == ["old", "new"]
        assert list(frame["perturbations"]) == ["fault 3", ""]
        assert "trials" not in frame

    def test_an_outcome_diverges_at_no_step(self, walked):
        shown = walked.tables["divergences"].views[0].frame
        assert shown.loc[shown["kind"] == "outcome", "step_index"].isna().all()
        whole = walked.tables["divergences"].frame
        assert set(whole.loc[whole["kind"] == "outcome", "step_index"]) == {-1}


class TestPages:
    def test_report_and_page_have_the_part(self, content, templates):
        files = render.report_files(content, templates)
        text = files["report.md"].decode()
        assert "\n## What the trials did\n" in text
        assert set(re.findall(r"\]\(([^)]+)\)", text)) == set(files) - {"report.md"}
        assert "Not printed here: [consensus.csv]" in text
        page = page_html(Page(), [content], templates).decode()
        assert "<h3>What the trials did</h3>" in page
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))

    def test_sentences_can_name_its_rows(self, content, templates, tmp_path):
        folder = tmp_path / "experiments" / "walks"
        folder.mkdir()
        (folder / "report.md.j2").write_text(
            '{% extends "report.md.j2" %}{% block trajectories %}'
            '{{ fraction(row("equivalence", reading="calls that took effect", question="path")) }}'
            " agree.{% endblock %}",
            encoding="utf-8",
        )
        assert render.prose(content, templates)["trajectories"] == "6/12 agree."
        assert "6/12 agree." in render.report_text(content, templates)

    def test_its_tables_can_stand_open(self, content, templates):
        entry = PageStudy(id="walks", tables=("equivalence",))
        page = page_html(Page(studies=(entry,)), [content], templates).decode()
        caption = "<caption>Does the replacement do what the incumbent does?</caption>"
        assert page.count(caption) == 1
        assert page.index(caption) < page.index("What the trials did")

    def test_a_study_without_steps_has_no_such_part(self, later, templates):
        assert "What the trials did" not in render.report_text(later, templates)
        assert "What the trials did" not in page_html(Page(), [later], templates).decode()

    def test_the_order_of_insertion_changes_no_byte(self, content, small_study, templates):
        again = collect(Evidence(walks.study(small_study, seed=1)), ())
        files = render.report_files(content, templates)
        assert render.report_files(again, templates) == files


class TestPathMap:
    def test_description_and_shape(self, small_study):
        found = path_map(walks.study(small_study))
        drawing = path_map_figure(found.trials, found.similarities, **WORDS)
        root = ET.fromstring(drawing.svg)  # noqa: S314 - our own text
        assert root[1].text == drawing.description
        assert drawing.description.startswith(
            "t1, t2: each 7 of 8 trials on path 1; 1 of old, fault, on path 2 (67% like path 1). "
            "t3: 5 of 8 trials on path 1; "
        )
        again = path_map_figure(found.trials, found.similarities, **WORDS)
        assert again.svg == drawing.svg

    def test_equal_paths_leave_no_ink(self):
        trials = pd.DataFrame(
            {"task": ["t"], "arm": ["a"], "perturbation": ["p"], "path": [1], "trials": [3]}
        )
        same = pd.DataFrame({"task": ["t"], "path": [1], "other": [1], "similarity": [1.0]})
        drawing = path_map_figure(trials, same, **WORDS)
        assert drawing.description == "t: 3 of 3 trials on path 1; no other."

    def test_many_tasks_are_cut_to_those_least_alike(self):
        trials, pairs = [], []
        for number in range(15):
            task = f"task {number:02}"
            for path, count in ((1, 5), (2, 1 + number)):
                trials.append((task, "a", "p", path, count))
            pairs += [(task, 1, 1, 1.0), (task, 1, 2, 0.5), (task, 2, 2, 1.0)]
        frame = pd.DataFrame(trials, columns=["task", "arm", "perturbation", "path", "trials"])
        alike = pd.DataFrame(pairs, columns=["task", "path", "other", "similarity"])
        few = path_map_figure(frame.head(2), alike, **WORDS)
        many = path_map_figure(frame, alike, **WORDS)
        assert "task 14: 5 of 20 trials" in many.description
        assert height(many) < 8 * height(few)


class TestConsensus:
    def test_events_are_told_apart(self, small_study):
        frame = consensus(walks.study(small_study), by="arm", failed_calls="include")
        drawing = consensus_figure(frame, **WORDS)
        assert "new, pay: another call in its place in 2 of 4" in drawing.description
        assert "a call added after it in 4 of 4" in drawing.description
        for color in ("#009e73", "#0072b2"):
            assert color in drawing.svg

    def test_tasks_that_look_the_same_share_a_strip(self, small_study):
        drawing = consensus_figure(consensus(walks.study(small_study), by="arm"), **WORDS)
        assert drawing.description == (
            "t1, t2, each: old, check: left out in 1 of 4. "
            "t3: old, check: left out in 1 of 4; new, pay: another call in its place in 2 of 4."
        )

    def test_calls_before_the_first_step_have_a_column(self, small_study):
        rows = [{"success": 1, "steps": walks.steps("look", "pay")} for _ in range(3)]
        rows.append({"success": 1, "steps": walks.steps("wait", "look", "pay")})
        drawing = consensus_figure(consensus(small_study(rows), by="arm"), **WORDS)
        assert drawing.description == "t: a, before the first: a call added after it in 1 of 4."

    def test_long_paths_go_on_below(self, small_study):
        short = [{"success": 1, "steps": walks.steps(*"abcdefg")}]
        long = [{"success": 1, "steps": walks.steps(*"abcdefghi", "a_very_long_name")}]
        one, two = (
            consensus_figure(consensus(small_study(rows), by="arm"), **WORDS)
            for rows in (short, long)
        )
        assert one.description == "t: no trial leaves the path."
        assert height(two) > height(one) + 20

    def test_many_tasks_are_cut_to_the_highest_rates(self, small_study):
        rows = []
        for number in range(14):
            rows += [
                {"task": f"task {number:02}", "success": 1, "steps": walks.steps("look", "pay")}
                for _ in range(number + 3)
            ]
            rows.append({"task": f"task {number:02}", "success": 0, "steps": walks.steps("look")})
        frame = consensus(small_study(rows), by="arm")
        all_of_them = consensus_figure(frame, **WORDS)
        twelve = consensus_figure(frame[frame["task"] < "task 12"], **WORDS)
        assert abs(height(all_of_them) - height(twelve)) < 20


def height(drawing):
    return float(re.search(r'height="([\d.]+)pt"', drawing.svg)[1])
