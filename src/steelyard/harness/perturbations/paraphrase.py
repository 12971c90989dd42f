"""Perturbations of the request's wording: the same request in other words.

The words are either prepared beforehand or written by a model. Either way a guard discards what
does not ask for the same, and what was discarded is kept with its reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random

from steelyard.errors import InputError
from steelyard.harness.perturbations.rewording import (
    JUDGE,
    WRITE,
    Discard,
    keep_equivalent,
    lost_identifiers,
    verdict_objection,
)
from steelyard.harness.protocols import PerturbedTrial, Task, TrialModel, TrialSetup, Variant
from steelyard.harness.replies import texts_in

SPARE = 2  # rewordings asked for beyond those wanted, since the guard may discard some


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
        return _variants(*found)

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put the rewording in the prompt's place; it took effect if the agent read it."""
        return put_in_place(setup, variant)


class ModelParaphrase:
    """The request in other words that a model writes and, asked again, judges to be equivalent.

    A rewording that lacks an identifier of the request is discarded without asking.

    Parameters
    ----------
    ask : callable
        Puts an instruction and a text to a model and returns its answer's text.
    same : str
        The member of the judge's answer that says whether both are about the very same thing.

    Attributes
    ----------
    model : TrialModel or None
        Given by the harness before ``variants`` is called.
    discarded : dict of str to list of Discard
        By task: the rewordings that were not used, and why.
    """

    name = "paraphrase"
    preserves = "what the request asks for, by a model's verdict; its identifiers; the tools"
    needs_model = True

    def __init__(
        self, ask: Callable[[TrialModel, str, str], str], same: str = "same_subject"
    ) -> None:
        self.ask = ask
        self.same = same
        self.model: TrialModel | None = None
        self.discarded: dict[str, list[Discard]] = {}

    def model_calls(self, count: int) -> int:
        """Return how often the model is asked at most for one task's variants."""
        return 1 + count + SPARE

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return up to ``count`` variants; fewer where the guard left fewer.

        Of more rewordings than were asked for, those beyond are not looked at.

        Raises
        ------
        InputError
            If there is no model.
        """
        if self.model is None:
            raise InputError(
                "paraphrase: a model has to write the rewordings; the study names none"
            )
        model = self.model

        def judged(original: str, rewording: str) -> str | None:
            both = json.dumps({"first": original, "second": rewording}, ensure_ascii=False)
            reply = self.ask(model, JUDGE.format(same=self.same), both)
            return verdict_objection(reply, self.same)

        reply = self.ask(model, WRITE.format(count=count + SPARE), task.prompt)
        candidates = texts_in(reply)[: count + SPARE]
        found = keep_equivalent(task.prompt, candidates, count, [lost_identifiers, judged])
        self.discarded[task.id] = found.discarded
        return _variants(*found)

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put the rewording in the prompt's place; it took effect if the agent read it."""
        return put_in_place(setup, variant)


def put_in_place(setup: TrialSetup, variant: Variant) -> PerturbedTrial:
    """Replace a trial's prompt by the variant's text."""
    setup.prompt = variant.meta["text"]
    return PerturbedTrial(setup, lambda: setup.prompt_read)


def _variants(accepted: list[str], discarded: list[Discard]) -> list[Variant]:
    return [
        Variant(index, {"text": text, "rejected_count": len(discarded)})
        for index, text in enumerate(accepted)
    ]


def _filled(template: str, task: Task) -> str:
    try:
        return template.format(**task.data)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"paraphrase: template {template!r} cannot be filled with the data of task "
            f"{task.id} ({type(error).__name__}: {error}); it has {', '.join(sorted(task.data))}"
        ) from error
