"""The audit as a whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.audit_cases import SmallStudy
from steelyard.analysis.audit import CHECKS, VERDICTS, audit
from steelyard.analysis.audit.findings import listed, p_text, percent, plural, quoted, ratio
from steelyard.store.tables import StudyTables

COLUMNS = ["check", "subject", "verdict", "evidence", "query", "recommendation"]
STUDIES = (
    "autogpt_benchmarks",
    "mle_bench_famou",
    "plumbline_determinism",
    "plumbline_parity",
    "plumbline_retry",
    "tau_bench_airline",
)


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_can_be_audited(study: str, tables: Callable[[str], StudyTables]) -> None:
    table = audit(tables(study))
    assert list(table.columns) == COLUMNS
    assert list(dict.fromkeys(table["check"])) == [check.__name__ for check in CHECKS]
    assert set(table["verdict"]) <= set(VERDICTS)
    assert not table.duplicated(["check", "subject"]).any()
    assert table["evidence"].str.len().gt(0).all()
    assert table["evidence"].str.contains("nan|None").sum() == 0
    advised = table["recommendation"].str.len().gt(0)
    assert (advised == table["verdict"].ne("pass")).all()


@pytest.mark.parametrize("study", STUDIES)
def test_every_query_runs_on_the_database(study: str, tables: Callable[[str], StudyTables]) -> None:
    opened = tables(study)
    for query in audit(opened)["query"].unique():
        opened.connection.execute(query).fetchall()


def test_an_audit_is_the_same_twice(tables: Callable[[str], StudyTables]) -> None:
    opened = tables("plumbline_retry")
    assert audit(opened).equals(audit(opened))


def test_a_clean_study_passes_everything(small_study: SmallStudy) -> None:
    rows = [
        {"arm": arm, "task": f"t{task}", "success": int((task + repeat) % 3 > 0), "repeat": repeat}
        for arm in ("a", "b")
        for task in range(12)
        for repeat in range(3)
    ]
    table = audit(small_study(rows))
    assert set(table["verdict"]) == {"pass"}, table[table["verdict"] != "pass"].to_dict("records")


def test_checks_state_their_rule_and_know_no_study() -> None:
    folder = Path(inspect.getfile(audit)).parent
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    for name in ("react", "plan_execute", "tool_fault", "INV-", "famou", "autogpt", "tau_bench"):
        assert name not in source.lower(), name
    for check in CHECKS:
        rule = (check.__doc__ or "").splitlines()
        assert rule[0].startswith("Demand"), check.__name__


def test_numbers_in_words() -> None:
    assert ratio(52, 64) == "52/64 (81.2%)"
    assert ratio(0, 0) == "0/0"
    assert percent(float("nan")) == "no share"
    assert p_text(0.0004) == "p = 0.0004"
    assert p_text(2e-5) == "p = 2.0e-05"
    assert p_text(1e-300) == "p < 1e-16"
    assert p_text(0.9999) == "p = 1.000"
    assert p_text(float("nan")) == "no p-value"
    assert listed("abcdef") == "a, b, c, d and 2 more"
    assert plural(1, "trial") == "1 trial"
    assert plural(2345, "trial") == "2,345 trials"
    assert quoted("o'clock") == "'o''clock'"


@pytest.mark.parametrize("status", ["failed", "missing"])
def test_a_study_without_a_single_result_can_be_audited(
    status: str, small_study: SmallStudy
) -> None:
    rows = [{"task": f"t{i}", "status": status, "success": None} for i in range(4)]
    table = audit(small_study(rows)).set_index("check")
    assert table.loc["missing_trials", "verdict"] == "fail"
    assert "4 trials intended: 0 completed" in table.loc["missing_trials", "evidence"]
