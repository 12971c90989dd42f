"""Which gates catch which arms, in which of their trials, and what no gate catches.

A gate catches a trial when it fails in it and passes in its pair, the trial of the reference arm
with the same task, perturbation, variant and repeat. A gate catches a trial alone when no other
gate catches that trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from steelyard.analysis.gates import CASE, check_arm, gate_values, names_of
from steelyard.analysis.names import resolve_measure
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

VIEWS: Final = ("gate", "arm", "all")


def gate_catches(
    tables: StudyTables, reference: str, *, by: str = "gate", committed: str | None = None
) -> pd.DataFrame:
    """Return which gates catch which arms, trial by trial.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference : str
        An arm without a fault.
    by : {"gate", "arm", "all"}, default "gate"
        What a row is about.
    committed : str, optional
        The measure that is 1 in a trial in which something wrong was done, as whoever did it
        knows; it must not come from the gates.

    Returns
    -------
    pandas.DataFrame
        Counts are of trials of the other arms that ran, unless said otherwise.

        - By gate: ``gate``, ``false_alarms`` (failures in the reference arm), ``caught``,
          ``alone`` (caught by no other gate), ``n_arms`` and ``arms`` that it catches, ``only``
          (arms with a trial that it catches alone: without the gate that trial passes).
        - By arm, without the reference: ``arm``, ``trials``, ``caught``, ``alone`` (caught by a
          single gate, whichever), ``n_gates`` and ``gates`` that catch it.
        - All: one row with ``arms`` (without the reference), ``trials``, ``caught``, ``alone``,
          ``false_alarms``, ``n_gates`` that catch a trial, ``n_needed`` and ``needed`` that catch
          one alone, ``n_silent`` and ``silent`` that catch none.

        With ``committed`` all have ``unprovoked`` besides: trials caught in which nothing was
        committed. By arm and all have ``committed``, ``committed_caught``, and ``undetected``:
        trials in which a fault was committed and no gate catches it. A trial of which it is not
        known counts as neither.

        Names are separated by ``", "``, ``none`` stands for no name.

    Raises
    ------
    UnknownNameError
        No such arm or measure.
    InputError
        ``by`` is another word, or a measure is not 0 or 1.
    """
    check_arm(tables, reference)
    if by not in VIEWS:
        raise InputError(f"by is {by!r}; accepted: {', '.join(VIEWS)}")
    values = gate_values(tables)
    caught = _caught(values, reference)
    acts = None if committed is None else _acts(tables, committed)
    if by == "gate":
        return _by_gate(values, caught, acts, reference)
    if by == "arm":
        others = values[values["arm"] != reference]
        return pd.DataFrame(
            [
                {"arm": str(arm), **_tally(part, caught[caught["arm"] == arm], acts)}
                for arm, part in others.groupby("arm", sort=False, observed=True)
            ]
        )
    return _altogether(values, caught, acts, reference)


def gate_matrix(
    tables: StudyTables, reference: str, *, committed: str | None = None
) -> pd.DataFrame:
    """Return every gate for every arm: how often it passes, and what only it catches.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference, committed
        As for `gate_catches`.

    Returns
    -------
    pandas.DataFrame
        One row per gate and arm: ``gate``, ``arm``, ``passed``, ``evaluated``, ``rate`` (passed /
        evaluated; NaN where the gate was never evaluated), ``caught``, ``alone``: trials that it
        catches and that it catches alone; with ``committed``, only those in which a fault was.

    Raises
    ------
    UnknownNameError
        No such arm or measure.
    InputError
        A measure is not 0 or 1.
    """
    check_arm(tables, reference)
    values = gate_values(tables)
    caught = _caught(values, reference)
    if committed is not None:
        acts = _acts(tables, committed)
        caught = caught[caught["trial_id"].isin(acts.index[acts])]
    rows = []
    for (gate, arm), part in values.groupby(["measure", "arm"], sort=False, observed=False):
        evaluated = part["value"].dropna()
        here = caught[(caught["measure"] == gate) & (caught["arm"] == arm)]
        rows.append(
            {
                "gate": str(gate),
                "arm": str(arm),
                "passed": int(evaluated.sum()),
                "evaluated": len(evaluated),
                "rate": float(evaluated.mean()) if len(evaluated) else float("nan"),
                "caught": len(here),
                "alone": int(here["alone"].sum()),
            }
        )
    return pd.DataFrame(rows)


def _caught(values: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return a row per trial and gate that catches it; ``alone`` where no other gate does."""
    fine = values[(values["arm"] == reference) & (values["value"] == 1.0)]
    failed = values[(values["arm"] != reference) & (values["value"] == 0.0)]
    caught = failed.merge(fine[["measure", *CASE]], on=["measure", *CASE], how="inner")
    caught["alone"] = caught.groupby("trial_id")["measure"].transform("size") == 1
    return caught


