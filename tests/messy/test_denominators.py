"""Public bug reports about denominators, repeats and families, as tests.

Each test names the report it comes from; what went wrong stands in its docstring.
"""

from __future__ import annotations

import functools
import math
from itertools import combinations

import numpy as np
import pytest

from steelyard.analysis import certify, compare, pairwise, rates, reliability, repeat_agreement
from steelyard.errors import InputError, StoreError
from steelyard.stats import holm, stratified_permutation
from steelyard.store.rows import add_rows

NAN = float("nan")


def trials(task, values, arm="a", **more):
    return [{"arm": arm, "task": task, "success": value, **more} for value in values]


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


def test_errored_samples_do_not_vanish(small_study):
    """UKGovernmentBEIS/inspect_ai#4286: errored samples left the accuracy, status success."""
    rows = trials("t1", [1] * 6 + [0]) + trials("t2", [None] * 3, status="failed")
    row = only(rates(small_study(rows), by="arm"))
    assert (row["successes"], row["scored"], row["intended"], row["failed"]) == (6, 7, 10, 3)
    assert row["estimate"] == 6 / 7
    as_failures = only(rates(small_study(rows), by="arm", missing="fail"))
    assert as_failures["estimate"] == 6 / 10
    assert (as_failures["scored"], as_failures["imputed"]) == (7, 3)


def test_one_survivor_of_forty_is_not_a_certificate(small_study):
    """sierra-research/tau2-bench#493: pass^1 = 100 % from one surviving simulation."""
    rows = trials("t1", [1]) + trials("t2", [None] * 39, status="failed")
    tables = small_study(rows)
    row = only(rates(tables))
    assert (row["scored"], row["intended"], row["estimate"]) == (1, 40, 1.0)
    assert row["low"] < 0.21
    assert (row["clustered_low"], row["clustered_reason"]) == (0.0, "1 cluster")
    curve = only(reliability(tables))
    assert (curve["tasks_used"], curve["tasks_total"]) == (1, 2)
    assert curve["reason"].startswith("1 of 2 tasks")
    assert certify(tables, "a", missing="bounds").bound < 0.01
    bounds = rates(tables, missing="bounds")
    assert list(bounds["estimate"]) == [1 / 40, 1.0]


def test_pass_hat_4_over_the_tasks_that_have_four_trials(small_study):
    """sierra-research/tau2-bench#497, #543: pass^4 printed with 81 of 388 trials missing."""
    rows = trials("A", [1] * 4) + trials("B", [1] * 3)
    rows += trials("B", [None], status="missing")
    last = reliability(small_study(rows)).iloc[-1]
    assert (last["k"], last["pass_hat_k"]) == (4, 1.0)
    assert (last["tasks_used"], last["tasks_total"]) == (1, 2)
    assert last["reason"].startswith("1 of 2 tasks have 4 counted trials")


def test_half_rewards_do_not_add_up_to_a_success(small_study):
    """allenai/olmo-eval#338: int(sum(rewards)) counted 0.5 + 0.5 as one success."""
    tables = small_study([{"task": "t", "reward": r} for r in (0.5, 0.5, 1.0, 0.0)])
    with pytest.raises(InputError, match=r"is 0\.5; a rate needs 0 or 1"):
        rates(tables)
    row = only(rates(tables, threshold=1.0))
    assert (row["successes"], row["total"], row["measure"]) == (1, 4, "reward >= 1")


def test_the_same_trial_twice_is_refused(small_study):
    """allenai/olmo-eval#338: duplicates gave rates over 1."""
    tables = small_study(trials("t", [1]))
    again = {"study": "small", "trial_id": "a/t/baseline/0/0", "measure": "success", "value": 1}
    with pytest.raises(StoreError, match="already holds"):
        add_rows(tables.connection, "measures", [again])


def test_a_task_with_only_nan_is_listed_as_unscored(small_study):
    """UKGovernmentBEIS/inspect_ai#2345, #4357: an all-NaN sample crashed the metrics."""
    tables = small_study(trials("t1", [NAN, NAN]) + trials("t2", [1, 0]))
    frame = rates(tables, by="task").set_index("task")
    assert list(frame.loc["t1", ["scored", "unmeasured", "total"]]) == [0, 2, 0]
    assert math.isnan(frame.loc["t1", "estimate"])
    whole = only(rates(tables))
    assert (whole["total"], whole["n_clusters"], whole["unmeasured"]) == (2, 1, 2)


