"""Does a perturbation move behaviour, also where it moves no outcome: a test on similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours, with_outcomes
from steelyard.analysis.names import (
    Filters,
    TrialFilters,
    resolve_filters,
    resolve_measure,
    sort_by_design,
)
from steelyard.analysis.pair_similarity import Definition, check_definition, task_similarities
from steelyard.analysis.similarity_blocks import (
    TEST_COLUMNS,
    Block,
    Matrices,
    PermutationOptions,
    split_blocks,
    tested_row,
    with_adjusted,
)
from steelyard.analysis.trajectories import PathKind
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats.checks import check_open_unit
from steelyard.trials.paths import FailedCalls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

POPULATIONS = ("all trials", "equal outcomes")


def behaviour_shift(
    tables: StudyTables,
    reference: str | None = None,
    measure: str | None = None,
    *,
    definition: Definition = "levenshtein",
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 9_999,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Test whether a perturbation moves what an arm does, also where it moves no outcome.

    The trials of one arm under a perturbation are held against its trials under the reference
    condition. If the perturbation moved nothing, a trial would resemble those of the other
    condition as much as those of its own.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    reference : str, optional
        The perturbation to compare with; the study's first one (its baseline) when absent.
    measure : str, optional
        The 0/1 measure of the outcome; the study's primary one when absent.
    definition, path, failed_calls, missing, confidence
        See :func:`steelyard.analysis.similarity`.
    n_resamples, seed
        See :func:`similarity_test`.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several. The
        trials of the reference are always read.

    Returns
    -------
    pandas.DataFrame
        Two rows per arm and perturbation:

        - ``arm``, ``perturbation``, ``reference``, ``population``: ``all trials``, or ``equal
          outcomes``: only pairs of trials with the same outcome, labels exchanged among the
          successes of a task and among its failures; ``measure``, ``definition``;
        - ``successes``, ``total``, ``reference_successes``, ``reference_total``: outcomes of the
          two conditions;
        - ``tasks``, ``trials``: those that enter the test;
        - ``difference``: mean similarity within the conditions less mean similarity between
          them, averaged over tasks (and outcomes); above 0 where behaviour moved; ``low``,
          ``high``, ``level``: t interval with the task as cluster, NaN with an
          ``interval_reason``;
        - ``p_value``: one-sided permutation test (``greater``), ``p_adjusted``: Holm over the
          perturbations of the arm and population, ``family_size``; ``alternative``, ``method``,
          ``exact``, ``n_resamples``, ``seed``, ``reason`` as in :func:`similarity_test`.

    Raises
    ------
    InputError
        As :func:`steelyard.analysis.similarity`; or no perturbation besides the reference.
    UnknownNameError
        A name that the study does not hold.

    Notes
    -----
    The statistic is the energy statistic of the two sets of paths
    (:func:`steelyard.stats.blocked_permutation.blocked_permutation`). Trials of one variant are
    taken as exchangeable with those of another: the null hypothesis is that neither the
    perturbation nor its variant matters. The outcome comes after the perturbation; under that
    null hypothesis it may be conditioned on, but a small p-value for equal outcomes does not tell
    how behaviour would have moved in trials whose outcome did.
    """
    check_definition(definition)
    options = PermutationOptions(check_open_unit("confidence", confidence), n_resamples, seed)
    start = _reference(tables, reference)
    asked = resolve_filters(tables, {**filters}).get("perturbation")
    rest: TrialFilters = {**filters}  # type: ignore[typeddict-unknown-key]
    if asked is not None:
        rest["perturbation"] = [*dict.fromkeys([start, *map(str, asked)])]
    name = resolve_measure(tables, measure)
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **rest
    )
    trials = with_outcomes(tables, behaviours, name, **rest)
    others = [p for p in dict.fromkeys(behaviours.trials["perturbation"]) if p != start]
    if not others:
        raise InputError(f"study {tables.study}: no perturbation to compare with {start!r}")
    matrices = task_similarities(trials, behaviours.paths, definition)
    rows = []
    for arm in dict.fromkeys(behaviours.trials["arm"]):
        for other in others:
            cell = _Shift(trials, arm, start, other)
            for population in POPULATIONS:
                blocks = cell.blocks(matrices, population)
                tested = tested_row(blocks, "within-between", "greater", options)
                rows.append({"arm": arm, "population": population, **cell.counts, **tested})
    frame = with_adjusted(pd.DataFrame(rows), ["arm", "population"])
    frame = frame.assign(reference=start, measure=name, definition=definition)
    return sort_by_design(tables, frame, ["arm", "perturbation", "population"])[list(_SHIFT)]


_SHIFT = (
    "arm",
    "perturbation",
    "reference",
    "population",
    "measure",
    "definition",
    "successes",
    "total",
    "reference_successes",
    "reference_total",
    *TEST_COLUMNS,
)


def _reference(tables: StudyTables, reference: str | None) -> str:
    """Return the reference condition, checked."""
    if reference is None:
        return tables.design.design.perturbations[0]
    known = sorted(set(tables.frame("trials")["perturbation"]))
    if reference not in known:
        raise UnknownNameError("perturbation", str(reference), known, f"study {tables.study}")
    return reference


class _Shift:
    """The trials of one arm under the reference condition and under another."""

    def __init__(self, trials: pd.DataFrame, arm: str, reference: str, other: str) -> None:
        self.arm, self.reference, self.other = arm, reference, other
        self.counts: dict[str, Any] = {"perturbation": other}
        for side, condition in (("", other), ("reference_", reference)):
            inside = trials["arm"].eq(arm) & trials["perturbation"].eq(condition)
            outcomes = trials.loc[inside, "outcome"]
            self.counts |= {f"{side}successes": int(outcomes.sum()), f"{side}total": len(outcomes)}

    def blocks(self, matrices: Matrices, population: str) -> list[Block]:
        """Return the blocks within which the two conditions are exchanged."""
        chosen: Matrices = {}
        for task, (trials, matrix) in matrices.items():
            conditions = trials["perturbation"].isin([self.reference, self.other])
            inside = (trials["arm"].eq(self.arm) & conditions).to_numpy()
            chosen[task] = (trials[inside], matrix[np.ix_(inside, inside)])
        columns = ["outcome"] if population == "equal outcomes" else []
        return split_blocks(
            chosen,
            columns,
            lambda members: members["perturbation"].eq(self.other).to_numpy().astype(np.int64),
        )
