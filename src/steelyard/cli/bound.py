"""``steelyard bound``: is a state good enough? JSON on stdout, what to do about it on stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import bound_options as options
from steelyard.cli.bound_replay import replay
from steelyard.errors import printable

if TYPE_CHECKING:
    from steelyard.evaluators.bound import EvaluationResult

bound = typer.Typer(
    help="Hold a state of an agent's work against a bounded-utility policy.",
    rich_markup_mode=None,
    invoke_without_command=True,
    cls=options.AbbreviatedGroup,
)

_RESULT = (
    "scores",
    "weights",
    "weight",
    "threshold",
    "retry_margin",
    "rollback_risk_threshold",
    "acceptance_component",
    "influence_component",
    "risk_component",
    "cost_component",
    "score",
    "distance_to_threshold",
    "decision",
)
_DEBUG = 2

Score = Annotated[float, typer.Option(metavar="SCORE", help="0 to 1.")]
Rate = Annotated[float | None, typer.Option(metavar="SHARE", help="0 to 1.")]
Plans = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan, or a folder of plans (JSON).")]
Trajectories = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRAJECTORY...", help="Trajectories: JSON, JSON Lines, or a folder of JSON files."
    ),
]


@bound.callback()
def _before_the_verb(
    ctx: typer.Context,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="Twice: say which rule decided.")
    ] = 0,
) -> None:
    """Hold a state of an agent's work against a bounded-utility policy."""
    ctx.obj = verbose


@bound.command(cls=options.Abbreviated)
def evaluate(
    ctx: typer.Context,
    action: options.ActionText,
    goal: options.Goal,
    acceptance: Score,
    influence: Annotated[float, typer.Option(metavar="SCORE", help="-1 to 1.")],
    risk: Score,
    cost: Score,
    threshold: options.Threshold,
    context: options.ContextText = None,
    acceptance_weight: options.AcceptanceWeight = 1.0,
    influence_weight: options.InfluenceWeight = 1.0,
    risk_weight: options.RiskWeight = 1.0,
    cost_weight: options.CostWeight = 1.0,
    weight: options.Weight = None,
    retry_margin: options.RetryMargin = 0.1,
    rollback_risk_threshold: options.RollbackRisk = 0.8,
) -> None:
    """Decide on a state whose four scores are known."""
    given = dict(locals())
    from steelyard.evaluators.bound import DIMENSIONS, Action, EvaluationScores
    from steelyard.evaluators.bound import evaluate as decide

    described = Action.read({"description": action, "goal": goal, "context": context})
    scores = EvaluationScores.read({name: given[name] for name in DIMENSIONS})
    result = decide(described, scores, options.criteria_of(given))
    _answer(result, ctx.obj)


@bound.command(name="evaluate-workflow", cls=options.Abbreviated)
def evaluate_workflow(
    ctx: typer.Context,
    action: options.ActionText,
    goal: options.Goal,
    threshold: options.Threshold,
    context: options.ContextText = None,
    test_pass_rate: Rate = None,
    required_checks_passed: Rate = None,
    lint_passed: Annotated[bool | None, typer.Option("--lint-passed/--no-lint-passed")] = None,
    type_check_passed: Annotated[
        bool | None, typer.Option("--type-check-passed/--no-type-check-passed")
    ] = None,
    rollback_available: Annotated[
        bool | None, typer.Option("--rollback-available/--no-rollback-available")
    ] = None,
    retry_count: options.Count = 0,
    tool_call_count: options.Count = 0,
    token_usage: options.OptionalCount = None,
    execution_time_seconds: Annotated[float | None, typer.Option(metavar="SECONDS")] = None,
    files_changed: options.OptionalCount = None,
    unexpected_files_changed: options.OptionalCount = None,
    influence: options.Influence = None,
    acceptance_weight: options.AcceptanceWeight = 1.0,
    influence_weight: options.InfluenceWeight = 1.0,
    risk_weight: options.RiskWeight = 1.0,
    cost_weight: options.CostWeight = 1.0,
    weight: options.Weight = None,
    retry_margin: options.RetryMargin = 0.1,
    rollback_risk_threshold: options.RollbackRisk = 0.8,
) -> None:
    """Score a state by what its workflow reported, and decide."""
    given = dict(locals())
    from steelyard.errors import InputError
    from steelyard.evaluators.bound import Action, CodingWorkflowSignals, score_workflow
    from steelyard.evaluators.bound import evaluate as decide

    described = Action.read({"description": action, "goal": goal, "context": context})
    criteria = options.criteria_of(given)
    reported = {name: given[name] for name in CodingWorkflowSignals.model_fields if name in given}
    signals = CodingWorkflowSignals.read(reported)
    try:
        scored = score_workflow(signals, influence=influence)
    except InputError as error:
        raise InputError(f"the state cannot be scored: {error}") from None
    result = decide(described, scored.scores, criteria, scored.provenance)
    _answer(result, ctx.obj, signals=signals.model_dump())


