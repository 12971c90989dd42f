"""In which gates arms come out differently from a reference arm, on the same cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.gates import CASE, check_arm, gate_values
from steelyard.errors import InputError
from steelyard.stats import (
    clustered_difference,
    family_size,
    holm,
    mcnemar,
    sign_flip,
    task_differences,
)

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

VIEWS: Final = ("gate", "arm")
FAMILIES: Final = ("arm", "all")


def gate_divergence(
    tables: StudyTables,
    reference: str,
    gates: Sequence[str] | None = None,
    *,
    by: str = "gate",
    family: str = "arm",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Compare every arm with a reference arm at every gate, pair by pair.

    Two trials are a pair when they agree in task, perturbation, variant and repeat and the gate was
    evaluated in both.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference : str
        The arm that the others are held against.
    gates : sequence of str, optional
        Measures of 0 and 1; the study's gates when absent.
    by : {"gate", "arm"}, default "gate"
        A row per arm and gate, or one per arm that sums its gates up.
    family : {"arm", "all"}, default "arm"
        Which tests are adjusted together: those of an arm, or all.
    confidence : float, default 0.95

    Returns
    -------
    pandas.DataFrame
        By gate: ``arm``, ``gate``, ``pairs``, ``one_sided`` (pairs of trials of which only one was
        evaluated), ``both_pass``, ``reference_only``, ``candidate_only``, ``both_fail``;
        ``difference`` of the pass rates, this arm minus the reference, with ``low``, ``high`` and
        ``level`` (paired t over tasks, `steelyard.stats.clustered_difference`; NaN with fewer than
        two tasks); ``tasks``, ``tasks_differing``; ``p_mcnemar``, ``p_sign_flip``, ``p_adjusted``
        (Holm, of ``p_sign_flip``) and ``family_size``; ``kappa`` (Cohen). NaN without a pair.

        By arm: ``arm``, ``gates`` with a pair, ``gates_differing`` (with a discordant pair),
        ``pairs``, ``discordant``, ``one_sided``, ``p_adjusted`` (the least) and ``family_size``.

    Raises
    ------
    UnknownNameError
        No such arm or measure.
    InputError
        ``by`` or ``family`` is another word, a gate is not 0 or 1, or there is no pair of trials.

    Notes
    -----
    McNemar's test takes pairs as independent. Repeats of a task are not, and copies would only
    multiply the evidence; so a task counts once, as discordant in the direction of its mean
    difference. The sign-flip test takes the sizes of these differences too. Where all repeats of a
    task agree, as where there is one, both are the same test.

    Kappa is 1 - (1 - p_o)/(1 - p_e), with p_o the share of pairs that agree and p_e the share
    that would with independent verdicts of the same rates. It is NaN where p_e = 1: both arms have
    one verdict throughout, and it is the same. It is 0 whenever one arm has one verdict throughout
    and the other has not, however often they agree, so that against a faultless reference it says
    nothing more.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91. Cohen (1960),
    Educational and Psychological Measurement 20:37-46.
    """
    check_arm(tables, reference)
    for name, value, accepted in (("by", by, VIEWS), ("family", family, FAMILIES)):
        if value not in accepted:
            raise InputError(f"{name} is {value!r}; accepted: {', '.join(accepted)}")
    frame = pd.DataFrame(
        [
            {"arm": arm, "gate": gate, **_compared(part, confidence)}
            for arm, gate, part in _paired(gate_values(tables, gates), reference)
        ]
    )
    if frame.empty:
        raise InputError(f"no trial of another arm has a pair of arm {reference!r}")
    frame = _adjusted(frame, family)
    return frame if by == "gate" else _summed(frame)


