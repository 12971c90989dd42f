"""Adapters of trials, rules and trajectory analyses to Plumbline's vectors.

The vectors record Plumbline 0.3.0, so its definitions are asked for throughout
(``compatibility="plumbline"``). The two invoice domains stand in ``experiments/domains``.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from steelyard.analysis.certificate import grade
from steelyard.analysis.conformance import Conformance, conformance_of_trials
from steelyard.analysis.consistency import consistency_of_trials
from steelyard.analysis.control_sampling import (
    assess_control,
    one_test_suffices,
    required_sample_size,
    upper_deviation_limit,
)
from steelyard.analysis.equivalence import equivalence_of_trials
from steelyard.analysis.published_certificate import published_certificate, published_comparison
from steelyard.evaluators.invariants import (
    PLUMBLINE,
    Case,
    Policy,
    Violation,
    rules_from_data,
)
from steelyard.stats import sample_size_for_bound
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.arguments import compare_arguments
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial
from steelyard.trials.paths import path_hash, path_text
from steelyard.trials.published_arguments import canonical
from vectors.compare import decode

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def load_domain(name: str) -> ModuleType:
    """Load ``experiments/domains/<name>.py``, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, EXPERIMENTS / "domains" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


procure_to_pay, accounts_payable = load_domain("procure_to_pay"), load_domain("accounts_payable")
DOMAINS = {"ap": procure_to_pay, "ap-full": accounts_payable}
RULES = {
    "MustCall": "must_call",
    "MustNotCall": "must_not_call",
    "Ordering": "ordering",
    "CallAtMost": "call_at_most",
    "ArgEquals": "argument_equals",
    "ArgSatisfies": "argument_satisfies",
}
FIELDS = {"class": "rule", "arg": "argument"}
CONDITIONS = {"ctx_true": "is_true", "ctx_false": "is_false"}
TOLERANCES = {"abs_tol": "absolute_tolerance", "rel_tol": "relative_tolerance"}
PREDICATES = {
    "ap.approval_route": procure_to_pay.approval_route,
    "ap_full.approval_authority": accounts_payable.approval_authority,
    "amount_at_most_limit": lambda arguments, context: arguments["amount"] <= context["limit"],
    "has_key_ref": lambda arguments, _: "ref" in arguments,
}
NO_STEP = -1


# --- what the vectors hold, as our objects ---------------------------------------------------


def a_step(row: Mapping[str, Any]) -> Step:
    arguments = decode(row.get("args", {}))
    return Step(row["kind"], row["name"], arguments, row.get("output"), row.get("error"))


def a_trial(row: Mapping[str, Any], number: int, states: Mapping[str, Any]) -> Trial:
    name = row.get("trial_id", str(number))
    key = TrialKey(
        row.get("arm", "default"),
        row.get("task_id") or "(none)",
        row.get("perturbation", "baseline"),
        row.get("variant_id", "baseline/0"),
        number,
    )
    error = row.get("error")
    return Trial(
        key=key,
        status="completed" if error is None else "failed",
        steps=tuple(a_step(step) for step in row.get("steps", ())),
        state=states.get(name),
        error=error,
        source_id=name,
    )


def trials(case: Mapping[str, Any]) -> list[Trial]:
    states = case.get("ledger_states") or {}
    return [a_trial(row, number, states) for number, row in enumerate(case["trajectories"])]


def a_field(row: Mapping[str, Any]) -> FieldPolicy:
    return FieldPolicy(**{TOLERANCES.get(key, key): value for key, value in row.items()})


def a_schema(row: Mapping[str, Any] | None) -> ArgumentSchema | None:
    if row is None:
        return None
    fields = {name: a_field(policy) for name, policy in row.get("fields", {}).items()}
    return ArgumentSchema(fields, a_field(row["default"]) if row.get("default") else None)