@bound.command(cls=options.Abbreviated)
def contract(
    ctx: typer.Context,
    contract_file: Annotated[Path, typer.Argument(metavar="CONTRACT", help="A step's contract.")],
    evidence_file: Annotated[Path, typer.Argument(metavar="EVIDENCE", help="What was observed.")],
    threshold: options.Threshold,
    influence: options.Influence = None,
    acceptance_weight: options.AcceptanceWeight = 1.0,
    influence_weight: options.InfluenceWeight = 1.0,
    risk_weight: options.RiskWeight = 1.0,
    cost_weight: options.CostWeight = 1.0,
    weight: options.Weight = None,
    retry_margin: options.RetryMargin = 0.1,
    rollback_risk_threshold: options.RollbackRisk = 0.8,
) -> None:
    """Score a step by its contract and the evidence for it, and decide."""
    given = dict(locals())
    from steelyard.cli.bound_files import read_file
    from steelyard.evaluators.bound import ExecutionEvidence, StepContract, evaluate_step

    promised = read_file(StepContract, contract_file)
    observed = read_file(ExecutionEvidence, evidence_file)
    _answer(evaluate_step(promised, observed, options.criteria_of(given), influence), ctx.obj)


@bound.command(cls=options.Abbreviated)
def quality(plan: Plans) -> None:
    """Judge the wording of a plan's checks, or of those of a folder of plans."""
    from steelyard.cli.bound_files import quality_document, read_plans
    from steelyard.evaluators.bound import corpus_quality

    found = corpus_quality(read_plans(plan))
    _print(quality_document(found))
    print(found.to_text(), file=sys.stderr)


@bound.command(cls=options.Abbreviated)
def stop(
    trajectory: Trajectories,
    threshold: options.Threshold,
    steps: Annotated[bool, typer.Option("--steps", help="Print every state's decision.")] = False,
    acceptance_weight: options.AcceptanceWeight = 1.0,
    influence_weight: options.InfluenceWeight = 1.0,
    risk_weight: options.RiskWeight = 1.0,
    cost_weight: options.CostWeight = 1.0,
    weight: options.Weight = None,
    retry_margin: options.RetryMargin = 0.1,
    rollback_risk_threshold: options.RollbackRisk = 0.8,
) -> None:
    """Tell where the policy would stop trajectories.

    Exit 1 if one cannot be replayed; the others are answered.
    """
    given = dict(locals())
    from steelyard.cli.bound_files import replay_files

    criteria = options.criteria_of(given)
    answered, refused = replay_files(trajectory, criteria, steps=steps)
    _print({"criteria": criteria.model_dump(), "trajectories": answered, "refused": refused})
    for fault in refused:
        print("steelyard:", printable(f"{fault['name']}: {fault['error']}"), file=sys.stderr)
    if refused:
        raise typer.Exit(1)


bound.command(cls=options.Abbreviated)(replay)


def _answer(result: EvaluationResult, verbose: int, **more: Any) -> None:
    from steelyard.evaluators.bound import steering_text

    dumped = result.model_dump(exclude={"scores": {"reasoning"}})
    document = {name: dumped[name] for name in _RESULT}
    if result.provenance is not None:
        document["provenance"] = dumped["provenance"]
    _print(document | more)
    if verbose >= _DEBUG:
        limits = f"risk limit {result.rollback_risk_threshold!r}, margin {result.retry_margin!r}"
        print(f"debug: S {result.score!r}, T {result.threshold!r}, {limits}", file=sys.stderr)
    print(steering_text(result), file=sys.stderr)


def _print(document: dict[str, Any]) -> None:
    """Print JSON in ASCII; an infinite threshold is ``Infinity``, as BOUND prints it."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    sys.stdout.flush()
