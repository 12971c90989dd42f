"""How many trials a result rests on, and the trials of each group as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

STANDINGS: Final = (
    "scored",
    "failed",
    "missing",
    "unmeasured",
    "not_applied",
    "applied_unknown",
)
"""What one trial is to a question; exactly one of these per trial (``select`` says which)."""

COUNTS: Final = ("intended", "scored", "imputed", "excluded", *STANDINGS[1:])


def count_trials(trials: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Count intended, scored and excluded trials of each group.

    Parameters
    ----------
    trials : pandas.DataFrame
        A result of :func:`steelyard.analysis.selection.select`.
    by : sequence of str
        Columns that define the groups; empty for one group of all trials.

    Returns
    -------
    pandas.DataFrame
        The ``by`` columns, then ``intended`` (trials the design assigned to the group),
        ``scored`` (those whose value comes from the table), ``imputed`` (those without a score
        that the policy counts all the same), ``excluded`` (those left out of the denominator),
        and what became of the trials that were not scored: ``failed``, ``missing``,
        ``unmeasured``, ``not_applied``, ``applied_unknown``. Always intended = scored + imputed +
        excluded, and the last five add up to intended - scored. Groups keep the order in which
        they appear in ``trials``.
    """
    flags = {name: trials["standing"].eq(name).to_numpy(dtype=np.int64) for name in STANDINGS}
    counted = trials["value"].notna().to_numpy()
    flags["intended"] = np.ones(len(trials), dtype=np.int64)
    flags["imputed"] = (counted & (flags["scored"] == 0)).astype(np.int64)
    flags["excluded"] = (~counted).astype(np.int64)
    table = pd.DataFrame({name: flags[name] for name in COUNTS}, index=trials.index)
    if not by:
        return table.sum().to_frame().T
    keys = [trials[column] for column in by]
    return table.groupby(keys, sort=False).sum().reset_index()


def cases(trials: pd.DataFrame, missing: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the case or cases that a missing policy asks to be shown.

    Parameters
    ----------
    trials : pandas.DataFrame
        A result of :func:`steelyard.analysis.selection.select`.
    missing : str
        The policy it was selected with.

    Yields
    ------
    tuple of (str, pandas.DataFrame)
        ``("worst", trials)`` and ``("best", trials)`` under ``bounds``, with the case's outcome
        in the column ``value``; ``("observed", trials)`` under every other policy.
    """
    if missing != "bounds":
        yield "observed", trials
        return
    yield "worst", trials
    yield "best", trials.assign(value=trials["best"])


def strata(
    frame: pd.DataFrame, by: Sequence[str], *, sort: bool = False
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the rows of each group with the group's values of the ``by`` columns.

    Parameters
    ----------
    frame : pandas.DataFrame
    by : sequence of str
        Columns that define the groups; empty for one group of all rows.
    sort : bool, default False
        Whether groups come by their values; otherwise in the order in which they appear.

    Yields
    ------
    tuple of (dict of str to value, pandas.DataFrame)
    """
    if not by:
        yield {}, frame
        return
    for key, part in frame.groupby(list(by), sort=sort):
        yield dict(zip(by, key, strict=True)), part


@dataclass(frozen=True)
class Counted:
    """The trials of one group that its denominator counts, as arrays of one length.

    Attributes
    ----------
    key : tuple
        The group's values of the ``by`` columns.
    outcomes : numpy.ndarray of float64
    tasks : numpy.ndarray of str
    repeats : numpy.ndarray of int
    n_tasks : int
        Tasks of the group, those without a counted trial included.
    """

    key: tuple[Any, ...]
    outcomes: npt.NDArray[np.float64]
    tasks: npt.NDArray[Any]
    repeats: npt.NDArray[Any]
    n_tasks: int


def counted_groups(trials: pd.DataFrame, by: Sequence[str]) -> Iterator[Counted]:
    """Yield the counted trials of every group, in the order of :func:`count_trials`.

    A group without any counted trial is yielded too, with empty arrays.
    """
    if not len(trials):
        return
    codes: npt.NDArray[Any] = np.zeros(len(trials), dtype=np.int64)
    if by:
        codes = trials.groupby(list(by), sort=False).ngroup().to_numpy()
    # Whole columns are cut at once: slicing a frame per group costs more than the statistics do.
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    starts = order[np.concatenate([[0], cuts])]
    columns = [trials[name].to_numpy()[order] for name in ("value", "task", "repeat")]
    # pandas 3.0 has no rows where there are no columns
    heads = trials[list(by)].iloc[starts].itertuples(index=False, name=None) if by else [()]
    pieces = zip(*(np.split(column, cuts) for column in columns), strict=True)
    for key, (values, tasks, repeats) in zip(heads, pieces, strict=True):
        kept = ~np.isnan(values)
        n_tasks = len(set(tasks))
        yield Counted(key, values[kept], tasks[kept], repeats[kept], n_tasks)