def test_every_repeat_is_scored(small_study):
    """EleutherAI/lm-evaluation-harness#3080, #1232: repeats generated, only the first scored."""
    tables = small_study(trials("t", [0, 1, 1, 1]))
    assert only(rates(tables))["estimate"] == 0.75
    assert reliability(tables)["pass_hat_k"].iloc[1] == 0.5


def test_one_recording_for_five_repeats_shows(small_study):
    """promptfoo/promptfoo#360: the cache returned one output for all repeats."""
    steps = [{"name": "search", "arguments": '{"q": "x"}'}, {"name": "answer"}]
    tables = small_study([{"task": "t", "success": 1, "steps": steps} for _ in range(5)])
    row = only(repeat_agreement(tables))
    assert (row["trials"], row["identical"], row["distinct_results"]) == (5, 1, 1)


def test_a_retried_attempt_is_not_another_trial(small_study):
    """Toloka/tolokaforge#749, inspect_ai#1712: a retry counted as a sample, and re-rolled."""
    tables = small_study(trials("t1", [1], attempts=2) + trials("t2", [1], attempts=1))
    final, first = (only(rates(tables, attempt=a)) for a in ("final", "first"))
    assert (final["total"], final["successes"]) == (2, 2)
    assert (first["total"], first["successes"]) == (2, 1)


def test_a_skipped_test_is_not_a_failed_one(tables):
    """Significant-Gravitas/Auto-GPT-Benchmarks: skipped tests written as success = false."""
    study = tables("autogpt_benchmarks")
    attempted, everything = (
        only(rates(study, by="arm", arm="Auto-GPT", missing=policy))
        for policy in ("exclude", "fail")
    )
    assert (attempted["successes"], attempted["total"]) == (390, 767)
    assert (everything["successes"], everything["total"]) == (390, 2262)
    assert (everything["scored"], everything["imputed"]) == (767, 1495)


def test_a_global_rate_hides_the_task_that_always_fails(small_study):
    """confident-ai/deepeval#3110, promptfoo#5847: nine tasks 10/10, one 0/10, gate passed."""
    rows = [row for i in range(9) for row in trials(f"t{i}", [1] * 10)] + trials("t9", [0] * 10)
    tables = small_study(rows)
    assert only(rates(tables))["estimate"] == 0.9
    by_task = rates(tables, by="task")
    assert list(by_task.loc[by_task["estimate"] < 0.8, "task"]) == ["t9"]


def test_paired_arms_are_not_compared_as_strangers(small_study):
    """EleutherAI/lm-evaluation-harness#3831, #3868: unpaired z on paired data."""
    rows = [{"arm": "a", "task": f"t{i}", "success": int(i >= 6)} for i in range(100)]
    rows += [{"arm": "b", "task": f"t{i}", "success": int(i != 50)} for i in range(100)]
    row = only(compare(small_study(rows), "a", "b"))
    assert row["pairing"] == "by task"
    # One task went one way and six the other: the sign flip is the exact McNemar test.
    assert row["p_sign_flip"] == row["p_stratified"] == 0.125


def test_28_pairs_of_equal_arms_rarely_give_a_rejection(small_study):
    """UKGovernmentBEIS/inspect_ai#4206: 12 tasks scanned for wins without correction."""
    rng = np.random.default_rng(20240817)
    tables = small_study(
        [
            {"arm": f"arm{a}", "task": f"t{t}", "success": int(rng.random() < 0.5)}
            for a in range(8)
            for t in range(12)
        ]
    )
    frame = pairwise(tables)
    assert len(frame) == 28
    assert set(frame["family_size"]) == {28}
    assert frame["p_adjusted"].min() > 0.05


def test_holm_over_28_pairs_keeps_the_family_wise_error(small_study):
    """The same, 500 times, on the statistics alone: at most 6.5 % of runs reject anything."""
    rng = np.random.default_rng(1)
    rejections = 0
    for _ in range(500):
        successes = rng.binomial(3, 0.5, size=(8, 4))
        p_values = [_p(successes[i], successes[j]) for i, j in combinations(range(8), 2)]
        rejections += bool(holm(p_values).min() <= 0.05)
    assert rejections <= 0.065 * 500


def _p(a, b):
    return _stratified(tuple(sorted(zip(a.tolist(), b.tolist(), strict=True))))


@functools.cache
def _stratified(tasks):
    return stratified_permutation([((x, 3), (y, 3)) for x, y in tasks]).p_value
