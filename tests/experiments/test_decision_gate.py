"""The decision-gate study: its requests are what they claim, and it runs to the same rows."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from steelyard.harness.entry_points import resolve
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study
from steelyard.store.connect import connect

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "experiments" / "decision_gate"


def attribute(name: str):
    return resolve(name, STUDY, "test")


@pytest.fixture(scope="module")
def pairs():
    return attribute("decision_gate.cases:make_requests")()


def chance() -> random.Random:
    return random.Random(7)  # noqa: S311 - reproducible, not secret


def test_240_requests_in_pairs_half_of_them_at_a_limit(pairs) -> None:
    assert len(pairs) == 120
    assert len({request.case_id for pair in pairs for request in pair}) == 240
    for drawn, moved in pairs:
        assert (drawn.boundary, moved.boundary) == (False, True)
        changed = [name for name in drawn.facts if drawn.facts[name] != moved.facts[name]]
        assert len(changed) <= 1
        assert all(not isinstance(moved.facts[name], bool) for name in changed)
    reference = attribute("decision_gate.cases:reference")
    found = [reference(request) for pair in pairs for request in pair]
    assert set(found) == {"execute", "escalate", "gather", "refuse"}


def test_the_reference_refuses_before_it_escalates_before_it_gathers(pairs) -> None:
    reference = attribute("decision_gate.cases:reference")
    replace = attribute("dataclasses:replace")
    clean = next(one for one, _ in pairs if reference(one) == "execute")
    limit = next(one for one in clean.domain.limits if one.severity == "hard_veto")
    assert reference(replace(clean, hidden=(limit.fact,))) == "gather"
    assert reference(replace(clean, record_age=500.0)) == "gather"
    asked = replace(clean, asked=clean.asked + 1, hidden=(limit.fact,))
    assert reference(asked) == "escalate"
    broken = not limit.bound if limit.relation == "==" else limit.bound + 0.1
    worse = replace(asked, facts={**asked.facts, limit.fact: broken}, hidden=())
    assert reference(worse) == "refuse"


def test_one_limit_of_each_domain_is_written_nowhere(pairs) -> None:
    context_of = attribute("decision_gate.contexts:context_of")
    for request in {one.domain.name: one for one, _ in pairs}.values():
        (unwritten,) = [one for one in request.domain.limits if not one.severity]
        predicates = [rule["predicate"] for rule in context_of(request)["policy_rules"]]
        assert not any(unwritten.fact in predicate for predicate in predicates)
        assert len(predicates) == len(request.domain.limits)


@pytest.mark.parametrize("change", ["fact_order", "policy_order", "irrelevant_facts"])
def test_preserving_changes_keep_what_is_told(pairs, change) -> None:
    context_of = attribute("decision_gate.contexts:context_of")
    changes = attribute("decision_gate.changes:CHANGES")
    request = pairs[0][0]
    same, context = changes[change](request, chance())
    plain = context_of(request)
    assert same is request
    for name, fact in plain["structured_facts"].items():
        assert context["structured_facts"][name] == fact
    assert sorted(rule["id"] for rule in context["policy_rules"]) == sorted(
        rule["id"] for rule in plain["policy_rules"]
    )
    assert repr(context) != repr(plain)


def test_another_unit_is_named_and_is_the_same_quantity(pairs) -> None:
    context_of = attribute("decision_gate.contexts:context_of")
    change = attribute("decision_gate.changes:unit_changes")
    for drawn, _ in pairs[::17]:
        _, context = change(drawn, chance())
        plain = context_of(drawn)["structured_facts"]
        changed = [name for name in plain if context["structured_facts"][name] != plain[name]]
        (name,) = changed
        told, fact = context["structured_facts"][name], drawn.domain.facts[name]
        assert told["unit"] == fact.other_unit
        assert told["value"] / fact.factor == pytest.approx(plain[name]["value"])


def test_a_part_of_the_study_runs_to_the_committed_rows(tmp_path, tables) -> None:
    folder = tmp_path / "experiments" / "decision_gate"
    shutil.copytree(STUDY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "study.toml").read_text(encoding="utf-8")
    part = ["refunds-03", "deletion-20", "infrastructure-11"]
    chosen = f"[run]\ntasks = {part}\n".replace("'", '"')
    (folder / "study.toml").write_text(text.replace("[run]\n", chosen, 1), encoding="utf-8")
    run_study(load_study(folder), tmp_path / "run.duckdb")
    connection = connect(tmp_path / "run.duckdb")
    committed = tables("decision_gate").connection
    for table, columns in (
        ("steps", "trial_id, step_index, kind, name, arguments::TEXT, output::TEXT"),
        ("measures", "trial_id, measure, value"),
        ("trials", "trial_id, status, perturbation_applied, seed"),
    ):
        query = f"SELECT {columns} FROM {table} WHERE study = 'decision_gate'"
        found = connection.execute(f"{query} ORDER BY ALL").fetchall()
        wanted = committed.execute(
            f"{query} AND list_contains(?, split_part(trial_id, '/', 2)) ORDER BY ALL", [part]
        ).fetchall()
        assert found == wanted, table
        assert found
    connection.close()


def test_the_random_arm_has_about_the_gates_rate(tables) -> None:
    query = """
        SELECT arm, avg(value) FROM trials JOIN measures USING (study, trial_id)
        WHERE study = 'decision_gate' AND measure = 'executed' AND perturbation = 'baseline'
        GROUP BY arm
    """
    rates = dict(tables("decision_gate").connection.execute(query).fetchall())
    assert f"rate = {rates['gate']:.4f}" in (STUDY / "study.toml").read_text(encoding="utf-8")
