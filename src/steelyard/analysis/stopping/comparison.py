"""Two policies on the same trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import Filters, resolve_by
from steelyard.analysis.stopping.outcomes import FALSE, MISSED, OVERRUN, WORK, Outcomes, Truth
from steelyard.analysis.stopping.places import FloatArray
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.analysis.stopping.summary import read_policies
from steelyard.analysis.stopping.tally import Group, grouped
from steelyard.evaluators.bound.stop_policy import StopPolicy
from steelyard.stats import clustered_mean_interval, family_size, holm, mcnemar, sign_flip

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def compare_policies(
    tables: StudyTables,
    reference: StopPolicy | Mapping[str, Any],
    candidate: StopPolicy | Mapping[str, Any],
    *,
    by: str | Sequence[str] = (),
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Compare two policies trial by trial.

    Both replay the same trials, so every trial is its own control. McNemar's test takes the
    trials as independent; several trials of one task are not, and the sign-flip test over the
    tasks' mean differences is the one to read.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference, candidate : StopPolicy or mapping
        Two policies of different names.
    by : str or sequence of str, default ()
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    truth, outcome
        As :func:`steelyard.analysis.stopping.stop_points`.
    confidence : float, default 0.95
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group and quantity: the ``by`` columns, ``reference``, ``candidate``,
        ``quantity`` (``accepted``; ``success``: satisfied where the policy ends;
        ``false_stop``, ``missed_stop``: of the solvable trials; ``steps_avoided``,
        ``tool_calls_avoided``, ``tokens_avoided``, ``seconds_avoided``: per trial); ``pairs``,
        ``unpaired`` (trials of the group without both values); ``reference_value``,
        ``candidate_value`` (means); ``difference``, candidate minus reference, with ``low``,
        ``high`` (t over tasks) and ``level``; for yes and no quantities ``reference_only``,
        ``candidate_only`` (trials) and ``p_mcnemar`` (exact), NA and NaN for amounts;
        ``n_clusters``, ``tasks_differing``, ``p_sign_flip``; ``p_adjusted`` (Holm over all rows'
        ``p_sign_flip``) and its ``family_size``. Without a pair every number is missing, and the
        row is no part of the family: so it is for a counter that no state recorded. A kind of
        work that grows with another in every state, as tool calls do where each step is one, is
        the same test: it counts once, and both rows have its adjusted value.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; also for two policies of one name.
    """
    columns = resolve_by(by)
    one, other = read_policies([reference, candidate])
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay, worth = Replay(states), Truth(states)
    stopped = [Outcomes(states, worth, replay.stops(policy)) for policy in (one, other)]
    before, after = map(_values, stopped)
    tasks = states.trials["task"].to_numpy()
    rows = [
        group.key | {"reference": one.name, "candidate": other.name} | row
        for group in grouped(tables, states.trials, columns)
        for row in _compared(before, after, group, tasks, confidence)
    ]
    table = pd.DataFrame(rows).astype({"reference_only": "Int64", "candidate_only": "Int64"})
    return _adjusted(table, _counted_alike(stopped[0]))[[*columns, *_COLUMNS]]


_COLUMNS: Final = (
    "reference",
    "candidate",
    "quantity",
    "pairs",
    "unpaired",
    "reference_value",
    "candidate_value",
    "difference",
    "low",
    "high",
    "level",
    "reference_only",
    "candidate_only",
    "p_mcnemar",
    "n_clusters",
    "tasks_differing",
    "p_sign_flip",
    "p_adjusted",
    "family_size",
)
_YES_OR_NO: Final = ("accepted", "success", "false_stop", "missed_stop")
_QUANTITIES: Final = (*_YES_OR_NO, *(f"{work}_avoided" for work in WORK))


