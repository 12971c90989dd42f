"""Perturbation of the request's wording: the same request in other words."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.perturbations.rewording import (
    Discard,
    keep_equivalent,
    lost_identifiers,
)
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant


class PreparedParaphrase:
    """The request in other words that were written down beforehand; no model is needed.

    Parameters
    ----------
    templates : sequence of str
        Each with the task's data in braces: ``"Invoice {invoice_id} is in; please handle it."``
        One that leaves out an identifier of the original request is discarded.

    Attributes
    ----------
    discarded : dict of str to list of Discard
        By task: the rewordings that were not used, and why.
    """

    name = "paraphrase"
    preserves = "every identifier and number of the request, the tools, what is right for the task"

    def __init__(self, templates: Sequence[str] = ()) -> None:
        texts = [] if isinstance(templates, str) else list(templates)
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise InputError(
                f"paraphrase: templates is {templates!r}; accepted is a list of at least one text"
            )
        self.templates = texts
        self.discarded: dict[str, list[Discard]] = {}

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return up to ``count`` variants: the templates in order that pass the guard."""
        candidates = (_filled(text, task) for text in self.templates)
        found = keep_equivalent(task.prompt, candidates, count, [lost_identifiers])
        self.discarded[task.id] = found.discarded
        return [Variant(index, reworded) for index, reworded in enumerate(_metas(*found))]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put the rewording in the prompt's place; it took effect if the agent read it."""
        return put_in_place(setup, variant)


def put_in_place(setup: TrialSetup, variant: Variant) -> PerturbedTrial:
    """Replace a trial's prompt by the variant's text."""
    setup.prompt = variant.meta["text"]
    return PerturbedTrial(setup, lambda: setup.prompt_read)


def _metas(accepted: list[str], discarded: list[Discard]) -> list[dict[str, Any]]:
    return [{"text": text, "rejected_count": len(discarded)} for text in accepted]


def _filled(template: str, task: Task) -> str:
    try:
        return template.format(**task.data)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"paraphrase: template {template!r} cannot be filled with the data of task "
            f"{task.id} ({type(error).__name__}: {error}); it has {', '.join(sorted(task.data))}"
        ) from error
