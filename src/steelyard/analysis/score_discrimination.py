"""How well an arm's score tells two kinds of cases apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

import pandas as pd

from steelyard.analysis.names import TrialFilters, resolve_arm
from steelyard.analysis.paired_arms import CASE
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats.discrimination import discrimination

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

COLUMNS: Final = ("score", "score_arm", "label", "label_arm", "tied_scores")


def discriminate(
    tables: StudyTables,
    score: str,
    label: str,
    *,
    arm: str,
    label_arm: str | None = None,
    complete_arm: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Return AUROC and average precision of a score for a 0/1 label, with tasks resampled.

    Parameters
    ----------
    tables : StudyTables
        The study.
    score, label : str
        Measures: a number, higher for "more likely", and 0 or 1.
    arm : str
        The arm whose score it is.
    label_arm : str, optional
        The arm whose label it is; ``arm`` when absent. The two are matched by case.
    complete_arm : str, optional
        Only cases that this arm completed.
    confidence, n_resamples, seed
        Of the bootstrap over tasks.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row: ``score``, ``score_arm``, ``label``, ``label_arm``, ``tied_scores`` (cases whose
        score another case has too) and the fields of
        :class:`steelyard.stats.discrimination.Discrimination`.

    Raises
    ------
    InputError
        When no case has both, or an arm is no text.
    UnknownNameError
        For a name that the study does not hold.
    """
    arm = resolve_arm(tables, arm)
    owner = arm if label_arm is None else resolve_arm(tables, label_arm)
    keys = list(CASE)
    left = select(tables, score, "recorded", arm=arm, binary=False, **filters)
    right = select(tables, label, "recorded", arm=owner, **filters)
    cases = left[[*keys, "value"]].merge(
        right[[*keys, "value"]], on=keys, suffixes=("_score", "_label"), validate="1:1"
    )
    if complete_arm is not None:
        done = select(tables, label, "recorded", arm=complete_arm, **filters)
        cases = cases.merge(done.loc[done["status"].eq("completed"), keys], on=keys)
    cases = cases.dropna().sort_values(keys)
    if cases.empty:
        raise InputError(f"no case has both {score!r} of {arm!r} and {label!r} of {owner!r}")
    found = discrimination(
        cases["value_score"],
        cases["value_label"],
        cases["task"],
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
    )
    tied = int(cases["value_score"].duplicated(keep=False).sum())
    head = dict(zip(COLUMNS, (score, arm, label, owner, tied), strict=True))
    return pd.DataFrame([head | found.to_row()])
