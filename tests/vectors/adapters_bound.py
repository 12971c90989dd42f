"""Adapters of BOUND's policy, scores, contracts, replay and command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from pydantic import ValidationError
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import InputError
from steelyard.evaluators import bound
from steelyard.evaluators.bound.model import Model, refused
from vectors.compare import decode

ACTION = bound.Action(description="a", goal="b")
PRINTED = {
    "score": r"^S = (\S+)$",
    "threshold": r"T = (\S+)$",
    "distance": r"^Distance to threshold: (\S+)$",
    "risk": r"^Risk: (\S+)$",
    "rollback_threshold": r"^Rollback threshold: (\S+)$",
}
PAIR = re.compile(r"\((-?[\d.a-z]+) \* (-?[\d.a-z]+)\)")
RESULT = (
    *("scores", "weights", "weight", "threshold", "retry_margin", "rollback_risk_threshold"),
    *("acceptance_component", "influence_component", "risk_component", "cost_component"),
    *("score", "distance_to_threshold", "decision"),
)
QUALITY = ["measurable_ratio", "has_budget", "acceptance_check_count", "risk_check_count"]
SUMMARY = re.compile(r"(\w+)=(\S+)")


def read(model: type[Model], data: Any) -> Any:
    return model.read(decode(data))


def reported(adapter: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return an error as the vectors write it."""

    @wraps(adapter)
    def call(case: Any) -> Any:
        try:
            return adapter(case)
        except bound.ModelError as error:
            fields = [{"loc": place, "rule": rule} for place, rule in error.fields]
            return {"error": {"class": "ValidationError", "model": error.model, "fields": fields}}
        except bound.EvidenceError:
            return {"error": {"class": "ValueError"}}
        except bound.ActionMismatchError:
            return {"error": {"class": "AssertionError"}}

    return call


def scores_of(scores: bound.EvaluationScores) -> dict[str, Any]:
    return scores.model_dump(exclude={"reasoning"})


def provenance_of(provenance: Mapping[str, list[bound.ScoreEvidence]]) -> dict[str, Any]:
    return {
        dimension: [record.model_dump(exclude={"description"}) for record in records]
        for dimension, records in provenance.items()
    }


def result_of(result: bound.EvaluationResult) -> dict[str, Any]:
    dumped = result.model_dump(include=set(RESULT)) | {"scores": scores_of(result.scores)}
    if result.provenance is not None:
        dumped["provenance"] = provenance_of(result.provenance)
    return dumped


def evaluated(case: Any) -> bound.EvaluationResult:
    scores = read(bound.EvaluationScores, case["scores"])
    return bound.evaluate(ACTION, scores, read(bound.BoundCriteria, case["criteria"]))


def score(case: Any) -> Any:
    scores = read(bound.EvaluationScores, case["scores"])
    criteria = read(bound.BoundCriteria, case["criteria"])
    found = vars(bound.components(scores, criteria.weights))
    return {"score": found["total"], "components": found}


def normalization(case: Any) -> Any:
    limits = case.get("normalization")
    return None if limits is None else read(bound.WorkflowNormalization, limits)


def workflow_evaluate(case: Any) -> Any:
    signals = read(bound.CodingWorkflowSignals, case["signals"])
    scored = bound.score_workflow(signals, normalization(case), decode(case.get("influence")))
    found = {
        "scores": scores_of(scored.scores),
        "provenance": provenance_of(scored.provenance),
    }
    if "criteria" in case:
        criteria = read(bound.BoundCriteria, case["criteria"])
        result = bound.evaluate(ACTION, scored.scores, criteria, scored.provenance)
        found |= result.model_dump(include={"score", "distance_to_threshold", "decision"})
    return found


def contract_evaluate(case: Any) -> Any:
    scored = bound.score_contract(
        read(bound.StepContract, case["contract"]),
        read(bound.ExecutionEvidence, case["evidence"]),
        decode(case.get("influence")),
    )
    return {"scores": scores_of(scored.scores), "provenance": provenance_of(scored.provenance)}


def evaluate_step(case: Any) -> Any:
    result = bound.evaluate_step(
        read(bound.StepContract, case["contract"]),
        read(bound.ExecutionEvidence, case["evidence"]),
        read(bound.BoundCriteria, case["criteria"]),
        decode(case.get("influence")),
    )
    return result_of(result)


def contract_quality(case: Any) -> Any:
    plan = read(bound.BoundPlan, case["plan"])
    report = bound.plan_quality(plan)
    note = bound.quality_note(report)
    return {
        "plan": report.to_dict(),
        "steps": [bound.step_quality(step).to_dict() for step in plan.steps],
        "note": {
            "has_warnings": "No warnings" not in note,
            "observability": re.search(r"(\w+) of the checks", note)[1].lower(),
            "mentions_no_budget": "no budget" in note,
            "mentions_no_risk_checks": "no risk check" in note,
        },
    }


