"""Scores of a step from its contract and the evidence of its execution."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.evaluators.bound.contracts import (
    CheckEvidence,
    ExecutionEvidence,
    StepBudget,
    StepContract,
)
from steelyard.evaluators.bound.model import capped
from steelyard.evaluators.bound.models import (
    Action,
    BoundCriteria,
    EvaluationResult,
    EvaluationScores,
    ScoreEvidence,
)
from steelyard.evaluators.bound.policy import evaluate
from steelyard.evaluators.bound.summation import compensated_mean, compensated_sum
from steelyard.evaluators.bound.workflow import Scored, influence_record

Records = list[ScoreEvidence]


def score_contract(
    contract: StepContract, evidence: ExecutionEvidence, influence: float | None = None
) -> Scored:
    """Score a step by its contract.

    A check passes when it has at least one record and all of its records passed; ids are compared
    exactly. Records of checks that are not in the contract are ignored.

    - Acceptance: share of the required checks that pass, 0 where none is required. A check that
      the contract declares twice counts twice.
    - Risk: sum of the severities of the risk checks that do not pass, of 1 for any unexpected
      artifact and of 1 where the step cannot be undone; at most 1.
    - Cost: mean over the budget's limits of the share spent, each at most 1; tokens and seconds
      that were not measured count as spent. 0 without a limit.
    - Influence: as given, else 0.

    Expected and produced artifacts are not compared.

    Parameters
    ----------
    contract : StepContract
    evidence : ExecutionEvidence
    influence : float, optional
        Between -1 and 1.

    Returns
    -------
    Scored

    Raises
    ------
    ModelError
        If the influence, or a cost of infinite over infinite seconds, is out of range.
    """
    acceptance, accepted = _acceptance(contract, _passing(evidence.acceptance))
    risk, risks = _risk(contract, evidence)
    cost, costs = _cost(contract.budget, evidence)
    scores = EvaluationScores.read(
        {
            "acceptance": acceptance,
            "influence": 0.0 if influence is None else influence,
            "risk": risk,
            "cost": cost,
        }
    )
    provenance = {
        "acceptance": accepted,
        "influence": [influence_record(influence)],
        "risk": risks,
        "cost": costs,
    }
    return Scored(scores, provenance)


def evaluate_step(
    contract: StepContract,
    evidence: ExecutionEvidence,
    criteria: BoundCriteria,
    influence: float | None = None,
) -> EvaluationResult:
    """Score a step by its contract and hold the scores against the criteria.

    Raises
    ------
    ModelError
        As :func:`score_contract`; also for a contract with a blank description or goal, which is
        legal in a plan but describes no action.
    """
    scored = score_contract(contract, evidence, influence)
    action = Action.read({"description": contract.description, "goal": contract.goal})
    return evaluate(action, scored.scores, criteria, scored.provenance)


def _passing(records: Iterable[CheckEvidence]) -> set[str]:
    """Return the ids of the checks whose records all passed."""
    verdicts: dict[str, bool] = {}
    for record in records:
        verdicts[record.check_id] = verdicts.get(record.check_id, True) and record.passed
    return {check for check, passed in verdicts.items() if passed}


def _acceptance(contract: StepContract, passing: set[str]) -> tuple[float, Records]:
    required = [check.id for check in contract.acceptance_checks if check.required]
    optional = [check.id for check in contract.acceptance_checks if not check.required]
    passed = sum(check in passing for check in required)
    acceptance = passed / len(required) if required else 0.0
    records = [
        _record(check, float(check in passing), 1 / len(required) if check in passing else 0.0)
        for check in required
    ]
    records.append(_record("summary", acceptance, acceptance))
    records += [_record(check, float(check in passing), 0.0) for check in optional]
    return acceptance, records


def _risk(contract: StepContract, evidence: ExecutionEvidence) -> tuple[float, Records]:
    passing = _passing(evidence.risks)
    records = [
        _record(check.id, check.severity, 0.0 if check.id in passing else check.severity)
        for check in contract.risk_checks
    ]
    unexpected = len(evidence.unexpected_artifacts)
    records.append(_record("unexpected_artifacts", float(unexpected), float(unexpected > 0)))
    # Here 1 says that the step can NOT be undone; in workflow signals it says that it can.
    stuck = float(evidence.rollback_available is False)
    records.append(_record("rollback_available", stuck, stuck))
    risk = min(1.0, compensated_sum(record.contribution or 0.0 for record in records))
    return risk, [*records, _record("summary", risk, risk)]


def _cost(budget: StepBudget | None, evidence: ExecutionEvidence) -> tuple[float, Records]:
    limits = budget or StepBudget()
    entries: tuple[tuple[str, float | None, float | None], ...] = (
        ("retry_cost", evidence.retry_count, limits.max_retries),
        ("tool_cost", evidence.tool_call_count, limits.max_tool_calls),
        ("token_cost", evidence.token_usage, limits.max_tokens),
        ("runtime_cost", evidence.runtime_seconds, limits.max_runtime_seconds),
    )
    shares = [
        (name, 0.0 if spent is None else float(spent), _share(spent, limit))
        for name, spent, limit in entries
        if limit is not None
    ]
    if not shares:
        return 0.0, [_record("budget", 0.0, 0.0)]
    cost = compensated_mean([share for _, _, share in shares])
    records = [_record(name, spent, share / len(shares)) for name, spent, share in shares]
    return cost, [*records, _record("summary", cost, cost)]


def _share(spent: float | None, limit: float) -> float:
    return 1.0 if spent is None else capped(float(spent), float(limit))


def _record(source: str, value: float, contribution: float) -> ScoreEvidence:
    return ScoreEvidence(source=source, value=value, contribution=contribution)