def schemas(value: Any) -> Mapping[str, ArgumentSchema]:
    if isinstance(value, str):
        return DOMAINS[value].ARGUMENT_SCHEMAS
    return {tool: a_schema(row) for tool, row in (value or {}).items()}


def a_rule(row: Mapping[str, Any]):
    data = {FIELDS.get(key, key): value for key, value in row.items()}
    data["rule"] = RULES[data["rule"]]
    if data.get("when"):
        data["when"] = {CONDITIONS[key]: value for key, value in data["when"].items()}
    return rules_from_data([data], PREDICATES)[0]


def a_policy(value: Any) -> Policy:
    rules = DOMAINS[value].RULES if isinstance(value, str) else [a_rule(row) for row in value]
    return Policy(rules, compatibility="plumbline")


def contexts(value: Any) -> Mapping[str, Any]:
    return DOMAINS[value].CONTEXTS if isinstance(value, str) else value


# --- our results, as the vectors write them -----------------------------------------------------


def share(row: Any) -> dict[str, Any]:
    return {
        "successes": row.successes,
        "total": row.total,
        "value": round(row.estimate, 6),
        "ci_low": round(row.low, 6),
        "ci_high": round(row.high, 6),
    }


def shares(table: Any) -> dict[str, Any]:
    return {row[1]: share(row) for row in table.itertuples()}


def worst(name: str | None, table: Any) -> list[Any] | None:
    return None if name is None else [name, shares(table)[name]]


def violation(found: Violation | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "invariant_id": found.rule,
        "severity": found.severity,
        "step_index": NO_STEP if found.control_index is None else found.control_index,
        "step_name": found.step_name,
    }


def violation_groups(result: Conformance) -> list[dict[str, Any]]:
    rows = result.violations.rename(columns={"rule": "invariant_id", "tasks": "task_ids"})
    rows = rows.rename(columns={"trials": "trial_ids"})
    return rows.assign(step_index=rows["step_index"].fillna(NO_STEP)).to_dict("records")


def divergence_groups(table: Any) -> list[dict[str, Any]]:
    return table.rename(columns={"tasks": "task_ids", "trials": "trial_ids"}).to_dict("records")


# --- the adapters ------------------------------------------------------------------------------


def canonical_value(case: Mapping[str, Any]) -> Any:
    return canonical(decode(case["value"]))


