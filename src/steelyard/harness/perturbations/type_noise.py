"""Perturbation of tools' results: values of another JSON type that mean the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant


def _number_as_text(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(value) if number else value


def _whole_as_other(value: Any) -> Any:
    """Return 40 for 40.0 and 40.0 for 40, as JSON writers that know one kind of number do."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return float(value) if isinstance(value, int) and abs(value) <= 2**53 else value


def _boolean_as_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


NOISE: Mapping[str, Callable[[Any], Any]] = {
    "numbers_as_text": _number_as_text,
    "whole_numbers_as_other_kind": _whole_as_other,
    "booleans_as_text": _boolean_as_text,
}
"""Each kind of noise and what it does to one value that is neither object nor array."""


class TypeNoise:
    """Values in tools' results come as another JSON type: ``"40"`` for 40, ``"true"`` for true.

    Systems in between do this: spreadsheets, gateways, databases without booleans.

    Parameters
    ----------
    kinds : sequence of str, optional
        Of `NOISE`; variants take them by turns. By default all.
    tools : sequence of str, optional
        Whose results are changed; by default every tool's.
    """

    name = "type_noise"
    preserves = "the meaning of every value, the request, and what is right for the task"

    def __init__(self, kinds: Sequence[str] = tuple(NOISE), tools: Sequence[str] = ()) -> None:
        unknown = sorted(set(kinds) - set(NOISE))
        if isinstance(kinds, str) or unknown or not kinds:
            raise InputError(f"type_noise: kinds is {kinds!r}; accepted are {', '.join(NOISE)}")
        self.kinds = list(kinds)
        self.tools = frozenset(tools)

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants: the kinds of noise by turns."""
        return [
            Variant(index, {"kind": self.kinds[index % len(self.kinds)]}) for index in range(count)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Change results from now on; it took effect if any value changed."""
        noise = _Noise(NOISE[variant.meta["kind"]], self.tools)
        setup.toolbox.after.append(noise)
        return PerturbedTrial(setup, lambda: noise.changed)


class _Noise:
    """The noise in one trial; ``changed`` says whether any value came out as another."""

    def __init__(self, change: Callable[[Any], Any], tools: frozenset[str]) -> None:
        self.change = change
        self.tools = tools
        self.changed = False

    def __call__(self, tool: str, arguments: Mapping[str, Any], output: Any) -> Any:  # noqa: ARG002
        return self._through(output) if not self.tools or tool in self.tools else output

    def _through(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._through(member) for key, member in value.items()}
        if isinstance(value, list | tuple):
            return [self._through(member) for member in value]
        changed = self.change(value)
        self.changed = self.changed or type(changed) is not type(value)
        return changed
