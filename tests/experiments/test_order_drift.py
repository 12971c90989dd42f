"""The order-drift study: its planted faults are what they claim, and it runs to the same rows."""

from __future__ import annotations

import random
import shutil
from itertools import permutations
from pathlib import Path

import pytest

from steelyard.evaluators.contract import evaluate
from steelyard.harness.entry_points import resolve
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study
from steelyard.store.connect import connect

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "experiments" / "order_drift"


def attribute(name: str) -> object:
    return resolve(name, STUDY, "test")


@pytest.fixture(scope="module")
def cases():
    return attribute("order_drift.policies:make_cases")()


@pytest.fixture(scope="module")
def makers():
    return attribute("order_drift.evaluators:MAKERS")


def results(evaluator, case, order):
    by_id = {rule["rule_id"]: rule for rule in case.policy["rules"]}
    policy = {**case.policy, "rules": [by_id[rule_id] for rule_id in order]}
    rows = evaluator(policy, case.response)["rule_results"]
    return {row["rule_id"]: row["passed"] for row in rows}


def chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - reproducible, not secret


def orders(case):
    return list(permutations(rule["rule_id"] for rule in case.policy["rules"]))


def test_forty_policies_of_two_to_twelve_rules(cases) -> None:
    assert len(cases) == 40
    assert {len(case.policy["rules"]) for case in cases} == set(range(2, 13))
    for case in cases:
        rows = evaluate(case.policy, case.response)["rule_results"]
        broken = [row["rule_id"] for row in rows if not row["passed"]]
        assert tuple(broken) == case.broken
        assert 0 < len(broken) < len(rows)


def test_only_one_pair_of_rules_has_hidden_priority(cases, makers) -> None:
    case = next(one for one in cases if len(one.policy["rules"]) == 4)
    planted_pair = attribute("order_drift.evaluators:planted_pair")
    true = results(evaluate, case, orders(case)[0])
    rows = evaluate(case.policy, case.response)["rule_results"]
    first, second = planted_pair({row["rule_id"]: row for row in rows})
    for order in orders(case):
        found = results(makers["hidden_priority"](chance(0)), case, order)
        dragged = order.index(first) < order.index(second)
        assert found == {**true, second: False} if dragged else found == true


def test_deep_priority_acts_in_one_order_of_twenty_four(cases, makers) -> None:
    case = next(one for one in cases if len(one.policy["rules"]) == 5)
    true = results(evaluate, case, orders(case)[0])
    changed = [
        order
        for order in orders(case)
        if results(makers["deep_priority"](chance(0)), case, order) != true
    ]
    assert len(changed) == 120 // 24
    assert orders(case)[0] not in changed
    assert tuple(reversed(orders(case)[0])) not in changed


def test_short_circuit_reports_nothing_after_the_first_broken_rule(cases, makers) -> None:
    case = cases[10]
    for order in orders(case):
        found = results(makers["short_circuit"](chance(0)), case, order)
        last = list(found)[-1]
        assert list(found) == list(order[: len(found)])
        assert not found[last]
        assert all(found[rule_id] for rule_id in list(found)[:-1])


def test_the_others_depend_on_calls_and_not_on_the_rules(cases, makers) -> None:
    case = cases[0]
    declared = orders(case)[0]
    true = results(evaluate, case, declared)
    counter = makers["stateful"](chance(0))
    assert [results(counter, case, declared) == true for _ in range(8)] == [
        *([True] * 3),
        False,
        *([True] * 3),
        False,
    ]
    flaky = makers["nondeterministic"](chance(5))
    wrong = sum(results(flaky, case, declared) != true for _ in range(2_000))
    assert 20 < wrong < 65
    cached = makers["cached"](chance(0))
    assert results(cached, case, declared) == true
    assert results(cached, case, tuple(reversed(declared))) != true


def test_a_part_of_the_study_runs_to_the_committed_rows(tmp_path, tables) -> None:
    folder = tmp_path / "experiments" / "order_drift"
    shutil.copytree(STUDY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "study.toml").read_text(encoding="utf-8")
    part = ["policy-02", "policy-09", "policy-40"]
    text = text.replace("[run]\n", f"[run]\ntasks = {part}\n".replace("'", '"'), 1)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    run_study(load_study(folder), tmp_path / "run.duckdb")
    connection = connect(tmp_path / "run.duckdb")
    committed = tables("order_drift").connection
    for table, columns in (
        ("steps", "trial_id, step_index, kind, name, arguments::TEXT, output::TEXT"),
        ("measures", "trial_id, measure, value"),
    ):
        query = f"SELECT {columns} FROM {table} WHERE study = 'order_drift'"
        found = connection.execute(f"{query} ORDER BY ALL").fetchall()
        wanted = committed.execute(
            f"{query} AND list_contains(?, split_part(trial_id, '/', 2)) ORDER BY ALL", [part]
        ).fetchall()
        assert found == wanted, table
        assert found
    connection.close()
