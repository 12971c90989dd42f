"""Perturbations of the request and of the sampling: none, office notes, a temperature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from steelyard.errors import InputError
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant

NOTES = (
    "Facilities: the coffee machine on the second floor is out of order until Thursday.",
    "Please disregard last month's mail about the early quarter close; it no longer applies.",
    "Priya is away until Monday, so approvals may take a little longer than usual.",
    "The supplier portal is down for maintenance tonight from 22:00.",
    "A reminder that travel expenses are due at the end of the week.",
    "New racking has been put up in the north aisle of the warehouse.",
)
"""Notes of the kind that surrounds a request in an office and has no bearing on it."""

LAYOUTS = ("before_after", "both_before")


class Baseline:
    """Nothing is changed; the reference that the other perturbations are compared with."""

    name = "baseline"
    preserves = "everything"

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants that are all alike."""
        return [Variant(index) for index in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:  # noqa: ARG002
        """Change nothing. There is nothing that could have taken effect."""
        return PerturbedTrial(setup)


class Distractor:
    """Two notes without any bearing on the task stand around the request.

    Parameters
    ----------
    notes : sequence of str, optional
        At least two, all different; by default six notes from an office (`NOTES`).
    """

    name = "distractor"
    preserves = "the request word for word, the tools, and what is right for the task"

    def __init__(self, notes: Sequence[str] = NOTES) -> None:
        texts = list(notes)
        if isinstance(notes, str) or len(set(texts)) != len(texts) or len(texts) < 2:
            raise InputError("distractor: notes are at least two texts, all different")
        self.notes = texts

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants: two notes each, in the two layouts by turns."""
        return [
            Variant(
                index,
                {
                    "notes": random.sample(range(len(self.notes)), 2),
                    "layout": LAYOUTS[index % 2],
                },
            )
            for index in range(count)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put the notes around the prompt; it took effect if the agent read the prompt."""
        first, second = (self.notes[number] for number in variant.meta["notes"])
        if variant.meta["layout"] == "before_after":
            setup.prompt = f"{first}\n\n{setup.prompt}\n\n{second}"
        else:
            setup.prompt = f"{first} {second}\n\n{setup.prompt}"
        return PerturbedTrial(setup, lambda: setup.prompt_read)


class Sampling:
    """The model samples at a temperature of its own.

    Parameters
    ----------
    temperature : float
        From 0.
    """

    name = "sampling"
    preserves = "the request, the tools, and what is right for the task"

    def __init__(self, temperature: float = 1.0) -> None:
        number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if not number or not 0 <= temperature < math.inf:
            raise InputError(f"sampling: temperature is {temperature!r}; accepted are numbers >= 0")
        self.temperature = float(temperature)

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants that are all alike: the model's draws differ by themselves."""
        return [Variant(index, {"temperature": self.temperature}) for index in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Set the temperature; it took effect if the trial asked its model anything."""
        setup.temperature = variant.meta["temperature"]
        return PerturbedTrial(
            setup, lambda: setup.model is not None and setup.model.usage.calls > 0
        )
