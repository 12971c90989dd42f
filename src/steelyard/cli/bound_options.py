"""Options of the verbs below ``steelyard bound``, and commands that accept them abbreviated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from steelyard.cli.words import is_like_an_option, takes_value

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


def whole_number(text: str | int) -> int:
    """Return a count as it was typed; ``1.0`` is none, though the schemas take it from a file."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!a} is not a whole number") from None


Count = Annotated[int, typer.Option(metavar="COUNT", parser=whole_number)]
OptionalCount = Annotated[int | None, typer.Option(metavar="COUNT", parser=whole_number)]


class Abbreviated(TyperCommand):
    """A command whose long options may be shortened as long as they stay unambiguous."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Spell the options out, then parse."""
        return super().parse_args(ctx, list(_spelt_out(args, self, ctx)))


class AbbreviatedGroup(TyperGroup):
    """A group of verbs of which the same holds for the options that stand before the verb."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Spell the options out, then parse."""
        return super().parse_args(ctx, list(_spelt_out(args, self, ctx)))


def _spelt_out(arguments: list[str], command: Any, ctx: Any) -> Iterator[str]:
    """Yield the arguments with long options in full; refuse an option without its value."""
    known = takes_value(command, ctx)
    with_value = {name: takes for name, takes in known.items() if name.startswith("--")}
    rest = iter(arguments)
    for argument in rest:
        if argument == "--" or not (argument.startswith("-") or ctx.allow_interspersed_args):
            yield from (argument, *rest)  # from here on it is the verb's, or no option
            return
        typed, equals, value = argument.partition("=")
        name = _full_name(typed, list(with_value))
        yield f"{name}{equals}{value}"
        if equals and not with_value.get(name, True):
            raise typer.BadParameter("it takes no value", ctx, param_hint=name)
        if not equals and with_value.get(name, False):
            yield _value(next(rest, None), name, ctx)


def _full_name(typed: str, known: list[str]) -> str:
    if not typed.startswith("--") or len(typed) < 3 or typed in known:
        return typed
    meant = [option for option in known if option.startswith(typed)]
    return meant[0] if len(meant) == 1 else typed


def _value(value: str | None, name: str, ctx: Any) -> str:
    """Return an option's value; what looks like another option is none, a negative number is."""
    if value is None:
        raise typer.BadParameter("its value is missing", ctx, param_hint=name)
    if is_like_an_option(value):
        raise typer.BadParameter(
            f"its value is missing, for {value!a} looks like an option; a text that starts with a "
            f"dash is given as {name}=TEXT",
            ctx,
            param_hint=name,
        )
    return value


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
