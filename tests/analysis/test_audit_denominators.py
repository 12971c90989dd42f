"""The audit's checks of who is in the denominator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.audit_cases import SmallStudy, one, rate_claim, run, trials, verdicts
from steelyard.analysis.audit.claims import rates_reproduced
from steelyard.analysis.audit.denominators import (
    conflicting_denominators,
    empty_denominators,
    values_without_a_run,
)
from steelyard.analysis.audit.losses import missing_not_at_random, missing_trials
from steelyard.store.tables import StudyTables


def lossy(lost: int, total: int, status: str = "missing") -> list[dict[str, object]]:
    """Return trials of ten tasks in turn, the last ``lost`` of them without a result."""
    return [
        {"task": f"t{i % 10}", "success": 1}
        if i < total - lost
        else {"task": f"t{i % 10}", "status": status}
        for i in range(total)
    ]


# ---- missing trials


@pytest.mark.parametrize(
    ("lost", "verdict"), [(0, "pass"), (5, "pass"), (6, "caution"), (20, "caution"), (21, "fail")]
)
def test_five_and_twenty_percent_are_the_thresholds(
    lost: int, verdict: str, small_study: SmallStudy
) -> None:
    finding = one(missing_trials, small_study(lossy(lost, 100)))
    assert finding.verdict == verdict
    assert f"{100 - lost} completed" in finding.evidence
    assert f"{lost} never ran" in finding.evidence


def test_what_is_declared_and_has_no_trial_fails(small_study: SmallStudy) -> None:
    design = {"arms": ["a", "absent"], "perturbations": ["baseline", "fault"]}
    found = run(missing_trials, small_study([{"success": 1}], design=design))
    assert [(finding.subject, finding.verdict) for finding in found] == [
        ("absent", "fail"), ("perturbation fault", "fail"), ("a", "pass"),
    ]  # fmt: skip
    assert "arm absent is declared, and there is no trial of it" in found[0].evidence


def test_only_the_declared_scope_is_counted(small_study: SmallStudy) -> None:
    rows = [{"variant": "test", "success": 1}, {"variant": "member", "status": "missing"}]
    assert one(missing_trials, small_study(rows)).verdict == "fail"
    scoped = small_study(rows, study="scoped", scope={"variant": "test"})
    assert one(missing_trials, scoped).verdict == "pass"


# ---- missing not at random


def test_losses_spread_evenly_pass(small_study: SmallStudy) -> None:
    found = verdicts(missing_not_at_random, small_study(lossy(10, 100)))
    assert found == {"a, by task": "pass"}


def test_losses_in_one_task_fail(small_study: SmallStudy) -> None:
    rows = [*lossy(0, 100), *({"task": "hard", "status": "missing"} for _ in range(8))]
    finding = one(missing_not_at_random, small_study(rows))
    assert finding.verdict == "fail"
    assert "8 of the 8 trials without a result fall on task hard (8/8 (100.0%)" in finding.evidence
    assert "leave hard out" in finding.recommendation


def test_losses_in_one_perturbation_fail(small_study: SmallStudy) -> None:
    rows = [*lossy(0, 50), *({**row, "perturbation": "fault"} for row in lossy(25, 50))]
    found = verdicts(missing_not_at_random, small_study(rows))
    assert found["a, by perturbation"] == "fail"


def test_losses_in_one_arm_fail(small_study: SmallStudy) -> None:
    rows = [{**row, "arm": "b"} for row in lossy(0, 50)] + lossy(20, 50)
    finding = one(missing_not_at_random, small_study(rows), "between arms")
    assert finding.verdict == "fail"
    assert "b 0/50 (0.0%), a 20/50 (40.0%)" in finding.evidence


def test_nothing_lost_passes(small_study: SmallStudy) -> None:
    assert verdicts(missing_not_at_random, small_study(lossy(0, 20))) == {"all trials": "pass"}


def test_two_arms_that_lose_alike_pass(small_study: SmallStudy) -> None:
    rows = lossy(10, 100) + [{**row, "arm": "b"} for row in lossy(10, 100)]
    assert set(verdicts(missing_not_at_random, small_study(rows)).values()) == {"pass"}


def test_the_parity_study_lost_one_task_of_one_arm(
    tables: Callable[[str], StudyTables],
) -> None:
    found = {f.subject: f for f in run(missing_not_at_random, tables("plumbline_parity"))}
    assert found["react, by task"].verdict == "fail"
    assert "30 of the 30" in found["react, by task"].evidence
    assert "INV-7009 (30/48" in found["react, by task"].evidence
    assert found["between arms"].verdict == "fail"


# ---- values without a run


def test_values_of_trials_that_never_ran_fail(small_study: SmallStudy) -> None:
    rows = [
        {"task": "t1", "success": 1},
        {"task": "t2", "status": "missing", "success": 0},
        {"task": "t3", "status": "failed", "success": 0},
    ]
    finding = one(values_without_a_run, small_study(rows))
    assert finding.verdict == "fail"
    assert "1 trial that never ran and 1 trial that ended in an error" in finding.evidence
    assert "success 1/3 (33.3%) with them, 1/1 (100.0%) without" in finding.evidence


def test_values_of_failed_trials_ask_for_caution(small_study: SmallStudy) -> None:
    rows = [{"success": 1}, {"status": "failed", "success": 0}, {"arm": "b", "success": 1}]
    assert verdicts(values_without_a_run, small_study(rows)) == {"a": "caution", "b": "pass"}


def test_a_graded_measure_is_named_without_a_rate(small_study: SmallStudy) -> None:
    rows = [{"score": 3.5}, {"status": "failed", "score": 1.0}]
    assert one(values_without_a_run, small_study(rows)).evidence.endswith("carry values: score")


def test_autogpt_writes_failures_for_tests_that_never_ran(
    tables: Callable[[str], StudyTables],
) -> None:
    finding = one(values_without_a_run, tables("autogpt_benchmarks"), "Auto-GPT")
    assert finding.verdict == "fail"
    assert "390/767 (50.8%) without" in finding.evidence
    assert "never ran" in finding.evidence


# ---- conflicting denominators


def test_two_denominators_of_one_rate_fail_with_their_policies(small_study: SmallStudy) -> None:
    rows = [{"success": 1}, {"success": 1}, {"status": "failed", "success": 0}]
    claims = [
        rate_claim("old", 2, 3, missing_policy="recorded", source="old.json"),
        rate_claim("new", 2, 2, source="new.json"),
        rate_claim("odd", 1, 4, source="odd.json"),
    ]
    finding = one(conflicting_denominators, small_study(rows, claims=claims))
    assert finding.verdict == "fail"
    assert "2/2 (100.0%) in new.json (missing='exclude')" in finding.evidence
    assert "2/3 (66.7%) in old.json (missing='recorded')" in finding.evidence
    assert "1/4 (25.0%) in odd.json (no policy gives it)" in finding.evidence


def test_one_denominator_passes(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1}], claims=[rate_claim("x", 1, 1), rate_claim("y", 1, 1)])
    assert verdicts(conflicting_denominators, tables) == {"a": "pass"}
    nothing = small_study([{"success": 1}], study="nothing")
    assert one(conflicting_denominators, nothing).evidence == "no rate was published"


def test_our_own_findings_are_not_held_against_anyone(small_study: SmallStudy) -> None:
    claims = [rate_claim("x", 1, 1), rate_claim("y", 1, 2, source="data/made_up/README.md")]
    tables = small_study([{"success": 1}], claims=claims)
    assert verdicts(conflicting_denominators, tables) == {"a": "pass"}


def test_errors_are_failures_in_one_file_and_excluded_in_another(
    tables: Callable[[str], StudyTables],
) -> None:
    finding = one(conflicting_denominators, tables("plumbline_retry"), "react")
    assert finding.verdict == "fail"
    assert "332/332 (100.0%) in runs/retry-study/certificate-react.json@efaf94b" in finding.evidence
    assert "332/384 (86.5%)" in finding.evidence
    assert "missing='recorded'" in finding.evidence
    assert verdicts(conflicting_denominators, tables("plumbline_parity")) == {
        "plan_execute, react": "pass"
    }


# ---- empty denominators


def test_a_rate_of_nothing_fails(small_study: SmallStudy) -> None:
    claims = [
        rate_claim("none", 0, 0, high=0.0),
        rate_claim("lost", 0, 0, scope="somewhere"),
        rate_claim("some", 1, 1),
    ]
    found = {
        f.subject: f for f in run(empty_denominators, small_study([{"success": 1}], claims=claims))
    }
    assert set(found) == {"none", "lost"}
    assert "published as 0/0 with 0 [0, 0]" in found["none"].evidence
    assert "the tables give 1/1" in found["none"].evidence
    assert "do not determine" in found["lost"].evidence


def test_rates_of_something_pass(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1}], claims=[rate_claim("some", 1, 1)])
    assert one(empty_denominators, tables).verdict == "pass"


def test_all_seven_certificates_print_nothing_of_nothing(
    tables: Callable[[str], StudyTables],
) -> None:
    studies = ("plumbline_determinism", "plumbline_parity", "plumbline_retry")
    found = [f for study in studies for f in run(empty_denominators, tables(study))]
    assert len(found) == 7
    assert all(f.verdict == "fail" and "published as 0/0" in f.evidence for f in found)
    assert any("372/384" in f.evidence for f in found)


# ---- reproduction


def test_counts_that_come_out_pass(small_study: SmallStudy) -> None:
    claims = [rate_claim("x", 1, 2), rate_claim("y", 1, 1, scope="task:t0", arm="all")]
    tables = small_study(trials({"a": (1, 2)}), claims=claims)
    finding = one(rates_reproduced, tables)
    assert finding.verdict == "pass"
    assert finding.evidence.startswith("2 published rates of 1 measure come out")


def test_counts_under_another_policy_ask_for_caution(small_study: SmallStudy) -> None:
    rows = [{"success": 1}, {"status": "failed", "success": 0}]
    tables = small_study(rows, claims=[rate_claim("x", 1, 2)])
    finding = one(rates_reproduced, tables)
    assert finding.verdict == "caution"
    assert "x (1/2 (50.0%)), missing='recorded'" in finding.evidence


def test_counts_that_never_come_out_fail(small_study: SmallStudy) -> None:
    claims = [
        rate_claim("x", 3, 4),
        rate_claim("elsewhere", 3, 4, scope="unknown place"),
        rate_claim("nobody", 3, 4, arm="nobody"),
    ]
    finding = one(rates_reproduced, small_study([{"success": 1}], claims=claims))
    assert finding.verdict == "fail"
    assert finding.evidence.startswith("0 of 2 claims come out")
    assert "under no policy: nobody (3/4 (75.0%)), x (3/4 (75.0%))" in finding.evidence


def test_nothing_to_reproduce_passes(small_study: SmallStudy) -> None:
    assert one(rates_reproduced, small_study([{"success": 1}])).verdict == "pass"


def test_all_published_rates_come_out(tables: Callable[[str], StudyTables]) -> None:
    for study in ("plumbline_determinism", "plumbline_parity", "plumbline_retry"):
        assert one(rates_reproduced, tables(study)).verdict == "pass"