def compared_arguments(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = compare_arguments(
        decode(case["expected"]),
        decode(case["got"]),
        a_schema(case.get("schema")),
        tool=case["tool"],
        compatibility="plumbline",
    )
    names = ("tool", "field", "expected", "got", "policy", "severity", "magnitude")
    return [{name: getattr(difference, name) for name in names} for difference in found]


def trajectory_views(case: Mapping[str, Any]) -> dict[str, Any]:
    trial = a_trial(case, 0, {})
    names = sorted({step.name for step in trial.steps})
    control = trial.control_steps

    def first(name: str, *, include_failed: bool) -> int:
        index = trial.first_index_of(name, include_failed=include_failed)
        return NO_STEP if index is None else index

    return {
        "path": trial.full_path,
        "effect_path": trial.effect_path,
        "path_str": path_text(trial.full_path),
        "path_hash": path_hash(trial.full_path),
        "control_len": len(control),
        "failed_steps": [index for index, step in enumerate(control) if step.failed],
        "calls_success": {name: len(trial.calls(name)) for name in names},
        "calls_any": {name: len(trial.calls(name, include_failed=True)) for name in names},
        "first_index_success": {name: first(name, include_failed=False) for name in names},
        "first_index_any": {name: first(name, include_failed=True) for name in names},
    }


def one_invariant(case: Mapping[str, Any]) -> dict[str, Any]:
    rule, context = a_rule(case["invariant"]), decode(case["context"])
    trial = a_trial(case, 0, {})
    return {
        "id": rule.id,
        "applies": rule.applies(context),
        "violation": violation(rule.check(Case(trial, context, PLUMBLINE))),
    }


def policy_check(case: Mapping[str, Any]) -> dict[str, Any]:
    domain = DOMAINS[case["domain"]]
    context = case["context"]
    if context == "domain":
        context = domain.CONTEXTS[case["task_id"]]
    policy = Policy(domain.RULES, compatibility="plumbline")
    return {
        "violations": [violation(v) for v in policy.violations(a_trial(case, 0, {}), context)],
        "applicable": [rule.id for rule in policy.applicable(context)],
    }


def conformance(case: Mapping[str, Any]) -> dict[str, Any]:
    result = conformance_of_trials(
        trials(case), a_policy(case["policy"]), contexts(case["contexts"]), missing="recorded"
    )
    return {
        "overall": share(result.overall),
        "critical": share(result.critical),
        "by_perturbation": shares(result.by_perturbation),
        "by_invariant": shares(result.by_rule),
        "by_task": shares(result.by_task),
        "worst_perturbation": worst(result.plumbline_worst, result.by_perturbation),
        "violations": violation_groups(result),
        "n_runs": result.scored,
        "n_errors": result.errored,
        "worst_bound_unrounded": result.plumbline_bound,
        "min_lower95_over_perturbations": result.bound,
    }


def consistency(case: Mapping[str, Any]) -> dict[str, Any]:
    result = consistency_of_trials(
        trials(case), schemas(case["arg_schemas"]), missing="recorded", compatibility="plumbline"
    )
    return {
        "structural": share(result.structural),
        "argument": share(result.argument),
        "outcome": share(result.outcome),
        "self_consistency": share(result.self_consistency),
        "by_perturbation": shares(result.by_perturbation),
        "reference_paths": result.references,
        "divergences": divergence_groups(result.divergences),
        "n_runs": result.scored,
    }


def equivalence(case: Mapping[str, Any]) -> dict[str, Any]:
    result = equivalence_of_trials(
        trials(case),
        case["incumbent"],
        case["replacement"],
        schemas(case["arg_schemas"]),
        missing="recorded",
        compatibility="plumbline",
    )
    return {
        "incumbent": result.incumbent,
        "replacement": result.replacement,
        "retirement_bound": round(result.plumbline_bound, 4),
        "outcome": share(result.outcome),
        "path": share(result.path),
        "argument": share(result.argument),
        "incumbent_self_consistency": share(result.incumbent_self_consistency),
        "by_perturbation": shares(result.by_perturbation),
        "by_task": shares(result.by_task),
        "worst_perturbation": worst(result.plumbline_worst, result.by_perturbation),
        "divergences": divergence_groups(result.divergences),
        "n_pairs": result.pairs,
        "unpaired": result.unpaired,
        "verdict_code": result.plumbline_verdict,
        "retirement_bound_unrounded": result.plumbline_bound,
        "divergences_observed": int(result.divergences["count"].sum()),
        "min_lower95_over_perturbations": result.bound,
    }


def runs_needed(case: Mapping[str, Any]) -> int:
    # Plumbline's way to write that no number of runs is enough
    return 10**9 if case["bound"] >= 1 else sample_size_for_bound(case["bound"])


def certificate(case: Mapping[str, Any]) -> dict[str, Any]:
    grader = case["outcome_grader"]
    domain = DOMAINS[grader] if grader else None
    result = published_certificate(
        trials(case),
        a_policy(case["policy"]),
        contexts(case["contexts"]),
        expected_states=domain.EXPECTED_STATES if domain else None,
    )
    return {
        "certified_bound": result.bound,
        "rounded": round(result.bound, 4),
        "grade": result.grade,
        "worst_perturbation": result.worst_perturbation,
        "min_lower95_over_perturbations": result.lowest_bound,
        "evidence_hash": result.evidence_hash,
        "outcome_correctness": share(result.outcome),
        "critical": share(result.conformance.critical),
        "overall": share(result.conformance.overall),
        "structural": share(result.consistency.structural),
        "argument": share(result.consistency.argument),
        "consistency_outcome": share(result.consistency.outcome),
        "self_consistency": share(result.consistency.self_consistency),
        "n_errors": result.conformance.errored,
        "n_violation_groups": len(result.conformance.violations),
    }


def compared_arms(case: Mapping[str, Any]) -> dict[str, Any]:
    result = published_comparison(
        trials(case),
        a_policy(case["policy"]),
        contexts(case["contexts"]),
        (case["arm_a"], case["arm_b"]),
        case["perturbation"],
    )
    return {
        "a": result.a,
        "b": result.b,
        "a_stats": share(result.a_rate),
        "b_stats": share(result.b_rate),
        "diff_pts": round(result.difference_points, 3),
        "p_value": round(result.p_value, 6),
        "significant_at_05": result.significant,
        "n_permutations": result.draws,
    }


def expected_outcome(case: Mapping[str, Any]) -> Mapping[str, Any]:
    return DOMAINS[case["domain"]].EXPECTED_STATES[case["task_id"]].values


def outcome_matches(case: Mapping[str, Any]) -> bool:
    expected = DOMAINS[case["domain"]].EXPECTED_STATES.get(case["task_id"])
    return expected is not None and bool(expected.met_by(case["ledger"]))


def sample_size(case: Mapping[str, Any]) -> int:
    required = required_sample_size(
        case["tolerable_rate"],
        case["confidence"],
        case["expected_deviations"],
        compatibility="plumbline",
    )
    return required or 0


def upper_limit(case: Mapping[str, Any]) -> dict[str, float]:
    limit = upper_deviation_limit(case["deviations"], case["n"], case["confidence"])
    return {"plumbline": limit, "exact": limit}


def assessed_control(case: Mapping[str, Any]) -> dict[str, Any]:
    result = assess_control(
        case["tested"],
        case["deviations"],
        case["tolerable_rate"],
        case["population"],
        case["confidence"],
    )
    rate = 0.0 if math.isnan(result.deviation_rate) else result.deviation_rate
    return {
        "control_id": "c",
        "population": result.population,
        "tested": result.tested,
        "deviations": result.deviations,
        "deviation_rate": round(rate, 4),
        "upper_deviation_rate": round(result.upper_limit, 4),
        "tolerable_rate": result.tolerable_rate,
        "confidence": result.confidence,
        "required_sample": result.required_sample or 0,
        "full_population": result.full_population,
        "sufficient": result.sufficient,
        "passes": result.passes,
    }


def one_test(case: Mapping[str, Any]) -> bool:
    return one_test_suffices(
        case["control_type"], case["operator"], itgc_effective=case["itgc_effective"]
    )


def hold_category(case: Mapping[str, Any]) -> Sequence[Any]:
    return accounts_payable.hold_category(case["reason_code"])


def letter(case: Mapping[str, Any]) -> str:
    return grade(case["bound"])


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("plumbline", "canonical"): canonical_value,
    ("plumbline", "compare_args"): compared_arguments,
    ("plumbline", "trajectory_views"): trajectory_views,
    ("plumbline", "invariant"): one_invariant,
    ("plumbline", "policy_check"): policy_check,
    ("plumbline", "analyze_conformance"): conformance,
    ("plumbline", "analyze_consistency"): consistency,
    ("plumbline", "analyze_equivalence"): equivalence,
    ("plumbline", "runs_needed_for"): runs_needed,
    ("plumbline", "certify"): certificate,
    ("plumbline", "compare_arms"): compared_arms,
    ("plumbline", "expected_outcome"): expected_outcome,
    ("plumbline", "outcome_matches"): outcome_matches,
    ("plumbline", "required_sample_size"): sample_size,
    ("plumbline", "clopper_pearson_upper"): upper_limit,
    ("plumbline", "assess"): assessed_control,
    ("plumbline", "test_of_one_defensible"): one_test,
    ("plumbline", "hold_category"): hold_category,
    ("plumbline", "grade"): letter,
}
