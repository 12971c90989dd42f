"""Sums over the trials of each task: what rates, shares and their resampling are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from steelyard.analysis.names import sort_by_design
from steelyard.analysis.stopping.outcomes import (
    CORRECT,
    FALSE,
    MISSED,
    OVERRUN,
    UNSOLVED,
    WORK,
    Outcomes,
)
from steelyard.analysis.stopping.places import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

RATIOS: Final[dict[str, tuple[str, str]]] = {
    "accepted": ("accepted", "replayed"),
    "false_stop": ("false_stop", "solvable"),
    "missed_stop": ("missed_stop", "solvable"),
    "correct_stop": ("correct_stop", "solvable"),
    "unsolved_stop": ("unsolved_stop", "unsolvable"),
    "success": ("success", "known"),
    **{work: (f"{work}_avoided", f"{work}_spent") for work in WORK},
}
"""Each rate or share: the sum above and the sum below.

Those below are the same under every policy, but for counters that some states did not report.
"""


@dataclass(frozen=True)
class Group:
    """Trials of one combination of the grouping columns.

    Attributes
    ----------
    key : dict
        Column to value.
    members : numpy.ndarray of int64
        Places of the trials.
    codes : numpy.ndarray of int64
        The task of each member, as a place in ``tasks``.
    tasks : tuple of str
        Sorted.
    """

    key: dict[str, Any]
    members: IntArray
    codes: IntArray
    tasks: tuple[str, ...]

    def sums(self, values: FloatArray) -> FloatArray:
        """Return each task's sum of a value per trial; NaN counts as 0.

        Sums of doubles are exactly rounded, so that the order of the trials cannot show.
        """
        chosen = np.nan_to_num(values[self.members])
        if np.array_equal(chosen, np.floor(chosen)):
            totals = np.bincount(self.codes, chosen, minlength=len(self.tasks))
            return totals.astype(np.float64)
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=len(self.tasks)))[:-1]
        return np.array([math.fsum(part) for part in np.split(chosen[order], ends)])


def grouped(tables: StudyTables, trials: pd.DataFrame, by: Sequence[str]) -> list[Group]:
    """Return the groups of trials, in the study's order; one group of all without columns."""
    if not by:
        return [_group({}, np.arange(len(trials), dtype=np.int64), trials)]
    keys = sort_by_design(tables, trials[list(by)].drop_duplicates(), by)
    places = trials.groupby(list(by), sort=False).indices
    groups = []
    for row in keys.itertuples(index=False, name=None):
        members = np.asarray(places[row if len(by) > 1 else row[0]], dtype=np.int64)
        groups.append(_group(dict(zip(by, row, strict=True)), members, trials))
    return groups


def _group(key: dict[str, Any], members: IntArray, trials: pd.DataFrame) -> Group:
    codes, tasks = pd.factorize(trials["task"].iloc[members], sort=True)
    return Group(key, members, codes.astype(np.int64), tuple(map(str, tasks)))


def tally(outcomes: Outcomes, group: Group) -> dict[str, FloatArray]:
    """Return each task's sums of one policy: every name that :data:`RATIOS` uses.

    Returns
    -------
    dict of str to numpy.ndarray of float64, shape (tasks,)
        Of work only trials count of which both what was spent and what is avoided is known.
    """
    known, verdict = outcomes.truth.known, outcomes.verdict
    counted: dict[str, BoolArray | FloatArray] = {
        "replayed": outcomes.states.replayed,
        "accepted": outcomes.accepted,
        "known": known,
        "solvable": outcomes.truth.solvable,
        "unsolvable": known & ~outcomes.truth.solvable,
        "false_stop": verdict == FALSE,
        "missed_stop": (verdict == MISSED) | (verdict == OVERRUN),
        "correct_stop": verdict == CORRECT,
        "unsolved_stop": verdict == UNSOLVED,
        "success": outcomes.satisfied_under_policy == 1.0,
    }
    for work in WORK:
        avoided, spent = outcomes.avoided(work), outcomes.spent(work)
        both = ~np.isnan(avoided) & ~np.isnan(spent)
        counted[f"{work}_avoided"] = np.where(both, avoided, 0.0)
        counted[f"{work}_spent"] = np.where(both, spent, 0.0)
    return {name: group.sums(np.asarray(values, dtype=float)) for name, values in counted.items()}


@dataclass(frozen=True)
class Tallies:
    """The sums of several policies over one group's tasks.

    Attributes
    ----------
    group : Group
    sums : dict of str to numpy.ndarray of float64, shape (policies, tasks)
    """

    group: Group
    sums: dict[str, FloatArray]

    @classmethod
    def of(cls, outcomes: Iterable[Outcomes], group: Group) -> Tallies:
        """Count every policy's outcomes."""
        counted = [tally(one, group) for one in outcomes]
        names = counted[0]
        return cls(group, {name: np.stack([one[name] for one in counted]) for name in names})

    def parts(self, ratio: str) -> tuple[FloatArray, FloatArray]:
        """Return the sums above and below, each of shape (policies, tasks)."""
        above, below = RATIOS[ratio]
        return self.sums[above], self.sums[below]

    def estimates(self, ratio: str) -> FloatArray:
        """Return a rate or share of each policy; NaN where nothing is below."""
        above, below = self.parts(ratio)
        return quotient(_row_sums(above), _row_sums(below))

    def resampled(self, ratio: str, draws: IntArray) -> FloatArray:
        """Return it for resampled tasks: shape (resamples, policies)."""
        above, below = (part.T for part in self.parts(ratio))
        return quotient(draws @ above, draws @ below)

    def counts(self, ratio: str) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield for each policy the tasks' events and opportunities, of a rate."""
        above, below = self.parts(ratio)
        for events, chances in zip(above, below, strict=True):
            yield events.astype(np.int64), chances.astype(np.int64)


def quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return above / below, NaN where below is 0."""
    found: FloatArray = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def _row_sums(values: FloatArray) -> FloatArray:
    return np.array([math.fsum(row) for row in values])
