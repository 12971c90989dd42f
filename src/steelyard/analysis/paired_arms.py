"""Two arms on the same cases: what they did differently, case by case and task by task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.denominators import strata
from steelyard.analysis.names import (
    TrialFilters,
    resolve_arms,
    resolve_by,
    resolve_measure,
    resolve_policy,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import clustered_mean_interval, family_size, holm, mcnemar, sign_flip

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

CASE: Final = ("task", "perturbation", "variant", "repeat")
"""What makes two trials of different arms the same case."""

COLUMNS: Final = (
    "reference",
    "candidate",
    "measure",
    "missing_policy",
    "pairs",
    "unpaired",
    "both",
    "reference_only",
    "candidate_only",
    "neither",
    "difference",
    "clustered_low",
    "clustered_high",
    "level",
    "p_mcnemar",
    "p_mcnemar_mid",
    "tasks",
    "tasks_differing",
    "p_sign_flip",
    "p_adjusted",
    "family_size",
)


_COUNTS: Final = (
    "pairs",
    "both",
    "reference_only",
    "candidate_only",
    "neither",
    "tasks",
    "tasks_differing",
)
_NUMBERS: Final = (
    "difference",
    "clustered_low",
    "clustered_high",
    "p_mcnemar",
    "p_mcnemar_mid",
    "p_sign_flip",
)
"""What a stratum without a pair has none of."""


def paired(
    tables: StudyTables,
    reference: str | Sequence[str],
    candidate: str | Sequence[str],
    measure: str | None = None,
    *,
    by: str | Sequence[str] = (),
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Compare arms on the same cases: discordant pairs, exact McNemar, and a test over tasks.

    Two trials are a pair when they agree in task, perturbation, variant and repeat. McNemar's
    test takes the pairs as independent; where several cases come from one task they are not, and
    the sign-flip test over the tasks' summed differences is the one to read.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference, candidate : str or sequence of str
        Arms; every reference is compared with every candidate, an arm never with itself.
    measure : str, optional
        A measure of 0 and 1; the study's primary measure when absent.
    by : str or sequence of str, default ()
        Strata, of perturbation, task, variant and repeat.
    missing : {"exclude", "fail", "recorded"}, optional
        What becomes of a trial without a score; the study's declared policy when absent.
    confidence : float, default 0.95
        Of the interval of the difference, which has the task as its unit.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per stratum and pair of arms: the ``by`` columns, ``reference``, ``candidate``,
        ``measure``, ``missing_policy``; ``pairs`` and ``unpaired`` (cases that only one of the
        arms has a value for); the pairs by outcome: ``both``, ``reference_only``,
        ``candidate_only``, ``neither``; ``difference`` of the rates, candidate minus reference,
        with ``clustered_low``, ``clustered_high`` and ``level``; ``p_mcnemar`` (exact) and
        ``p_mcnemar_mid``; ``tasks``, ``tasks_differing`` and ``p_sign_flip`` over them;
        ``p_adjusted`` (Holm, of ``p_mcnemar`` where every task has one case, else of
        ``p_sign_flip``) and its ``family_size``. A stratum without a pair has no difference and
        no p-value, and is no part of the family.

    Raises
    ------
    InputError
        For the policy ``bounds``, a grouping by arm, an arm that is no text, or when there is no
        pair at all.
    UnknownNameError
        For a name that the study does not hold.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.
    """
    name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
    columns = resolve_by(by)
    if "arm" in columns or "arm" in filters:
        raise InputError("reference= and candidate= name the arms; do not group or filter by arm")
    if policy == "bounds":
        raise InputError("pairs have one value each; accepted policies: exclude, fail, recorded")
    rows: list[dict[str, Any]] = []
    references = resolve_arms(tables, "reference", reference)
    candidates = resolve_arms(tables, "candidate", candidate)
    for left in references:
        for right in candidates:
            if left != right:
                pairs = case_pairs(tables, left, right, name, policy, **filters)
                head = {"reference": left, "candidate": right, "measure": name}
                rows += _rows(pairs, columns, head | {"missing_policy": policy}, confidence)
    if not rows:
        raise InputError("no two different arms to compare")
    if not any(row["pairs"] for row in rows):
        raise InputError("no case has a value for both arms; widen the filters")
    return _adjusted(pd.DataFrame(rows))[[*columns, *COLUMNS]]


def case_pairs(
    tables: StudyTables,
    reference: str,
    candidate: str,
    measure: str,
    policy: str,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Return one row per case of either arm, with the value of each; NaN where it has none.

    Parameters
    ----------
    tables : StudyTables
    reference, candidate, measure, policy : str
    **filters
        As :func:`paired`.

    Returns
    -------
    pandas.DataFrame
        ``task``, ``perturbation``, ``variant``, ``repeat``, ``reference``, ``candidate``, sorted by
        case.
    """
    sides = []
    for role, arm in (("reference", reference), ("candidate", candidate)):
        trials = select(tables, measure, policy, arm=arm, **filters)
        sides.append(trials.set_index(list(CASE))["value"].rename(role))
    return pd.concat(sides, axis=1).sort_index().reset_index()


def _rows(
    pairs: pd.DataFrame, columns: tuple[str, ...], head: dict[str, Any], confidence: float
) -> list[dict[str, Any]]:
    return [
        place | head | _compared(part, confidence)
        for place, part in strata(pairs, columns, sort=True)
    ]


def _compared(part: pd.DataFrame, confidence: float) -> dict[str, Any]:
    complete = part.dropna(subset=["reference", "candidate"])
    if complete.empty:
        counts = dict.fromkeys(_COUNTS, 0) | {"unpaired": len(part), "level": confidence}
        return dict.fromkeys(_NUMBERS, np.nan) | counts
    one = complete["reference"].to_numpy(dtype=float)
    other = complete["candidate"].to_numpy(dtype=float)
    test = mcnemar(int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum()))
    # Sums and not means: their total is the pooled difference that stands beside the p-value.
    by_task = (complete["candidate"] - complete["reference"]).groupby(complete["task"]).sum()
    over_tasks = sign_flip(by_task.to_numpy())
    interval = clustered_mean_interval(other - one, complete["task"], confidence)
    return {
        "pairs": len(complete),
        "unpaired": len(part) - len(complete),
        "both": int(((one == 1) & (other == 1)).sum()),
        "reference_only": test.b,
        "candidate_only": test.c,
        "neither": int(((one == 0) & (other == 0)).sum()),
        "difference": float(np.mean(other - one)),
        "clustered_low": interval.low,
        "clustered_high": interval.high,
        "level": confidence,
        "p_mcnemar": test.exact,
        "p_mcnemar_mid": test.mid_p,
        "tasks": len(by_task),
        "tasks_differing": over_tasks.n_nonzero,
        "p_sign_flip": over_tasks.p_value,
    }


def _adjusted(table: pd.DataFrame) -> pd.DataFrame:
    alone = table["pairs"].eq(table["tasks"]).all()
    p_values = table["p_mcnemar" if alone else "p_sign_flip"].to_numpy()
    return table.assign(p_adjusted=holm(p_values), family_size=family_size(p_values))
