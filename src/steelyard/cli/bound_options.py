"""Options of the verbs below ``steelyard bound``, and commands that accept them abbreviated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from steelyard.evaluators.bound import BoundCriteria

ActionText = Annotated[str, typer.Option("--action", metavar="TEXT", help="What was done.")]
Goal = Annotated[str, typer.Option(metavar="TEXT", help="What for.")]
ContextText = Annotated[str | None, typer.Option("--context", metavar="TEXT", help="Where.")]
Threshold = Annotated[
    float, typer.Option(metavar="T", help="Utility from which a state is accepted.")
]
RetryMargin = Annotated[
    float, typer.Option(metavar="GAP", help="How far below it another attempt is worth it.")
]
RollbackRisk = Annotated[
    float,
    typer.Option(
        "--rollback-risk-threshold", metavar="RISK", help="Risk from which a state is undone."
    ),
]
AcceptanceWeight = Annotated[float, typer.Option(metavar="W", help="Weight of acceptance.")]
InfluenceWeight = Annotated[float, typer.Option(metavar="W", help="Weight of influence.")]
RiskWeight = Annotated[float, typer.Option(metavar="W", help="Weight of risk.")]
CostWeight = Annotated[float, typer.Option(metavar="W", help="Weight of cost.")]
Weight = Annotated[
    float | None,
    typer.Option(metavar="W", help="Older name of --acceptance-weight; excludes the four."),
]
Influence = Annotated[
    float | None, typer.Option(metavar="I", help="Downstream influence, -1 to 1. Default: 0.")
]


class Abbreviated(TyperCommand):
    """A command whose long options may be shortened as long as they stay unambiguous."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Spell the options out, then parse."""
        known = [
            name
            for parameter in self.params
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("--")
        ]
        return super().parse_args(ctx, [_spelt_out(argument, known) for argument in args])


def _spelt_out(argument: str, known: list[str]) -> str:
    name, equals, value = argument.partition("=")
    if not name.startswith("--") or len(name) < 3 or name in known:
        return argument
    meant = [option for option in known if option.startswith(name)]
    return f"{meant[0]}{equals}{value}" if len(meant) == 1 else argument


def criteria_of(options: Mapping[str, Any]) -> BoundCriteria:
    """Return the criteria that a verb's options state.

    Parameters
    ----------
    options : mapping
        The verb's parameters by name; others are ignored.

    Returns
    -------
    BoundCriteria
        Of which every score is a finite number. A threshold may be infinite: nothing reaches it.

    Raises
    ------
    InputError
        For values out of range, infinite weights, and weights so large that a score overflows.
    """
    from steelyard.errors import InputError
    from steelyard.evaluators.bound import BoundCriteria
    from steelyard.evaluators.bound.model import refuse_infinite

    names = ("acceptance", "influence", "risk", "cost")
    criteria = BoundCriteria.read(
        {
            "threshold": options["threshold"],
            "retry_margin": options["retry_margin"],
            "rollback_risk_threshold": options["rollback_risk_threshold"],
            "weights": {name: options[f"{name}_weight"] for name in names},
            "weight": options["weight"],
        }
    )
    refuse_infinite(criteria, within="weights")
    # No score, and no distance to the threshold, is larger than the sum of these.
    largest = sum(getattr(criteria.weights, name) for name in names)
    if math.isfinite(criteria.threshold):
        largest += criteria.threshold
    if math.isinf(largest):
        raise InputError(
            "BoundCriteria: the weights and the threshold add up to more than any double; "
            "accepted: such of which every score is a finite number"
        )
    return criteria
