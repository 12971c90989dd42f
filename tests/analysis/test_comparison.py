"""Comparisons: strata, tests, verdicts, and every way in which two arms fail to match."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import compare, pairwise
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import (
    clustered_difference,
    exact_permutation,
    holm,
    miettinen_nurminen_interval,
    monte_carlo_permutation,
    newcombe_interval,
    sign_flip,
    stratified_permutation,
)


def arm(name, tasks, **more):
    return [
        {"arm": name, "task": task, "success": value, **more}
        for task, values in tasks.items()
        for value in values
    ]


def two(small_study, reference, candidate, **sections):
    return small_study(arm("a", reference) + arm("b", candidate), **sections)


def flat(tasks):
    return [value for values in tasks.values() for value in values]


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


A = {"t1": [1, 1, 0], "t2": [0, 0, 1], "t3": [1, 0, 0]}
B = {"t1": [1, 1, 1], "t2": [1, 0, 1], "t3": [1, 1, 0]}


def test_every_number_of_a_row(small_study):
    row = only(compare(two(small_study, A, B), "a", "b"))
    counts = (4, 9, 7, 9)
    names = [f"{s}_{w}" for s in ("reference", "candidate") for w in ("successes", "total")]
    assert tuple(row[n] for n in names) == counts
    assert (row["reference_rate"], row["candidate_rate"]) == (4 / 9, 7 / 9)
    assert row["difference"] == newcombe_interval(*counts).estimate
    assert row["newcombe_low"] == newcombe_interval(*counts).low
    assert row["miettinen_nurminen_high"] == miettinen_nurminen_interval(*counts).high
    tasks = [task for task in A for _ in range(3)]
    clustered = clustered_difference(flat(A), tasks, flat(B), tasks)
    assert row["clustered_difference"] == pytest.approx(clustered.estimate, abs=1e-15)
    assert row["clustered_low"] == pytest.approx(clustered.low)
    assert row["p_exact"] == exact_permutation(*counts).p_value
    strata = [((sum(A[t]), 3), (sum(B[t]), 3)) for t in A]
    assert row["p_stratified"] == stratified_permutation(strata).p_value
    assert row["strata_used"] == 3
    assert row["p_sign_flip"] == sign_flip([1 / 3, 1 / 3, 1 / 3]).p_value
    assert math.isnan(row["p_monte_carlo"])
    assert (row["pairing"], row["tasks_shared"], row["family_size"]) == ("by task", 3, 1)
    assert (row["stratum"], row["case"], row["level"]) == ("baseline", "observed", 0.95)


def test_the_difference_is_candidate_minus_reference(small_study):
    tables = two(small_study, A, B)
    forth, back = (only(compare(tables, *pair)) for pair in (("a", "b"), ("b", "a")))
    assert forth["difference"] == -back["difference"] > 0
    assert forth["p_stratified"] == back["p_stratified"]


def test_tasks_are_never_traded_against_each_other(small_study):
    # Simpson: b is worse on both tasks and better over all.
    a = {"easy": [1] * 9 + [0], "hard": [1] * 30 + [0] * 60}
    b = {"easy": [1] * 80 + [0] * 10, "hard": [1] * 3 + [0] * 7}
    row = only(compare(two(small_study, a, b), "a", "b"))
    assert row["difference"] > 0.4
    assert row["clustered_difference"] < 0
    assert row["p_exact"] < 1e-8
    assert row["p_stratified"] > 0.5


def test_pooled_perturbations_are_blocks_of_a_task(small_study):
    # Under the fault everything fails; b ran the baseline only half as often.
    rows = arm("a", {"t1": [1] * 8, "t2": [1] * 8}) + arm("b", {"t1": [1] * 4, "t2": [1] * 4})
    rows += arm("a", {"t1": [0] * 4, "t2": [0] * 4}, perturbation="fault")
    rows += arm("b", {"t1": [0] * 8, "t2": [0] * 8}, perturbation="fault")
    row = only(compare(small_study(rows), "a", "b", by=()))
    assert row["stratum"] == "all"
    assert row["difference"] == pytest.approx(-1 / 3)
    assert (row["clustered_difference"], row["p_stratified"], row["strata_used"]) == (0, 1, 4)


def test_rows_follow_the_design_and_p_values_are_adjusted_together(small_study):
    rows = []
    for i, p in enumerate(("baseline", "z", "b")):
        rows += arm("a", {t: [1] * 4 for t in ("t1", "t2")}, perturbation=p)
        rows += arm("b", {t: [0] * (i + 1) + [1] * (3 - i) for t in ("t1", "t2")}, perturbation=p)
    tables = small_study(rows, design={"perturbations": ["baseline", "z", "b"]})
    frame = compare(tables, "a", "b")
    assert list(frame["stratum"]) == ["baseline", "z", "b"]
    raw = frame["p_stratified"].to_numpy()
    assert list(frame["p_adjusted"]) == list(holm(raw))
    assert list(frame["family_size"]) == [3] * 3
    unadjusted = compare(tables, "a", "b", adjust="none")
    assert list(unadjusted["p_adjusted"]) == list(raw)
    assert set(compare(tables, "a", "b", adjust="benjamini_hochberg")["adjustment"]) == {
        "benjamini_hochberg"
    }


def test_a_perturbation_that_one_arm_lacks_is_shown_and_not_tested(small_study):
    rows = arm("a", A) + arm("b", B) + arm("b", B, perturbation="decoy")
    frame = compare(small_study(rows), "a", "b").set_index("perturbation")
    row = frame.loc["decoy"]
    assert (row["reference_intended"], row["reference_total"], row["candidate_total"]) == (0, 0, 9)
    for column in ("difference", "clustered_difference", "p_exact", "p_stratified", "p_adjusted"):
        assert math.isnan(row[column]), column
    for low, high in (("newcombe_low", "newcombe_high"), ("clustered_low", "clustered_high")):
        assert (row[low], row[high]) == (-1.0, 1.0)
    assert (row["verdict"], row["pairing"]) == ("inconclusive", "none")
    assert row["reason"] == "the reference has no counted trial here"
    assert math.isnan(row["smallest_margin"])
    # What was not tested is not counted in the family.
    assert list(frame["family_size"]) == [1, 1]


def test_neither_side_scored(small_study):
    rows = [{"arm": name, "task": "t", "success": None} for name in "ab"]
    row = only(compare(small_study(rows), "a", "b"))
    assert (row["reference_excluded"], row["candidate_excluded"], row["family_size"]) == (1, 1, 0)
    assert math.isnan(row["p_adjusted"])
    assert row["verdict"] == "inconclusive"


def test_tasks_of_only_one_arm(small_study):
    row = only(compare(two(small_study, A, {"t3": [1, 1], "t4": [0, 0]}), "a", "b"))
    assert row["pairing"] == "partly by task"
    assert [row[f"tasks_{w}"] for w in ("shared", "reference_only", "candidate_only")] == [1, 2, 1]
    assert row["strata_used"] == 1
    assert row["reason"].startswith("1 shared task")
    assert (row["clustered_low"], row["clustered_high"]) == (-1.0, 1.0)


def test_no_task_shared(small_study):
    row = only(compare(two(small_study, {"t1": [1, 0]}, {"t2": [1, 1]}), "a", "b"))
    assert (row["pairing"], row["strata_used"]) == ("none", 0)
    assert row["p_exact"] == 1.0
    assert math.isnan(row["p_stratified"])
    assert math.isnan(row["p_sign_flip"])
    assert row["reason"].startswith("no shared task")


def test_both_always_succeed(small_study):
    tasks = {f"t{i}": [1] * 8 for i in range(8)}
    row = only(compare(two(small_study, tasks, tasks), "a", "b", margin=0.05))
    assert (row["p_exact"], row["p_stratified"], row["difference"]) == (1.0, 1.0, 0.0)
    # Eight tasks without a failure do not show that failures are rarer than 5 in 100.
    assert row["verdict"] == "inconclusive"
    assert 0.3 < row["smallest_margin"] < 0.32
    assert "all tasks have the same difference" in row["reason"]


def test_equivalence_needs_both_intervals_within_the_margin(small_study):
    # One failure in one of eight tasks: the t interval over tasks is narrow, and too narrow.
    a = {f"t{i}": [1] * 8 for i in range(8)}
    b = {**a, "t0": [0] + [1] * 7}
    row = only(compare(two(small_study, a, b), "a", "b", margin=0.05))
    assert row["smallest_margin_over_tasks"] < 0.05 < row["smallest_margin_independent"]
    assert row["smallest_margin"] == row["smallest_margin_independent"]
    assert row["verdict"] == "inconclusive"
    assert "not when trials are taken as independent" in row["reason"]
    wider = only(compare(two(small_study, a, b), "a", "b", margin=0.1))
    assert wider["verdict"] == "equivalent"


def test_verdict_different(small_study):
    a = {f"t{i}": [0] * 4 + [1] * (i % 2) for i in range(10)}
    b = {f"t{i}": [1] * 4 + [0] * (i % 3) for i in range(10)}
    row = only(compare(two(small_study, a, b), "a", "b", margin=0.1))
    assert row["verdict"] == "different"
    assert row["clustered_low"] > 0


def test_margins_come_from_the_declared_comparison(small_study):
    declared = [
        {"name": "x", "measure": "success", "reference": "b", "candidate": "a", "margin": 0.2,
         "perturbations": ["fault"]},
    ]  # fmt: skip
    rows = [r for p in ("baseline", "fault") for r in arm("a", A, perturbation=p)]
    rows += [r for p in ("baseline", "fault") for r in arm("b", B, perturbation=p)]
    tables = small_study(rows, comparisons=declared)
    frame = compare(tables, "a", "b")
    assert math.isnan(frame["margin"].iloc[0])
    assert frame["margin"].iloc[1] == 0.2
    assert list(compare(tables, "a", "b", margin=0.3)["margin"]) == [0.3, 0.3]


def test_bounds_show_the_candidate_at_its_worst_and_best(small_study):
    a = {"t1": [1, None], "t2": [0, 1]}
    b = {"t1": [1, 1], "t2": [None, None]}
    frame = compare(two(small_study, a, b), "a", "b", missing="bounds")
    assert list(frame["case"]) == ["worst", "best"]
    counts = ["reference_successes", "reference_total", "candidate_successes", "candidate_total"]
    assert frame[counts].to_numpy().tolist() == [[3, 4, 2, 4], [2, 4, 4, 4]]
    assert list(frame["family_size"]) == [1, 1]


def test_the_applied_population_says_how_many_are_unknown(small_study):
    fault = {"perturbation": "fault"}
    rows = [{"arm": name, "success": 1} for name in "ab"]
    rows += arm("a", {"t1": [1, 0], "t2": [1, 1]}, **fault, perturbation_applied=True)
    rows += arm("b", {"t1": [1, 0], "t2": [1, 1]}, **fault)
    frame = compare(small_study(rows), "a", "b", population="applied").set_index("stratum")
    row = frame.loc["fault"]
    assert (row["reference_total"], row["candidate_total"]) == (4, 0)
    assert row["reason"] == (
        "the candidate has no counted trial here; "
        "4 trials left out: unknown whether the perturbation happened"
    )
    assert frame.loc["baseline", "candidate_total"] == 1


def test_an_arm_of_another_study(small_study):
    here = small_study(arm("a", A), study="here")
    there = small_study(arm("a", B), study="there", beside=here)
    row = only(compare(here, "a", "there:a"))
    assert (row["reference"], row["candidate"]) == ("a", "there:a")
    assert (row["reference_successes"], row["candidate_successes"]) == (4, 7)
    assert only(compare(there, "here:a", "a"))["difference"] == row["difference"]
    with pytest.raises(InputError, match="both"):
        compare(here, "a", "here:a")
    with pytest.raises(UnknownNameError, match=r"unknown study 'ther'.*'there'"):
        compare(here, "a", "ther:a")
    with pytest.raises(UnknownNameError, match="unknown arm 'b' in study there"):
        compare(here, "a", "there:b")


def test_monte_carlo_with_its_draws_and_seed(small_study):
    row = only(compare(two(small_study, A, B), "a", "b", monte_carlo=(500, 11)))
    expected = monte_carlo_permutation(flat(A), flat(B), 500, 11)
    assert row["p_monte_carlo"] == expected.p_value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "arm"}, "between arms"),
        ({"arm": "a"}, "no place here"),
        ({"adjust": "bonferroni"}, "accepted: holm, benjamini_hochberg, none"),
        ({"margin": 0}, "margin is 0"),
        ({"margin": 5}, "margin is 5"),
        ({"margin": float("nan")}, "margin is nan"),
        ({"confidence": 0.5}, "confidence is 0.5"),
        ({"confidence": float("nan")}, "confidence is nan"),
        ({"monte_carlo": (0, 11)}, "draws"),
    ],
)
def test_bad_parameters(small_study, options, message):
    with pytest.raises(InputError, match=message):
        compare(two(small_study, A, B), "a", "b", **options)


def test_unknown_names_and_empty_selections(small_study):
    tables = two(small_study, {"t1": [1]}, {"t2": [1]})
    with pytest.raises(UnknownNameError, match="unknown arm 'c'"):
        compare(tables, "a", "c")
    with pytest.raises(UnknownNameError, match="unknown measure"):
        compare(tables, "a", "b", "succes")
    assert only(compare(tables, "a", "b", task="t1"))["candidate_intended"] == 0
    third = small_study(arm("a", {"t1": [1]}) + arm("b", {"t1": [1]}) + arm("c", {"t2": [1]}))
    with pytest.raises(InputError, match="neither 'a' nor 'b' has a trial"):
        compare(third, "a", "b", task="t2")


def test_by_variant_and_order_of_rows(small_study):
    rng = np.random.default_rng(3)
    rows = [
        {"arm": a, "task": t, "variant": v, "repeat": r, "success": int(rng.random() < 0.5)}
        for a in "ab"
        for t in ("t1", "t2", "t3")
        for v in ("0", "1")
        for r in range(2)
    ]
    frames = []
    for _ in range(3):
        tables = small_study(rows, design={"arms": ["a", "b"]})
        frames.append(compare(tables, "a", "b", by="variant"))
        rng.shuffle(rows)
    assert list(frames[0]["variant"]) == ["0", "1"]
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other, check_exact=True)


def test_p_values_are_never_0(small_study):
    a = {f"t{i}": [0] * 100 for i in range(12)}
    b = {f"t{i}": [1] * 100 for i in range(12)}
    row = only(compare(two(small_study, a, b), "a", "b"))
    for column in ("p_exact", "p_stratified", "p_sign_flip", "p_adjusted"):
        assert 0 < row[column] < 1e-3


def test_all_pairs_make_one_family(small_study):
    rows = arm("a", A) + arm("b", B) + arm("c", A) + arm("d", B)
    tables = small_study(rows, design={"arms": ["d", "c", "b", "a"]})
    frame = pairwise(tables)
    pairs = list(zip(frame["reference"], frame["candidate"], strict=True))
    assert pairs == [("d", "c"), ("d", "b"), ("d", "a"), ("c", "b"), ("c", "a"), ("b", "a")]
    assert list(frame["family_size"]) == [6] * 6
    assert list(frame["p_adjusted"]) == list(holm(frame["p_stratified"].to_numpy()))
    single = only(compare(tables, "d", "c", by=()))
    for column in ("difference", "p_stratified", "verdict", "clustered_low"):
        assert frame[column].iloc[0] == single[column]
    assert len(pairwise(tables, arms=["a", "b", "c"], by="perturbation")) == 3


def test_pairwise_needs_two_arms_and_a_trial(small_study):
    tables = small_study(arm("a", {"t1": [1]}) + arm("b", {"t1": [1]}) + arm("c", {"t2": [1]}))
    for arms in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match="two or more different arms"):
            pairwise(tables, arms=arms)
    with pytest.raises(InputError, match="none of the arms"):
        pairwise(tables, arms=["a", "b"], task="t2")
    assert list(pairwise(tables, arms=["a", "c"], task="t2")["reference_total"]) == [0]