def _counted_alike(outcomes: Outcomes) -> dict[str, str]:
    """Return the quantities of work that are an earlier one under another name.

    Decided by the counters, whatever the policies make of them: two kinds are alike when the
    same is left to do of both in every state of every replayed trial.
    """
    left: dict[str, FloatArray] = {}
    alike: dict[str, str] = {}
    for work in WORK:
        amount = outcomes.left(work)
        twin = next((name for name in left if np.array_equal(left[name], amount)), None)
        if twin is not None:
            alike[f"{work}_avoided"] = f"{twin}_avoided"
        elif amount.size and not np.isnan(amount).any():  # what was not recorded is like nothing
            left[work] = amount
    return alike


def _adjusted(table: pd.DataFrame, alike: Mapping[str, str]) -> pd.DataFrame:
    """Adjust the p-values of one family, in which tests that are the same count once."""
    is_twin = table["quantity"].isin(alike)
    p_values = table["p_sign_flip"].mask(is_twin).to_numpy(dtype=float)
    adjusted = holm(p_values)
    by_group = adjusted.reshape(-1, len(_QUANTITIES))  # a view: each group has every quantity
    for name, twin in alike.items():
        by_group[:, _QUANTITIES.index(name)] = by_group[:, _QUANTITIES.index(twin)]
    return table.assign(p_adjusted=adjusted, family_size=family_size(p_values))


def _values(outcomes: Outcomes) -> dict[str, FloatArray]:
    """Return a value per trial of each quantity, NaN where the trial has none."""
    verdict, solvable = outcomes.verdict, outcomes.truth.solvable
    replayed = outcomes.states.replayed
    yes = {
        "accepted": (outcomes.accepted, replayed),
        "false_stop": (verdict == FALSE, solvable),
        "missed_stop": ((verdict == MISSED) | (verdict == OVERRUN), solvable),
    }
    values = {name: np.where(among, event, np.nan) for name, (event, among) in yes.items()}
    values["success"] = outcomes.satisfied_under_policy
    return values | {f"{work}_avoided": outcomes.avoided(work) for work in WORK}


def _compared(
    reference: Mapping[str, FloatArray],
    candidate: Mapping[str, FloatArray],
    group: Group,
    tasks: Any,
    confidence: float,
) -> Iterator[dict[str, Any]]:
    for quantity in _QUANTITIES:
        one, other = reference[quantity][group.members], candidate[quantity][group.members]
        paired = ~np.isnan(one) & ~np.isnan(other)
        pairs = int(paired.sum())
        head = {"quantity": quantity, "pairs": pairs, "unpaired": len(one) - pairs}
        yield (
            head
            | {"level": confidence}
            | _tested(
                one[paired],
                other[paired],
                tasks[group.members][paired],
                confidence,
                yes_or_no=quantity in _YES_OR_NO,
            )
        )


def _tested(
    one: FloatArray, other: FloatArray, tasks: Any, confidence: float, *, yes_or_no: bool
) -> dict[str, Any]:
    names = ("reference_value", "candidate_value", "difference", "low", "high")
    found: dict[str, Any] = dict.fromkeys((*names, "p_mcnemar", "p_sign_flip"), np.nan)
    found |= {"reference_only": pd.NA, "candidate_only": pd.NA}
    found |= {"n_clusters": 0, "tasks_differing": 0}
    if not len(one):
        return found
    interval = clustered_mean_interval(other - one, tasks, confidence)
    means = pd.Series(other - one).groupby(pd.Series(tasks), sort=True).mean()
    over_tasks = sign_flip(means.to_numpy())
    found |= {
        "reference_value": float(np.mean(one)),
        "candidate_value": float(np.mean(other)),
        "difference": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n_clusters": interval.n_clusters,
        "tasks_differing": over_tasks.n_nonzero,
        "p_sign_flip": over_tasks.p_value,
    }
    if yes_or_no:
        test = mcnemar(
            int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
        )
        found |= {"reference_only": test.b, "candidate_only": test.c, "p_mcnemar": test.exact}
    return found
