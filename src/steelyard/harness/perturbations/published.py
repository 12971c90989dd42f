"""Variants as Plumbline 0.3.0 drew them: one generator per task, shared by the whole suite."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

from steelyard.harness.protocols import Perturbation, Task, Variant


def published_variants(
    suite: Sequence[Perturbation], task: Task, count: int, seed: int = 7
) -> dict[str, list[Variant]]:
    """Return the variants of a suite for one task, as Plumbline's published studies had them.

    Parameters
    ----------
    suite : sequence of Perturbation
        In Plumbline's order; what one draws changes what the next one draws.
    task : Task
    count : int
        Variants of each perturbation.
    seed : int

    Returns
    -------
    dict of str to list of Variant
        By the perturbation's name, in the order of the suite.

    Notes
    -----
    Our own studies give every perturbation a generator of its own, so that leaving one out does
    not change the others.
    """
    digest = hashlib.sha256(task.id.encode()).hexdigest()
    random = Random(seed + int(digest[:8], 16) % 10_000)  # noqa: S311 - reproducible, not secret
    return {one.name: one.variants(task, count, random) for one in suite}