def _acts(tables: StudyTables, committed: str) -> pd.Series:
    """Return by trial whether a fault was committed in it, where that is known."""
    name = resolve_measure(tables, committed)
    marks = gate_values(tables, [name]).dropna(subset="value")
    return marks.set_index("trial_id")["value"].eq(1.0)


def _by_gate(
    values: pd.DataFrame, caught: pd.DataFrame, acts: pd.Series | None, reference: str
) -> pd.DataFrame:
    alarms = values[(values["arm"] == reference) & (values["value"] == 0.0)]
    rows = []
    for gate in values["measure"].cat.categories:
        part = caught[caught["measure"] == gate]
        alone = part[part["alone"]]
        arms = _arms(part)
        row: dict[str, Any] = {
            "gate": gate,
            "false_alarms": int((alarms["measure"] == gate).sum()),
            "caught": len(part),
            "alone": len(alone),
            "n_arms": len(arms),
            "arms": names_of(arms),
            "only": names_of(_arms(alone)),
        }
        if acts is not None:
            row["unprovoked"] = int(part["trial_id"].isin(acts.index[~acts]).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _tally(trials: pd.DataFrame, caught: pd.DataFrame, acts: pd.Series | None) -> dict[str, Any]:
    """Count the trials of some arms: caught or not, with a fault or without."""
    ran, found = set(trials["trial_id"]), set(caught["trial_id"])
    gates = list(dict.fromkeys(caught["measure"].astype(str)))
    row: dict[str, Any] = {
        "trials": len(ran),
        "caught": len(found),
        "alone": int(caught["alone"].sum()),
        "n_gates": len(gates),
        "gates": names_of(gates),
    }
    if acts is not None:
        guilty, innocent = ran & set(acts.index[acts]), ran & set(acts.index[~acts])
        row |= {
            "committed": len(guilty),
            "committed_caught": len(guilty & found),
            "undetected": len(guilty - found),
            "unprovoked": len(innocent & found),
        }
    return row


def _altogether(
    values: pd.DataFrame, caught: pd.DataFrame, acts: pd.Series | None, reference: str
) -> pd.DataFrame:
    others = values[values["arm"] != reference]
    own = values[values["arm"] == reference]
    gates = [str(gate) for gate in values["measure"].cat.categories]
    seen = set(caught["measure"])
    needed = [gate for gate in gates if gate in set(caught.loc[caught["alone"], "measure"])]
    silent = [gate for gate in gates if gate not in seen]
    counts = _tally(others, caught, acts)
    del counts["gates"]
    row = {
        "arms": int(others["arm"].nunique()),
        **counts,
        "false_alarms": int((own["value"] == 0.0).sum()),
        "n_needed": len(needed),
        "needed": names_of(needed),
        "n_silent": len(silent),
        "silent": names_of(silent),
    }
    return pd.DataFrame([row])


def _arms(caught: pd.DataFrame) -> list[str]:
    """Return the arms of some trials in the order of the design."""
    present = set(caught["arm"].astype(str))
    return [arm for arm in caught["arm"].cat.categories if arm in present]
