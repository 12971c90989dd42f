"""Calls that ended in an error: who made them, how often, and with what message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.behaviour import read_behaviours
from steelyard.analysis.names import Filters, sort_by_design

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

COLUMNS = ("arm", "name", "calls", "failed", "trials", "total", "messages", "example")


def failed_calls(
    tables: StudyTables, *, missing: str | None = None, **filters: Unpack[Filters]
) -> pd.DataFrame:
    """Count the calls that ended in an error, by arm and tool.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per arm and tool with at least one such call, most failures first within an arm:

        - ``arm``, ``name`` of the tool;
        - ``calls`` of it, ``failed`` ones; ``trials`` with at least one that failed, of the
          ``total`` scored trials of the arm;
        - ``messages``: how many different errors; ``example``: the most frequent one, then the
          smallest.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.consensus`.
    """
    scored = read_behaviours(tables, missing=missing, **filters).scored
    steps = tables.frame("steps")
    calls = steps[steps["kind"].eq("tool_call")].merge(scored[["trial_id", "arm"]], on="trial_id")
    made = calls.groupby(["arm", "name"]).size().to_dict()
    totals = scored.groupby("arm").size().to_dict()
    rows = []
    for (arm, name), failed in calls.dropna(subset="error").groupby(["arm", "name"], sort=True):
        messages = failed["error"].value_counts()
        rows.append(
            {
                "arm": arm,
                "name": name,
                "calls": int(made[arm, name]),
                "failed": len(failed),
                "trials": failed["trial_id"].nunique(),
                "total": int(totals[arm]),
                "messages": len(messages),
                "example": min(messages[messages == messages.max()].index),
            }
        )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    falling = frame.sort_values(["failed", "name"], ascending=[False, True], kind="stable")
    return sort_by_design(tables, falling, ["arm"])
