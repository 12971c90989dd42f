"""The handle of a study: tables, SQL, analyses, and how a notebook shows it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

import steelyard
from steelyard import analysis
from steelyard.errors import InputError, StoreError, UnknownNameError
from steelyard.store import StudyTables
from steelyard.study import Study

ANALYSES = [
    name
    for name in analysis.__all__
    if inspect.isfunction(getattr(analysis, name)) and name != "select"
]
TABLES = ["trials", "steps", "measures", "violations", "claims", "states", "divergences"]


@pytest.fixture(scope="module")
def parity(database_path) -> Study:
    return steelyard.open("plumbline_parity", database=database_path)


class TestOpen:
    def test_tells_who_it_is(self, parity):
        assert parity.name == "plumbline_parity"
        assert set(parity.arms) == {"plan_execute", "react"}
        assert parity.perturbations[0] == "baseline"
        assert parity.title
        assert parity.question.endswith("?")

    def test_unknown_study_offers_nearest_names(self, database_path):
        with pytest.raises(UnknownNameError, match="'plumbline_retry'") as caught:
            steelyard.open("plumbline_retri", database=database_path)
        assert caught.value.nearest[0] == "plumbline_retry"

    def test_directory_is_no_database(self, tmp_path):
        with pytest.raises(StoreError, match="directory"):
            steelyard.open("plumbline_retry", database=tmp_path)

    def test_works_from_any_folder(self, tmp_path):
        program = "import steelyard; print(steelyard.open('mle_bench_famou').name)"
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "mle_bench_famou\n", done.stderr

    def test_the_class_is_at_the_root(self):
        assert steelyard.Study is Study


class TestTables:
    @pytest.mark.parametrize("table", TABLES)
    def test_holds_this_study_alone(self, parity, table):
        frame = getattr(parity, table)
        assert len(frame)
        assert set(frame["study"]) == {"plumbline_parity"}

    def test_changing_a_frame_changes_nothing_else(self, parity):
        frame = parity.trials
        frame["arm"] = "x"
        assert "x" not in set(parity.trials["arm"])

    def test_unknown_table(self, parity):
        with pytest.raises(UnknownNameError, match="'trials'"):
            parity.frame("trails")


class TestSql:
    def test_sees_this_study_alone(self, parity):
        counts = parity.sql("SELECT study, count(*) AS n FROM trials GROUP BY study")
        assert counts.values.tolist() == [["plumbline_parity", 768]]

    def test_leaves_the_shared_connection_alone(self, parity):
        parity.sql("SELECT 1")
        row = parity.tables.connection.execute(
            "SELECT count(DISTINCT study) FROM trials"
        ).fetchone()
        assert row[0] > 1

    @pytest.mark.parametrize(
        "query", ["DROP TABLE trials", "SELECT 1; DROP TABLE trials", "", "SELECT", "INSTALL json"]
    )
    def test_only_one_select(self, parity, query):
        with pytest.raises(InputError):
            parity.sql(query)
        assert len(parity.trials) == 768

    def test_only_text(self, parity):
        with pytest.raises(InputError, match="the text of one SELECT; this is int"):
            parity.sql(5)

    def test_explain_is_a_question_too(self, parity):
        assert len(parity.sql("EXPLAIN SELECT * FROM trials"))

    def test_name_with_a_quote(self, small_study):
        tables = small_study([{"success": 1}])
        object.__setattr__(tables, "study", "o'brien")
        assert Study(tables).sql("SELECT * FROM trials").empty


class TestAnalyses:
    @pytest.mark.parametrize("name", ANALYSES)
    def test_is_the_function_without_its_first_argument(self, parity, name):
        function, method = getattr(analysis, name), getattr(parity, name)
        assert inspect.getdoc(method) == inspect.getdoc(function)
        names = list(inspect.signature(function).parameters)
        assert list(inspect.signature(method).parameters) == names[1:]
        assert getattr(Study, name) is function

    def test_result_is_the_function_s(self, parity):
        expected = analysis.rates(parity.tables, by="arm", missing="fail")
        assert parity.rates(by="arm", missing="fail").equals(expected)


class TestNotebook:
    def test_text_counts_trials(self, parity):
        assert repr(parity) == (
            "Study('plumbline_parity': 2 arms, 8 tasks, 6 perturbations, 768 trials, "
            "738 completed, 0 failed, 30 missing)"
        )

    def test_html_is_escaped(self, small_study):
        tables = small_study([{"success": 1}])
        declared = tables.design.model_dump(mode="json")
        declared["study"] |= {"title": "<script>alert(1)</script>", "question": 'a & b "c"'}
        tables.connection.execute("UPDATE studies SET design = ?", [json.dumps(declared)])
        text = Study(StudyTables(tables.connection, "small"))._repr_html_()
        assert "<script>" not in text
        assert "&lt;script&gt;" in text
        assert "a &amp; b" in text
