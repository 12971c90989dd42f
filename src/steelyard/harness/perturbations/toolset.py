"""Perturbations of the tools on offer: tools of no use, and another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NoReturn

from steelyard.errors import InputError
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import Tool, ToolError

DECOYS = (
    {"name": "translate_text", "description": "Translate a text.", "arguments": ["text"]},
    {"name": "list_holidays", "description": "List public holidays.", "arguments": ["country"]},
    {"name": "convert_units", "description": "Convert units.", "arguments": ["quantity"]},
)
"""Tools that could stand in any office's toolbox and help with hardly any task."""


class DecoyTools:
    """Tools that look useful and do not work stand beside the real ones.

    Parameters
    ----------
    decoys : sequence of mapping, optional
        Each with ``name``, ``description`` and ``arguments`` (names of text arguments).
    """

    name = "decoy_tools"
    preserves = "the request, the real tools, and what is right for the task"

    def __init__(self, decoys: Sequence[Mapping[str, Any]] = DECOYS) -> None:
        self.decoys = {str(decoy.get("name")): _decoy(decoy) for decoy in decoys}
        if not self.decoys or len(self.decoys) != len(decoys):
            raise InputError("decoy_tools: decoys are at least one tool, no two of one name")

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants with one, two, three … decoys by turns."""
        names = list(self.decoys)
        return [
            Variant(index, {"decoys": random.sample(names, 1 + index % len(names))})
            for index in range(count)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Offer the decoys after the tools; it took effect if the agent looked at what there is."""
        setup.toolbox.add(*(self.decoys[name] for name in variant.meta["decoys"]))
        return PerturbedTrial(setup, lambda: setup.toolbox.listed)


class ReorderedTools:
    """The tools are offered in another order."""

    name = "reordered_tools"
    preserves = "the request, each tool and its answers, and what is right for the task"

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants; each is a seed, since the tools are not known yet."""
        return [Variant(index, {"order_seed": random.getrandbits(32)}) for index in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Shuffle the tools; it took effect if the order is new and the agent looked at it."""
        toolbox = setup.toolbox
        before = toolbox.names
        shuffled = list(before)
        Random(variant.meta["order_seed"]).shuffle(shuffled)  # noqa: S311 - reproducible
        if tuple(shuffled) == before:
            shuffled = [*before[1:], *before[:1]]
        toolbox.set_tools(toolbox.tool(name) for name in shuffled)
        return PerturbedTrial(setup, lambda: toolbox.listed and toolbox.names != before)


def _decoy(described: Mapping[str, Any]) -> Tool:
    """Return a tool that takes text arguments and always fails."""
    expected = {"name", "description", "arguments"}
    if set(described) != expected:
        raise InputError(f"decoy_tools: a decoy has {sorted(expected)}; got {sorted(described)}")
    name, arguments = described["name"], list(described["arguments"])

    def refuse(**_: Any) -> NoReturn:
        raise ToolError(f"{name} is not available in this environment")

    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string"} for argument in arguments},
        "required": arguments,
        "additionalProperties": False,
    }
    return Tool(name, described["description"], parameters, refuse)
