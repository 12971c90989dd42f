"""Estimands: the registry, and each question on a study small enough to count by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steelyard.analysis.estimands import FIGURES, Computed, compute, estimand_names
from steelyard.analysis.estimands.registry import estimand
from steelyard.analysis.evidence import Evidence
from steelyard.errors import InputError, StudyError, UnknownNameError
from steelyard.store.tables import StudyTables

SmallStudy = Callable[..., StudyTables]


def ask(tables: StudyTables, question: str, /, **parameters: Any) -> dict[str, Any]:
    return compute(Evidence(tables), question, parameters).to_row()


# ---- the registry


def test_figures_are_the_fields_of_the_answer() -> None:
    assert FIGURES == ("successes", "total", "value", "low", "high", "p_value", "text")
    assert Computed(value=0.5, text="x").to_row() == {"value": 0.5, "text": "x"}


def test_an_unknown_estimand_gets_the_nearest_names(small_study: SmallStudy) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'rate'"):
        ask(small_study([{"success": 1}]), "rates")


def test_wrong_parameters_are_named(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1}])
    with pytest.raises(StudyError, match=r"'rate': missing a required .*'measure'"):
        ask(tables, "rate", missing="exclude")
    with pytest.raises(StudyError, match="unexpected keyword argument 'armm'"):
        ask(tables, "rate", measure="success", missing="exclude", armm="a")


def test_two_estimands_of_one_name_are_refused() -> None:
    def rate() -> Computed:
        return Computed()

    with pytest.raises(StudyError, match="two estimands"):
        estimand(rate)


def test_every_estimand_is_documented() -> None:
    from steelyard.analysis.estimands import registry

    for name in estimand_names():
        assert (registry._ESTIMANDS[name].__doc__ or "").startswith("Return"), name


# ---- evidence


def test_evidence_computes_once(small_study: SmallStudy) -> None:
    evidence = Evidence(small_study([{"success": 1}]))
    calls = []
    for _ in range(2):
        evidence.once("key", lambda: calls.append(1))
    assert calls == [1]
    assert evidence.frame("trials") is evidence.frame("trials")


def test_evidence_finds_arms_of_other_studies(small_study: SmallStudy) -> None:
    first = small_study([{"arm": "a", "success": 1}], study="one")
    second = small_study([{"arm": "b", "success": 0}], study="two", beside=first)
    evidence = Evidence(second)
    place, arm = evidence.of_arm("one:a")
    assert (place.study, arm) == ("one", "a")
    assert evidence.of_arm("b") == (evidence, "b")
    assert evidence.of_study("one") is place
    assert place.of_study("two") is evidence


def test_trials_in_scope(small_study: SmallStudy) -> None:
    trials = [{"variant": "test", "success": 1}, {"variant": "member", "success": 1}]
    assert len(Evidence(small_study(trials)).trials_in_scope()) == 2
    one = small_study(trials, study="one", scope={"variant": "test"})
    assert list(Evidence(one).trials_in_scope()["variant"]) == ["test"]
    both = small_study(trials, study="both", scope={"variant": ["test", "member"]})
    assert len(Evidence(both).trials_in_scope()) == 2


# ---- proportions


def test_rate_at_every_place(small_study: SmallStudy) -> None:
    tables = small_study(
        [
            {"arm": "a", "task": "t1", "success": 1},
            {"arm": "a", "task": "t2", "success": 0},
            {"arm": "a", "task": "t2", "perturbation": "fault", "success": 0},
            {"arm": "b", "task": "t1", "status": "failed", "success": 0},
        ]
    )
    common = {"measure": "success", "missing": "exclude"}
    found = ask(tables, "rate", **common, arm="a")
    assert (found["successes"], found["total"]) == (1, 3)
    assert found["low"] < found["value"] < found["high"]
    assert ask(tables, "rate", **common, arm="a", perturbation="baseline")["total"] == 2
    assert ask(tables, "rate", **common, arm="a", task="t2")["successes"] == 0
    assert ask(tables, "rate", **common)["total"] == 3
    recorded = ask(tables, "rate", measure="success", missing="recorded")
    assert (recorded["successes"], recorded["total"]) == (1, 4)
    with pytest.raises(InputError, match="applies to no trial of arm 'b', perturbation 'fault'"):
        ask(tables, "rate", **common, arm="b", perturbation="fault")


# ---- certificates


@pytest.fixture
def uneven(small_study: SmallStudy) -> StudyTables:
    """Baseline 9/10, fault 2/2: the lowest rate has the higher lower limit."""
    baseline = [{"task": f"t{i}", "success": int(i > 0)} for i in range(10)]
    fault = [{"task": f"t{i}", "perturbation": "fault", "success": 1} for i in range(2)]
    return small_study(baseline + fault)


def test_the_two_definitions_of_a_bound(uneven: StudyTables) -> None:
    common = {"measure": "success", "missing": "exclude", "arm": "a"}
    least = ask(uneven, "certified_bound", **common)["value"]
    printed = ask(uneven, "certified_bound", **common, definition="lowest estimate")["value"]
    assert least == pytest.approx(2 / (2 + 1.959964**2), abs=1e-6)
    assert printed == pytest.approx(0.595850, abs=1e-6)
    assert ask(uneven, "worst_perturbation", **common)["text"] == "fault"
    found = ask(uneven, "worst_perturbation", **common, definition="lowest estimate")
    assert found == {"value": printed, "text": "baseline"}
    assert ask(uneven, "grade", **common)["text"] == "F"
    assert ask(uneven, "grade", **common, definition="lowest estimate")["text"] == "D"
    with pytest.raises(InputError, match="accepted: minimum, lowest estimate"):
        ask(uneven, "grade", **common, definition="mean")


# ---- differences


@pytest.fixture
def arms(small_study: SmallStudy) -> StudyTables:
    rows = [("a", "t1", 0), ("a", "t2", 0), ("a", "t3", 1), ("b", "t1", 1), ("b", "t2", 1)]
    return small_study([{"arm": a, "task": t, "success": s} for a, t, s in rows])


QUESTION = {"measure": "success", "missing": "exclude", "reference": "a", "candidate": "b"}


def test_a_difference_in_points_with_its_exact_p(arms: StudyTables) -> None:
    found = ask(arms, "difference_points", **QUESTION)
    assert found["value"] == pytest.approx(100 * (1 - 1 / 3))
    # Three successes among five trials: all 10 assignments of two labels, 3 as far apart.
    assert found["p_value"] == pytest.approx(0.4)
    assert ask(arms, "difference_points", **QUESTION, perturbation="baseline") == found


def test_the_three_readings_of_a_p_value(arms: StudyTables) -> None:
    expected = ask(arms, "difference_points", **QUESTION, p="expected Monte Carlo", draws=999)
    assert expected["p_value"] == pytest.approx((999 * 0.4 + 1) / 1000)
    drawn = ask(arms, "difference_points", **QUESTION, p="Monte Carlo", draws=999, seed=3)
    assert drawn["p_value"] == pytest.approx(0.4, abs=0.07)
    with pytest.raises(InputError, match="accepted: exact, expected Monte Carlo, Monte Carlo"):
        ask(arms, "difference_points", **QUESTION, p="bayes")


def test_the_order_of_trials_matters_to_shuffles_only(arms: StudyTables) -> None:
    ordered = {"reference_order": ["task"], "candidate_order": ["task"]}
    exact = ask(arms, "difference_points", **QUESTION)
    assert ask(arms, "difference_points", **QUESTION, **ordered) == exact
    with pytest.raises(InputError, match="cannot order trials by 'mood'"):
        ask(arms, "difference_points", **QUESTION, reference_order=["mood"])


def test_an_empty_side_of_a_difference_is_an_error(arms: StudyTables) -> None:
    with pytest.raises(InputError, match="no scored trial of arm 'b' under fault"):
        ask(arms, "difference_points", **{**QUESTION, "reference": "b"}, perturbation="fault")


# ---- counts


@pytest.fixture
def counted(small_study: SmallStudy) -> StudyTables:
    return small_study(
        [
            {"arm": "a", "task": "t1", "success": 1, "cost": 2.0, "covariates": {"run": "r1"}},
            {"arm": "a", "task": "t1", "success": 0, "cost": None, "covariates": {"run": "r1"}},
            {"arm": "a", "task": "t2", "status": "failed", "success": 1},
            {"arm": "a", "task": "t2", "status": "missing"},
            {
                "arm": "b",
                "task": "t1",
                "perturbation": "fault",
                "perturbation_applied": True,
                "violations": [{"rule": "pay:once"}, {"rule": "pay:once"}],
                "success": 1,
                "covariates": {"run": "r1"},
            },
            {
                "arm": "b",
                "task": "t1",
                "perturbation": "fault",
                "perturbation_applied": False,
                "success": 1,
            },
        ]
    )


def test_counts_of_trials(counted: StudyTables) -> None:
    assert ask(counted, "trial_count") == {"value": 5.0}
    assert ask(counted, "trial_count", status=["missing"], task="t2") == {"value": 1.0}
    assert ask(counted, "trial_count", arm="b", studies=["small"]) == {"value": 2.0}
    assert ask(counted, "error_count", arm="a") == {"value": 1.0}
    assert ask(counted, "error_count", arm="a", among="scored") == {"value": 0.0}
    with pytest.raises(InputError, match="accepted: ran, scored"):
        ask(counted, "error_count", arm="a", among="others")
    with pytest.raises(InputError, match="cannot choose trials by 'mood'"):
        ask(counted, "trial_count", mood="good")


def test_counts_of_levels(counted: StudyTables) -> None:
    assert ask(counted, "level_count", column="task") == {"value": 2.0}
    assert ask(counted, "level_count", column="task", arm="b") == {"value": 1.0}
    # Both arms have a run r1; they are two runs.
    assert ask(counted, "level_count", column="run") == {"value": 2.0}
    assert ask(counted, "levels_per_cell", arm="b", column="repeat") == {"value": 2.0}
    assert ask(counted, "levels_per_cell", arm="b", column="variant") == {"value": 1.0}
    with pytest.raises(InputError, match="accepted: variant, repeat"):
        ask(counted, "levels_per_cell", arm="a", column="task")


def test_levels_of_uneven_cells_are_an_error(small_study: SmallStudy) -> None:
    tables = small_study([{"task": "t1"}, {"task": "t1"}, {"task": "t2"}])
    with pytest.raises(InputError, match="between 1 and 2 repeats a cell"):
        ask(tables, "levels_per_cell", arm="a", column="repeat")


def test_counts_of_values(counted: StudyTables) -> None:
    assert ask(counted, "value_count", measure="success", equals=1.0) == {"value": 4.0}
    failed = {"measure": "success", "equals": 1.0, "status": ["failed"]}
    assert ask(counted, "value_count", **failed, arm="a") == {"value": 1.0}
    assert ask(counted, "unmeasured_count", measures=["cost"], arm="a") == {"value": 1.0}
    assert ask(counted, "covariate_count", name="run", equals="r1", arm="a") == {"value": 2.0}
    assert ask(counted, "source_row_count") == {"value": 6.0}


def test_counts_of_violations_are_of_trials(counted: StudyTables) -> None:
    rule = {"rule": "pay:once", "arm": "b", "severity": "high"}
    assert ask(counted, "violation_count", **rule) == {"value": 1.0}
    assert ask(counted, "violation_count", **rule, perturbation="baseline") == {"value": 0.0}
    assert ask(counted, "violation_count", **{**rule, "severity": "low"}) == {"value": 0.0}


def test_application(counted: StudyTables) -> None:
    found = ask(counted, "application", perturbation="fault", arm="b")
    assert (found["successes"], found["total"], found["value"]) == (1, 2, 0.5)
    assert ask(counted, "application", perturbation="fault", arm="b", repeat=1)["successes"] == 0
    with pytest.raises(InputError, match="arm 'a' was not assigned to 'fault'"):
        ask(counted, "application", perturbation="fault", arm="a")


def test_trials_for_a_bound(counted: StudyTables) -> None:
    assert ask(counted, "clean_runs_for_bound", bound=0.95) == {"value": 73.0}


# ---- replacement


STEP = {"name": "pay"}
PAID, HELD = {"paid": True}, {"paid": False}


@pytest.fixture
def replaced(small_study: SmallStudy) -> StudyTables:
    """Old pays twice; new pays in t1 and holds in t2; t3 has no incumbent."""
    rows: list[dict[str, Any]] = [
        {"arm": "old", "task": "t1", "state": PAID, "steps": [STEP]},
        {"arm": "old", "task": "t1", "state": HELD, "steps": [{"name": "hold"}]},
        {"arm": "old", "task": "t2", "state": PAID, "steps": [STEP]},
        {"arm": "new", "task": "t1", "state": PAID, "steps": [STEP]},
        {"arm": "new", "task": "t2", "state": HELD, "steps": [{"name": "hold"}]},
        {"arm": "new", "task": "t3", "state": HELD, "steps": [STEP]},
        {"arm": "new", "task": "t2", "state": HELD, "status": "failed"},
    ]
    common = {"incumbent": "old", "replacement": "new", "trial_id": "new/t2/baseline/0/0"}
    outcome = {"kind": "outcome", "step_index": -1, "expected": "paid", "got": "held"}
    path = {"kind": "substitute", "step_index": 0, "expected": "tool_call:pay"}
    divergences = [
        {**common, **outcome, "severity": "critical"},
        {**common, **path, "got": "tool_call:hold", "severity": "high"},
    ]
    return small_study(
        [{**row, "success": int(row["state"] == PAID)} for row in rows], divergences=divergences
    )


PAIR = {"incumbent": "old", "replacement": "new"}


def test_pairs_and_outcomes(replaced: StudyTables) -> None:
    assert ask(replaced, "pair_count", **PAIR) == {"value": 2.0}
    assert ask(replaced, "pair_count", **PAIR, paired=False) == {"value": 1.0}
    found = ask(replaced, "outcome_equivalence", **PAIR)
    assert (found["successes"], found["total"]) == (1, 2)
    assert ask(replaced, "outcome_equivalence", **PAIR, task="t2")["successes"] == 0
    bound = ask(replaced, "retirement_bound", **PAIR)
    assert bound == {"value": pytest.approx(found["low"]), "text": "baseline"}
    with pytest.raises(InputError, match="accepted: minimum, lowest estimate"):
        ask(replaced, "retirement_bound", **PAIR, definition="mean")
    with pytest.raises(InputError, match="no completed trial"):
        ask(replaced, "pair_count", incumbent="nobody", replacement="new")


def test_divergences_from_the_published_table(replaced: StudyTables) -> None:
    assert ask(replaced, "path_equivalence", **PAIR)["successes"] == 1
    argument = ask(replaced, "argument_equivalence", **PAIR)
    assert (argument["successes"], argument["total"]) == (1, 1)
    kind = {"kind": "outcome", "step_index": -1, "expected": "paid", "got": "held"}
    asked = {**PAIR, **kind, "severity": "critical"}
    assert ask(replaced, "divergence_count", **asked) == {"value": 1.0}
    assert ask(replaced, "divergence_count", **asked, perturbation="fault") == {"value": 0.0}


def test_outcome_consistency(replaced: StudyTables) -> None:
    # Modal baseline states: t1 paid (first of two), t2 paid.
    found = ask(replaced, "outcome_consistency", arm="old", missing="exclude")
    assert (found["successes"], found["total"]) == (2, 3)
    recorded = ask(replaced, "outcome_consistency", arm="new", missing="recorded")
    assert (recorded["successes"], recorded["total"]) == (4, 4)
    with pytest.raises(InputError, match="accepted here: recorded, exclude"):
        ask(replaced, "outcome_consistency", arm="old", missing="fail")


# ---- trajectories


def test_equivalence_from_steps(replaced: StudyTables) -> None:
    assert ask(replaced, "path_equivalence_of_steps", **PAIR)["successes"] == 1
    assert ask(replaced, "outcome_equivalence_of_steps", **PAIR)["successes"] == 1
    assert ask(replaced, "argument_equivalence_of_steps", **PAIR)["total"] == 1
    self_consistency = ask(replaced, "incumbent_self_consistency", **PAIR)
    assert (self_consistency["successes"], self_consistency["total"]) == (2, 3)
    path = {"kind": "substitute", "step_index": 0, "expected": "tool_call:pay"}
    asked = {**PAIR, **path, "got": "tool_call:hold", "severity": "high"}
    assert ask(replaced, "divergence_count_of_steps", **asked) == {"value": 1.0}
    assert ask(replaced, "divergence_count_of_steps", **asked, perturbation="fault")["value"] == 0
    other = {**asked, "severity": "low"}
    assert ask(replaced, "divergence_count_of_steps", **other) == {"value": 0.0}


def test_consistency_from_steps(replaced: StudyTables) -> None:
    common = {"arm": "old", "missing": "exclude"}
    found = ask(replaced, "consistency", **common, facet="structural")
    assert (found["successes"], found["total"]) == (2, 3)
    by = ask(replaced, "consistency", **common, facet="structural", perturbation="baseline")
    assert by == found
    assert ask(replaced, "consistency", **common, facet="outcome")["successes"] == 2
    with pytest.raises(InputError, match="facet is 'mood'"):
        ask(replaced, "consistency", **common, facet="mood")
    with pytest.raises(InputError, match="not taken by perturbation"):
        ask(replaced, "consistency", **common, facet="self", perturbation="baseline")
    with pytest.raises(InputError, match="no scored trial under 'fault'"):
        ask(replaced, "consistency", **common, facet="structural", perturbation="fault")
    step = {"kind": "substitute", "step_index": 0, "expected": "tool_call:pay"}
    asked = {**common, **step, "got": "tool_call:hold", "severity": "high"}
    assert ask(replaced, "consistency_divergence_count", **asked) == {"value": 1.0}
    other = {**asked, "got": "tool_call:ask"}
    assert ask(replaced, "consistency_divergence_count", **other) == {"value": 0.0}


# ---- spread


def test_errors_over_repeats_and_tasks(small_study: SmallStudy) -> None:
    values = {"t1": (1, 1), "t2": (0, 0), "t3": (1, 0)}
    rows = [{"task": t, "success": v, "variant": "low"} for t, pair in values.items() for v in pair]
    tables = small_study(rows)
    common = {"measure": "success", "missing": "exclude", "arm": "a"}
    assert ask(tables, "mean_over_repeats", **common)["value"] == pytest.approx(0.5)
    over_repeats = ask(tables, "standard_error_over_repeats", **common)["value"]
    assert over_repeats == pytest.approx(1 / 6)
    over_tasks = ask(tables, "standard_error_over_tasks", **common, variant="low")["value"]
    assert over_tasks == pytest.approx(0.288675, abs=1e-6)
    naive = ask(tables, "standard_error_naive", **common)["value"]
    assert naive == pytest.approx(0.204124, abs=1e-6)
    agree = ask(tables, "repeats_agree", **common, variant="low")
    assert (agree["successes"], agree["total"]) == (2, 3)
    assert ask(tables, "intraclass_correlation", **common)["value"] == pytest.approx(0.5)
    assert ask(tables, "pass_hat_k", **common, k=2)["value"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="no task with 3 trials"):
        ask(tables, "pass_hat_k", **common, k=3)
    with pytest.raises(InputError, match="with variant 'high'"):
        ask(tables, "mean_over_repeats", **common, variant="high")