def _paired(values: pd.DataFrame, reference: str) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield every other arm and gate, in their orders, with the two values of each pair."""
    own = values[values["arm"] == reference][["measure", *CASE, "value"]]
    others = values[values["arm"] != reference]
    pairs = others.merge(own, on=["measure", *CASE], suffixes=("", "_reference"))
    for arm in others["arm"].cat.categories:
        mine = pairs[pairs["arm"] == arm]
        for gate, part in mine.groupby("measure", sort=True, observed=True):
            yield str(arm), str(gate), part


def _compared(part: pd.DataFrame, confidence: float) -> dict[str, Any]:
    # Arrays and not frames: there are arms times gates of these.
    own = part["value_reference"].to_numpy(dtype=float)
    other = part["value"].to_numpy(dtype=float)
    known, one_sided = ~np.isnan(own) & ~np.isnan(other), np.isnan(own) != np.isnan(other)
    own, other, tasks = own[known], other[known], part["task"].to_numpy()[known]
    counts = {
        "both_pass": int(((own == 1) & (other == 1)).sum()),
        "reference_only": int(((own == 1) & (other == 0)).sum()),
        "candidate_only": int(((own == 0) & (other == 1)).sum()),
        "both_fail": int(((own == 0) & (other == 0)).sum()),
    }
    return {
        "pairs": len(own),
        "one_sided": int(one_sided.sum()),
        **counts,
        **_tested(own, other, tasks, confidence),
        "kappa": _kappa(*counts.values()),
    }


def _tested(
    own: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    tasks: npt.NDArray[Any],
    confidence: float,
) -> dict[str, Any]:
    interval = clustered_difference(own, tasks, other, tasks, confidence)
    row: dict[str, Any] = {
        "difference": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "level": confidence,
        "tasks": interval.n_clusters,
        "tasks_differing": 0,
        "p_mcnemar": math.nan,
        "p_sign_flip": math.nan,
    }
    if not len(own):
        return row
    by_task = task_differences(own, tasks, other, tasks).differences
    worse, better = int((by_task < 0).sum()), int((by_task > 0).sum())
    return row | {
        "tasks_differing": worse + better,
        "p_mcnemar": mcnemar(worse, better).exact,
        "p_sign_flip": sign_flip(by_task).p_value,
    }


def _kappa(both_pass: int, reference_only: int, candidate_only: int, both_fail: int) -> float:
    """Return Cohen's kappa of a two-by-two table; NaN without a pair or with one verdict only."""
    total = both_pass + reference_only + candidate_only + both_fail
    passes = (both_pass + reference_only) * (both_pass + candidate_only)
    fails = (both_fail + candidate_only) * (both_fail + reference_only)
    if passes + fails == total * total:
        return math.nan
    # 1 - (1 - p_o)/(1 - p_e), in whole numbers up to the one division
    apart = (reference_only + candidate_only) * total
    return 1.0 - apart / (total * total - passes - fails)


def _adjusted(frame: pd.DataFrame, family: str) -> pd.DataFrame:
    groups = frame["arm"] if family == "arm" else pd.Series("all", index=frame.index)
    adjusted = pd.Series(np.nan, index=frame.index)
    sizes = pd.Series(0, index=frame.index)
    for _, p_values in frame["p_sign_flip"].groupby(groups):
        adjusted[p_values.index] = holm(p_values.to_numpy())
        sizes[p_values.index] = family_size(p_values.to_numpy())
    frame = frame.assign(p_adjusted=adjusted, family_size=sizes)
    return frame[[*(name for name in frame.columns if name != "kappa"), "kappa"]]


def _summed(frame: pd.DataFrame) -> pd.DataFrame:
    discordant = frame["reference_only"] + frame["candidate_only"]
    frame = frame.assign(discordant=discordant)
    rows = []
    for arm, part in frame.groupby("arm", sort=False):
        rows.append(
            {
                "arm": arm,
                "gates": int((part["pairs"] > 0).sum()),
                "gates_differing": int((part["discordant"] > 0).sum()),
                "pairs": int(part["pairs"].sum()),
                "discordant": int(part["discordant"].sum()),
                "one_sided": int(part["one_sided"].sum()),
                "p_adjusted": float(part["p_adjusted"].min()),
                "family_size": int(part["family_size"].iloc[0]),
            }
        )
    return pd.DataFrame(rows)
