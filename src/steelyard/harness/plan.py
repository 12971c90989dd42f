"""Which trials a study consists of, before any of them is run."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.errors import InputError, StudyError
from steelyard.harness.protocols import (
    ModelSource,
    NotRunError,
    StopRunError,
    Task,
    Variant,
)
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import PlannedTrial, seed_of
from steelyard.trials.ids import TrialKey
from steelyard.trials.strict_json import canonical_dumps


@dataclass
class Variants:
    """The variants of every perturbation and task: made once, the same for all arms.

    Attributes
    ----------
    metas : dict of (perturbation, task) to list of str
        The variants' metas as JSON text; the position is the variant's number.
    discarded : dict of (perturbation, task) to int
        How many fewer than declared there are, where a perturbation discarded some.
    """

    metas: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    discarded: dict[tuple[str, str], int] = field(default_factory=dict)


def make_variants(study: RunnableStudy, models: ModelSource | None = None) -> Variants:
    """Ask every perturbation for its variants of every task.

    Parameters
    ----------
    study : RunnableStudy
    models : ModelSource, optional
        For perturbations that write their variants with a model.

    Returns
    -------
    Variants

    Raises
    ------
    StudyError
        If a perturbation returns more variants than were asked for, numbers them otherwise than
        0, 1, 2, ..., or needs a model that the study does not declare or that does not answer.
    """
    made = Variants()
    for name, perturbation in study.perturbations.items():
        count = study.settings.variants_of(name)
        for task in study.tasks.values():
            where = study.place("run", "perturbations", name)
            if getattr(perturbation, "needs_model", False):
                if models is None:
                    raise StudyError(
                        f"{where}: it writes its variants with a model, and there is no [run.model]"
                    )
                perturbation.model = models.client_for(  # type: ignore[attr-defined]
                    f"variants/{name}/{task.id}"
                )
            try:
                variants = perturbation.variants(task, count, variant_random(study, name, task))
            except (NotRunError, StopRunError) as reason:
                raise StudyError(
                    f"{where}: the variants of task {task.id} cannot be written: {reason}"
                ) from None
            made.metas[name, task.id] = _metas(study, name, task, variants, count)
            if len(variants) < count:
                made.discarded[name, task.id] = count - len(variants)
    return made


def variant_random(study: RunnableStudy, perturbation: str, task: Task) -> random.Random:
    """Return the generator from which a perturbation draws its variants of one task.

    It is seeded by SHA-256 over the study's seed, the perturbation and the task, so that adding a
    perturbation or a task changes no other one's variants.
    """
    text = "\n".join((str(study.settings.seed), perturbation, task.id))
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return random.Random(seed)  # noqa: S311 - reproducible, not secret


def plan_trials(study: RunnableStudy, variants: Variants) -> Iterator[PlannedTrial]:
    """Yield every trial: arm by arm, then task, perturbation, variant, repeat.

    Parameters
    ----------
    study : RunnableStudy
    variants : Variants
        From `make_variants`.

    Yields
    ------
    PlannedTrial
    """
    settings = study.settings
    for arm in study.arms:
        for task in study.tasks:
            for perturbation in study.perturbations:
                for number, meta in enumerate(variants.metas[perturbation, task]):
                    first = TrialKey(arm, task, perturbation, str(number), 0)
                    for repeat in range(settings.repeats):
                        key = first.repeated(repeat)
                        yield PlannedTrial(key, seed_of(settings.seed, key), meta)


def count_trials(study: RunnableStudy) -> int:
    """Return how many trials the declaration asks for, without making any variant."""
    per_task = sum(study.settings.variants_of(name) for name in study.perturbations)
    return len(study.arms) * len(study.tasks) * per_task * study.settings.repeats


def _metas(
    study: RunnableStudy, name: str, task: Task, variants: list[Variant], count: int
) -> list[str]:
    where = f"{study.place('run', 'perturbations', name)}: task {task.id}"
    if [variant.index for variant in variants] != list(range(len(variants))):
        numbers = [variant.index for variant in variants]
        raise StudyError(f"{where}: variants are numbered {numbers}; expected 0, 1, 2, ...")
    if len(variants) > count:
        raise StudyError(f"{where}: {len(variants)} variants where {count} were asked for")
    try:
        return [canonical_dumps(dict(variant.meta)) for variant in variants]
    except InputError as error:
        raise StudyError(f"{where}: the variant's meta is not JSON: {error}") from None
