"""Counterfactual probes: which single changed fact would settle the matter.

A probe is a diagnosis. It changes no fact and authorises nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.evaluators.gate.contradiction import contradiction_of
from steelyard.evaluators.gate.enums import FactType
from steelyard.evaluators.gate.hearing import hear, hear_in_threads
from steelyard.evaluators.gate.registry import Evaluator
from steelyard.evaluators.gate.results import Counterfactual, EvaluatorResult
from steelyard.evaluators.gate.schemas import FactSpec
from steelyard.evaluators.gate.situation import Situation

STEPS = 63
"""Steps to either side that are tried at most."""

NO_MUTABLE_FACTS = Counterfactual("", None, None, 0.0, resolving=False)
"""What stands in the list when no fact may vary; its distance is filled in."""

Results = dict[str, EvaluatorResult]


@dataclass(slots=True)
class Probing:
    """What probes are compared with.

    Attributes
    ----------
    situation : Situation
        With the eligible rules.
    evaluators : sequence of Evaluator
        Who is asked.
    results : dict of str to EvaluatorResult
        Their votes on the facts as they are.
    delta_max, tau : float
        Largest distance, and threshold of a conflict.
    approved : callable, optional
        Returns whether the gate would let the action pass with one fact changed; a probe
        resolves if it would. Without it a probe resolves if the disagreement or veto ends, as
        published.
    """

    situation: Situation
    evaluators: Sequence[Evaluator]
    results: Results
    delta_max: float
    tau: float
    approved: Callable[[str, Any], bool] | None = None
    found: list[Counterfactual] = field(default_factory=list)


def probe(probing: Probing) -> tuple[Counterfactual, ...]:
    """Vary each mutable fact within its specification and the budget.

    Returns
    -------
    tuple of Counterfactual
        Resolving ones first, then by how much they lessen the distance; a single placeholder if
        no fact may vary.
    """
    keys = mutable_keys(probing.situation)
    if not keys:
        delta = probing.delta_max
        return (Counterfactual("", None, None, delta, resolving=False),)
    settings = probing.situation.settings
    deadline = None
    if settings.isolation != "inline":
        deadline = time.monotonic() + settings.counterfactual_timeout_ms / 1000
    for key in _ranked(keys, probing.results)[: max(0, settings.max_probe_params)]:
        _vary(probing, key, deadline)
    found = probing.found
    return tuple(sorted(found, key=lambda c: (not c.resolving, c.delta - probing.delta_max)))


def mutable_keys(situation: Situation) -> list[str]:
    """Return the facts that may vary: specified as mutable, present and no text."""
    return [
        key
        for key, spec in situation.context.fact_specs.items()
        if spec.mutable and spec.fact_type is not FactType.STRING and key in situation.facts
    ]


def _ranked(keys: Sequence[str], results: Results) -> list[str]:
    """Sort keys by how many evaluators rest on them, the most first."""
    texts = [atom.predicate for result in results.values() for atom in result.assumptions]

    def rank(key: str) -> tuple[int, str]:
        premises = sum(key in result.premise_ids for result in results.values())
        return premises + any(key in text for text in texts), key

    return sorted(keys, key=rank, reverse=True)


def _vary(probing: Probing, key: str, deadline: float | None) -> None:
    """Try the values of one fact up to the first that resolves."""
    settings = probing.situation.settings
    spec = probing.situation.context.fact_specs[key]
    for value in candidate_values(spec, probing.situation.facts[key].value):
        late = deadline is not None and time.monotonic() >= deadline
        if late or len(probing.found) >= settings.max_probes or _may_stop(probing):
            return
        probing.found.append(_tried(probing, key, value))
        if probing.found[-1].resolving:
            return


def _may_stop(probing: Probing) -> bool:
    wanted = probing.situation.settings.stop_on_first_resolving
    return wanted and probing.approved is not None and any(c.resolving for c in probing.found)


def candidate_values(spec: FactSpec, current: Any) -> list[Any]:
    """Return the values that a fact may be varied to, in the order in which they are tried.

    Parameters
    ----------
    spec : FactSpec
        Its type, range and step (default a tenth of the range, or 1).
    current : object
        Its value.

    Returns
    -------
    list
        The negation of a boolean, the other values of an enumeration, or numbers ever further
        below and above, whole ones where the type asks for them, and all of them in range;
        empty where the value has not the type.
    """
    if spec.fact_type is FactType.BOOL:
        return [not current]
    if spec.fact_type is FactType.ENUM:
        return [value for value in spec.enum_values if value != current]
    if spec.fact_type is FactType.STRING or not isinstance(current, int | float):
        return []
    step = _step(spec)
    whole = spec.fact_type is FactType.INT
    values: list[Any] = []
    for k in range(1, STEPS + 1):
        beside = [v for v in (current - k * step, current + k * step) if abs(v) < math.inf]
        tried = [round(value) if whole else float(value) for value in beside]
        fitting = [value for value in tried if _fits(value, spec)]
        if not fitting:
            break
        values += fitting
    return values


def _step(spec: FactSpec) -> float:
    if spec.step is not None:
        return spec.step
    if spec.minimum is None or spec.maximum is None:
        return 1
    return (spec.maximum - spec.minimum) * 0.1 or 1


def _fits(value: float, spec: FactSpec) -> bool:
    low = spec.minimum is None or value >= spec.minimum
    return low and (spec.maximum is None or value <= spec.maximum)


def _tried(probing: Probing, key: str, value: Any) -> Counterfactual:
    situation = probing.situation.with_fact(key, value)
    isolated = situation.settings.isolation != "inline"
    hearing = (hear_in_threads if isolated else hear)(situation, probing.evaluators)
    delta = contradiction_of(
        hearing.results,
        situation.settings.contradiction,
        distance_of_agreement=situation.compatibility.distance_of_agreement,
    ).delta_max
    if probing.approved is not None:
        resolving = probing.approved(key, value)
    else:
        vetoed, still = _vetoed(probing.results), _vetoed(hearing.results)
        resolving = (delta <= probing.tau and not still) or (vetoed and not still)
    flips = tuple(
        name
        for name, result in hearing.results.items()
        if result.verdict is not probing.results[name].verdict
    )
    original = probing.situation.facts[key].value
    return Counterfactual(key, original, value, delta, resolving, flips)


def _vetoed(results: Results) -> bool:
    return any(result.hard_veto for result in results.values())