def contract_quality_experiment(case: Any) -> Any:
    found = bound.corpus_quality(
        {name: read(bound.BoundPlan, plan) for name, plan in case["plans"].items()}
    )
    ratio = found.aggregate.measurable_ratio
    return {
        "order": [finding.name for finding in found.findings],
        "total_plans": len(found.findings),
        "plans_with_warnings": found.plans_with_warnings,
        "aggregate_measurable_ratio": ratio,
        "aggregate_text": re.search(r"([\d.]+) of the acc", found.to_text())[1],
        "limitation_count": len(found.limitations),
        "rows": [
            {
                "name": finding.name,
                "step_count": finding.step_count,
                "warning_count": len(finding.report.warnings),
                **{name: getattr(finding.report, name) for name in QUALITY},
            }
            for finding in found.findings
        ],
    }


def printed(text: str) -> dict[str, Any]:
    """Read the numbers of a steering text back."""
    pairs = [list(pair) for pair in PAIR.findall(text)]
    found = {name: re.search(form, text, re.MULTILINE)[1] for name, form in PRINTED.items()}
    return {
        "under_150_words": len(text.split()) < 150,
        "decision": re.search(r"^Decision: (\w+)$", text, re.MULTILINE)[1],
        "terms": dict(zip(bound.DIMENSIONS, pairs, strict=True)),
        **found,
    }


def run_experiment(case: Any) -> Any:
    found = bound.run_experiment(
        read(bound.AgentTrajectory, case["trajectory"]),
        read(bound.BoundCriteria, case["criteria"]),
        normalization(case),
    )
    # A task's id may be blank, or hold lines and "key=value" of its own.
    printed_values = bound.summary_text(found).removeprefix(f"task={found.task_id} ")
    per_step = [{**vars(step), "scores": scores_of(step.scores)} for step in found.per_step]
    summary = dict(SUMMARY.findall(printed_values))
    return {**vars(found), "per_step": per_step, "summary_text_values": summary}


def static_expected_action(case: Any) -> Any:
    expected = case.get("expected_action")
    static = bound.StaticScores(
        read(bound.EvaluationScores, case["scores"]),
        None if expected is None else read(bound.Action, expected),
    )
    static.of(read(bound.Action, case["action"]))
    return {"ok": True}


def validate(case: Any) -> Any:
    return {"ok": read(getattr(bound, case["model"]), case["data"]).model_dump()}


def validate_json(case: Any) -> Any:
    text = case.get("json", case.get("data"))
    if not isinstance(text, str):
        text = json.dumps(decode(text))
    try:
        return {"ok": getattr(bound, case["model"]).model_validate_json(text).model_dump()}
    except ValidationError as error:
        raise refused(error) from None


def roundtrip(case: Any) -> Any:
    model = getattr(bound, case["model"])
    return {"ok": model.read(read(model, case["data"]).model_dump()).model_dump()}


def roundtrip_result(case: Any) -> Any:
    return {"ok": bound.EvaluationResult.read(evaluated(case).model_dump()).model_dump()}


def fault(outcome: Any) -> str:
    if isinstance(outcome.exception, bound.ModelError):
        return "validation_error"
    return "argparse_usage" if "Usage" in outcome.stderr else "evaluation_error"


def cli(case: Any) -> Any:
    outcome = CliRunner().invoke(app, ["bound", *case["argv"]])
    refused = isinstance(outcome.exception, InputError)
    found: dict[str, Any] = {"exit_code": 2 if refused else outcome.exit_code}
    found |= {"stdout": "help" if "Usage" in outcome.stdout else "empty", "stderr": "empty"}
    if outcome.stdout.startswith("{"):
        document = json.loads(outcome.stdout)
        for records in document.get("provenance", {}).values():
            for record in records:
                del record["description"]
        found |= {"stdout": "json", "json": document, "json_key_order": list(document)}
    if "Decision: " in outcome.stderr:
        found |= {"stderr": "prompt", "prompt": printed(outcome.stderr)}
    elif outcome.exit_code:
        found["stderr"] = fault(outcome)
    return found


ADAPTERS = {
    ("bound", name): reported(adapter)
    for name, adapter in {
        "policy_evaluate": lambda case: result_of(evaluated(case)),
        "score": score,
        "workflow_evaluate": workflow_evaluate,
        "contract_evaluate": contract_evaluate,
        "evaluate_step": evaluate_step,
        "contract_quality": contract_quality,
        "contract_quality_experiment": contract_quality_experiment,
        "prompt": lambda case: printed(bound.steering_text(evaluated(case))),
        "run_experiment": run_experiment,
        "static_expected_action": static_expected_action,
        "validate": validate,
        "validate_json": validate_json,
        "roundtrip": roundtrip,
        "roundtrip_result": roundtrip_result,
        "cli": cli,
    }.items()
}
