"""Order drift: what planted faults look like, and what the bound and the pairs say."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_policies import flip, numbered, passing, policy, rule, when
from steelyard.analysis.order_drift import (
    drift_in_sample,
    drift_over_all_orders,
    planned_sample,
)
from steelyard.errors import InputError
from steelyard.evaluators.contract import OrderCheckTooLargeError, check_order, evaluate
from vectors.declared_evaluators import DeclaredEvaluator

PRECEDES = {"precedes": ["r2", "r0"]}
FIRST = {"first": "r2"}


def exhaustive(count, evaluator=None, **options):
    return drift_over_all_orders(numbered(count), passing(count), evaluator, **options)


def sampled(count, evaluator=None, **options):
    return drift_in_sample(numbered(count), passing(count), evaluator, **options)


class TestPlannedSample:
    @given(st.floats(1e-5, 0.9), st.floats(0.6, 0.999))
    def test_it_is_the_smallest_that_has_the_bound(self, bound, confidence):
        size = planned_sample(bound, confidence)
        assert 1 - (1 - confidence) ** (1 / size) <= bound * (1 + 1e-9)
        assert size == 1 or 1 - (1 - confidence) ** (1 / (size - 1)) > bound * (1 - 1e-9)

    @pytest.mark.parametrize("bound", [0, 1, -0.1, math.nan, "0.05", True])
    def test_other_bounds_are_refused(self, bound):
        with pytest.raises(InputError):
            planned_sample(bound)

    @pytest.mark.parametrize("bound", [3e-16, 1e-300, 5e-324])
    def test_bounds_that_no_sample_shows_are_refused(self, bound):
        with pytest.raises(InputError, match=r"accepted are 3\.3e-16 and above"):
            planned_sample(bound)
        assert planned_sample(3.4e-16) > 8 * 10**15


class TestExhaustive:
    @pytest.mark.parametrize("condition", [PRECEDES, FIRST, {"last": "r1"}])
    def test_status_and_witnesses_are_those_of_the_plain_check(self, condition):
        evaluator = when(condition, flip("r1"))
        report = check_order(numbered(4), passing(4), evaluator)
        found = exhaustive(4, evaluator)
        assert (found.status, found.variance) == (report["status"], report["variance"])
        assert found.witnesses == report["witnesses"]
        assert found.cause == "order"
        assert found.to_report()["conforms_within_coverage"] is False

    def test_the_built_in_evaluator_is_clean(self):
        found = exhaustive(5)
        assert (found.status, found.cause) == ("PRESENTATION_ONLY_DRIFT", "none")
        assert found.drift_share == found.drift_low == found.drift_high == 0.0
        assert found.evaluator_calls == 3 * 120 + 1
        assert found.to_report()["conforms_within_coverage"] is True
        assert found.to_report()["pairs"] == []

    def test_one_pair_that_decides_is_the_only_one_with_swaps_that_matter(self):
        pairs = exhaustive(4, when(PRECEDES, flip("r1"))).pairs()
        first = pairs.iloc[0]
        assert (first.rule_a, first.rule_b) == ("r0", "r2")
        assert (first.swaps, first.swaps_changing) == (6, 6)
        assert bool(first.determines)
        assert (first.drift_if_a_first, first.drift_if_b_first) == (0.0, 1.0)
        assert (pairs.swaps_changing[1:] == 0).all()
        assert not pairs.determines[1:].any()
        # r1 overlaps with both, so that its pairs differ in drift without an effect of their own.
        assert (pairs.difference[1:].abs() > 0).any()

    def test_a_rule_that_matters_in_front_does_so_with_every_other_rule(self):
        found = exhaustive(4, when(FIRST, flip("r1")))
        pairs = found.pairs()
        involved = (pairs.rule_a == "r2") | (pairs.rule_b == "r2")
        assert set(pairs.swap_share[involved]) == {1 / 3}  # in front only, one of three places
        assert set(pairs.swap_share[~involved]) == {0.0}
        assert found.drift_share == 1 / 4

    @given(st.sets(st.permutations(["r0", "r1", "r2"]).map(tuple)))
    def test_pairs_are_counted_as_by_hand(self, flipped):
        evaluator = when({"order_in": [list(order) for order in flipped]}, flip("r1"))
        found = exhaustive(3, evaluator, repeats=2)
        outcome = {o: o in flipped for o in itertools.permutations(["r0", "r1", "r2"])}
        declared = outcome["r0", "r1", "r2"]
        assert found.orders_drifting == sum(value != declared for value in outcome.values())
        for row in found.pairs().itertuples():
            changing = swaps = 0
            for order, place in itertools.product(outcome, (0, 1)):
                if order[place : place + 2] == (row.rule_a, row.rule_b):
                    other = (order[1], order[0], order[2])
                    if place:
                        other = (order[0], order[2], order[1])
                    swaps += 1
                    changing += outcome[order] != outcome[other]
            assert (row.swaps, row.swaps_changing) == (swaps, changing)
            ahead = {o: o.index(row.rule_a) < o.index(row.rule_b) for o in outcome}
            groups = [{outcome[o] for o in outcome if ahead[o] is side} for side in (True, False)]
            assert row.determines == (groups in ([{True}, {False}], [{False}, {True}]))

    def test_more_than_seven_rules_are_refused(self):
        with pytest.raises(OrderCheckTooLargeError, match="draw a sample"):
            exhaustive(8)


class TestSampled:
    def test_no_drift_gives_the_exact_bound(self):
        found = sampled(12)
        assert (found.status, found.cause) == ("NO_DRIFT_IN_SAMPLE", "none")
        assert (found.orders_drawn, found.orders_drifting) == (59, 0)
        assert found.drift_high == pytest.approx(1 - 0.05 ** (1 / 59), rel=1e-12)
        assert found.drift_high <= 0.05
        assert found.orders_total == math.factorial(12)
        assert found.to_report()["conforms_within_coverage"] is None
        assert found.to_report()["coverage"]["mode"] == "sampled"

    def test_a_sample_that_holds_all_orders_says_so(self):
        found = sampled(3)
        report = found.to_report()
        assert (found.mode, found.orders_seen, found.none_can_drift) == ("sampled", 6, True)
        assert report["coverage"]["all_orders_seen"] is True
        assert report["drift"]["high"] == report["drift"]["share"] == 0
        assert (report["drift"]["method"], report["drift"]["confidence"]) == ("all orders", None)
        assert sampled(12).to_report()["coverage"]["all_orders_seen"] is False

    @pytest.mark.parametrize("repeats", [2, 3])
    def test_all_orders_seen_with_drift_still_give_the_bound_of_the_draws(self, repeats):
        # The reversed order alone drifts; every order is seen, so that 0 would be wrong.
        evaluator = when({"order_in": [["r2", "r1", "r0"]]}, flip("r1"))
        found = sampled(3, evaluator, repeats=repeats)
        assert found.all_orders_seen
        assert not found.none_can_drift
        drift = found.to_report()["drift"]
        assert drift["high"] == found.drift_high > 1 / 6
        assert drift["confidence"] == 0.95

    def test_designed_orders_do_not_enter_the_sample(self):
        # Only the reversed order drifts: it is looked at, and one of 12! orders.
        found = sampled(
            12, when({"order_in": [[f"r{i}" for i in reversed(range(12))]]}, flip("r1"))
        )
        assert (found.status, found.orders_drifting) == ("DRIFT_FOUND", 0)
        assert found.drift_high == pytest.approx(1 - 0.05 ** (1 / 59), rel=1e-12)

    def test_the_bound_is_the_one_sided_clopper_pearson_limit(self):
        found = sampled(9, when(PRECEDES, flip("r1")), sample=40)
        k, n = found.orders_drifting, found.orders_drawn
        assert 8 < k < 32
        tail = sum(
            math.comb(n, i) * found.drift_high**i * (1 - found.drift_high) ** (n - i)
            for i in range(k + 1)
        )
        assert tail == pytest.approx(0.05, rel=1e-9)

    @pytest.mark.parametrize("condition", [PRECEDES, {"first": "r5"}, {"last": "r3"}])
    def test_a_swap_of_neighbours_that_changes_the_result_is_found(self, condition):
        evaluator = when(condition, flip("r1"))
        found = sampled(9, evaluator, sample=60)
        witness = found.witnesses[0]
        assert (witness["comparison"], witness["dimension"]) == ("adjacent_swap", "outcome")
        left, right = witness["left_order"], witness["right_order"]
        assert sum(a != b for a, b in zip(left, right, strict=True)) == 2
        documents = {rule["rule_id"]: rule for rule in numbered(9)["rules"]}
        verdicts = [
            evaluator({**numbered(9), "rules": [documents[i] for i in order]}, passing(9))["passed"]
            for order in (left, right)
        ]
        assert verdicts[0] is not verdicts[1]

    def test_random_swaps_attribute_the_drift(self):
        found = sampled(9, when(PRECEDES, flip("r1")), sample=40, swaps_per_pair=4)
        pairs = found.pairs()
        assert (pairs.swaps == 4).all()
        assert list(pairs.loc[0, ["rule_a", "rule_b", "swaps_changing"]]) == ["r0", "r2", 4]
        assert (pairs.swaps_changing[1:] == 0).all()
        assert (pairs.swap_low <= pairs.swap_share).all()
        assert (pairs.swap_share <= pairs.swap_high).all()
        assert pairs.difference_high[0] < 0
        shown = found.to_report()["pairs"]
        assert shown[0]["determines"] is True

    def test_a_larger_sample_begins_with_the_smaller_one(self):
        small, large = (sampled(8, sample=size).log.design for size in (10, 30))
        first = [[design.orders[i] for i in design.draws][:10] for design in (small, large)]
        assert first[0] == first[1]
        assert first[0] != [sampled(8, sample=10, seed=1).log.design.orders[i] for i in range(10)]

    def test_rules_that_are_never_reported_are_no_drift(self):
        found = sampled(8, when({"not": {"first": "none"}}, {"drop": "r3"}), sample=20)
        assert (found.status, found.orders_drifting) == ("INCOMPLETE_RULE_COVERAGE", 0)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"sample": 10, "bound": 0.1}, "not both"),
            ({"sample": 0}, "at least 1"),
            ({"sample": 2.5}, "integer"),
            ({"bound": 1.0}, "between 0 and 1"),
            ({"confidence": 0.5}, "more than 0.5"),
            ({"repeats": 1}, "2 calls per order"),
            ({"seed": -1}, "seed"),
            ({"swaps_per_pair": -1}, "swaps_per_pair"),
        ],
    )
    def test_bad_options_are_refused(self, options, says):
        with pytest.raises(InputError, match=says):
            sampled(8, **options)

    @pytest.mark.parametrize("options", [{"sample": 10**9}, {"swaps_per_pair": 10**6}])
    def test_a_sample_beyond_the_budget_is_refused_before_it_is_drawn(self, options):
        with pytest.raises(OrderCheckTooLargeError, match="work budget"):
            sampled(8, **options)


class TestCause:
    def test_a_counter_is_no_effect_of_the_order(self):
        def fresh():
            return when({"call_modulo": {"modulus": 2, "remainder": 0}}, flip("r1"))

        for found in (exhaustive(4, fresh()), sampled(8, fresh()), exhaustive(4, fresh=fresh)):
            assert (found.status, found.cause) == ("INCONCLUSIVE_NONDETERMINISTIC", "call_state")
            assert found.variance is None
        assert found.replay_equal is True

    def test_one_odd_call_is_told_from_chance_by_a_replay_only(self):
        def fresh():
            return when({"not": {"call_at_least": 2}}, flip("r1"))

        assert exhaustive(4, fresh()).cause == "unstable"
        assert exhaustive(4, fresh=fresh).cause == "call_state"

    def test_chance(self):
        coin = np.random.default_rng(5)

        def flaky(document, response):
            result = evaluate(document, response)
            if coin.random() < 0.1:
                row = next(r for r in result["rule_results"] if r["rule_id"] == "r1")
                row["reason_code"] = "FLAKED"
            return result

        found = exhaustive(4, fresh=lambda: flaky)
        assert (found.cause, found.replay_equal) == ("chance", False)
        assert 0 < found.unstable_orders <= found.orders_drifting

    def test_order_and_state_together(self):
        def fresh():
            counter = when({"call_modulo": {"modulus": 4, "remainder": 0}}, flip("r0"))
            counter.steps.append({"when": PRECEDES, "do": [flip("r1")]})
            return counter

        assert exhaustive(4, fresh=fresh).cause == "order_and_call_state"

    def test_rows_that_change_places_from_call_to_call(self):
        found = exhaustive(
            3, when({"call_modulo": {"modulus": 2, "remainder": 0}}, {"reverse_rows": True})
        )
        assert (found.status, found.cause) == ("INCONCLUSIVE_NONDETERMINISTIC", "call_state")

    def test_an_unstable_order_counts_as_drifting(self):
        found = exhaustive(3, when({"call_at_least": 10}, flip("r1")))
        assert found.orders_drifting >= found.unstable_orders > 0
        assert found.drift_low < found.drift_high


def test_neither_replay_nor_search_spends_more_than_the_budget():
    response = {**passing(8), "filling": "x" * 250_000}  # 100 MB are 400 calls of 250 kB

    def fresh():
        return when({"call_at_least": 100}, flip("r1"))

    def checked(evaluator=None, **options):
        return drift_in_sample(numbered(8), response, evaluator, **options)

    found = checked(fresh=fresh, sample=70)
    assert (found.status, found.replay_equal) == ("INCONCLUSIVE_NONDETERMINISTIC", None)
    for sample, searched in ((80, True), (122, False)):
        found = checked(when({"first": "r5"}, flip("r1")), sample=sample)
        assert found.status == "DRIFT_FOUND"
        assert ("bisection" in found.log.design.sources) is searched
        assert found.work_bytes <= 100_000_000


def test_a_replay_whose_result_is_too_large_leaves_what_was_found():
    rules = policy(*(rule(name, "false", 499_900 * name) for name in ("a", "b")))
    some = [{"do": [{"keep_only": ["a"]}]}]
    some.append({"when": {"call_modulo": {"modulus": 2, "remainder": 0}}, "do": [{"drop": "a"}]})
    steps = iter([some, []])  # the second one reports both rules, in more than a result may have

    found = drift_over_all_orders(
        rules, {}, fresh=lambda: DeclaredEvaluator({"steps": next(steps)})
    )
    assert (found.status, found.replay_equal) == ("INCONCLUSIVE_NONDETERMINISTIC", None)


def test_an_evaluator_that_fails_gives_a_status():
    calls = itertools.count(1)

    def evaluator(document, response):
        return evaluate(document, response) if next(calls) < 7 else None

    for found in (exhaustive(3, evaluator), sampled(8, evaluator)):
        assert (found.status, found.cause) == ("INCONCLUSIVE_EVALUATOR_FAILURE", "unknown")
        assert found.failure["kind"] == "contract"
        report = found.to_report()
        assert report["drift"]["high"] is report["variance"] is None
        assert report["pairs"] == []
        assert found.pairs().empty
    assert len(found.runs()) == 0


@pytest.mark.parametrize(
    ("action", "status", "cause"),
    [
        (flip("r3"), "INCONCLUSIVE_NONDETERMINISTIC", "order_and_unstable"),
        ({"return": {"value": None}}, "INCONCLUSIVE_EVALUATOR_FAILURE", "unknown"),
    ],
)
def test_an_evaluator_may_change_while_the_swap_is_searched(action, status, cause):
    steps = [{"when": PRECEDES, "do": [flip("r1")]}]
    runs = sampled(9, DeclaredEvaluator({"steps": steps})).runs()
    scheduled = int((runs.source != "bisection").sum())
    assert scheduled < len(runs)
    steps.append({"when": {"call_at_least": scheduled + 2}, "do": [action]})
    found = sampled(9, DeclaredEvaluator({"steps": steps}))
    assert (found.status, found.cause) == (status, cause)


def test_the_report_is_json_and_the_same_every_time():
    reports = [
        json.dumps(
            sampled(8, when(PRECEDES, flip("r1")), swaps_per_pair=1).to_report(),
            allow_nan=False,
            sort_keys=True,
        )
        for _ in range(2)
    ]
    assert reports[0] == reports[1]


def test_every_call_is_a_row():
    found = sampled(8, when(FIRST, flip("r1")), sample=20)
    runs, rules = found.runs(), found.rule_runs()
    assert list(runs.call) == list(range(1, found.evaluator_calls + 1))
    assert len(rules) == 8 * len(runs)
    assert runs.groupby("order").repeat.max().min() == 3
    declared = runs[runs.order_index == 0]
    assert list(declared.repeat) == [1, 2, 3, 4]  # once more, after all scheduled calls
    assert set(runs.meaning) == {0, 1}
    assert (runs.passed == rules.groupby("call").passed.all().to_numpy()).all()
    first = runs.order.str.split().str[0]
    assert ((first == "r2") == ~runs.passed).all()
