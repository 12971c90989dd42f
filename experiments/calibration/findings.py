"""What the tables show: where a procedure misses its level, and the short tables of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from cells import HOMOGENEOUS, MODELS, OWN

CONFIDENCE, LEVEL, TAIL = 0.95, 0.05, 0.025
ERRORS = 3.0
"""Monte-Carlo standard errors that a share must lie beyond its level to be called a miss."""

Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Promise:
    """What a column of a table must not exceed, or must at least be."""

    column: str
    says: str
    level: float
    least: bool = False

    def missed(self, table: pd.DataFrame) -> pd.Series:
        """Return which rows are beyond the level by more than chance explains."""
        error: float | pd.Series = 1e-12
        if "samples" in table:
            error = ERRORS * np.sqrt(self.level * (1 - self.level) / table["samples"])
        if self.least:
            return table[self.column] < self.level - error
        return table[self.column] > self.level + error

    def worst(self, table: pd.DataFrame) -> pd.Series:
        """Return the row that is furthest on the wrong side."""
        column = table[self.column]
        return table.loc[column.idxmin() if self.least else column.idxmax()]


INTERVAL = (
    Promise("coverage", "covers the truth", CONFIDENCE, least=True),
    Promise("low_above_rate", "lower limit above the truth", TAIL),
    Promise("high_below_rate", "upper limit below the truth", TAIL),
)
BOUND = (Promise("above_rate", "bound above the worst true rate", TAIL),)
PROMISES: dict[str, tuple[Promise, ...]] = {
    "rates": INTERVAL,
    "exact_intervals": INTERVAL,
    "pass_hat_k": INTERVAL,
    "bootstrap": INTERVAL,
    "tests": (Promise("rejected_rate", "rejects a true null", LEVEL),),
    "equivalence": (Promise("equivalent_rate", "wrongly equivalent", LEVEL),),
    "families": (Promise("any_rate", "rejects any true null", LEVEL),),
    "bounds": BOUND,
    "exact_bounds": BOUND,
    "exact_verdicts": (Promise("wrong_rate", "wrong verdict", LEVEL),),
}
WHERE = (
    "model", "effects", "tests", "dependence", "false_nulls", "case", "perturbations", "groups",
    "tasks", "repeats", "trials", "rate", "margin", "k",
)  # fmt: skip

PLAIN = {"model", "tests", "dependence", "case"}
"""Columns whose values need no name before them."""


def summary(tables: Tables) -> pd.DataFrame:
    """Return one row per procedure and promise: how many cells miss it, and the worst cell.

    Cells outside of what a procedure is meant for are counted in rows of their own.
    """
    rows = []
    for name, promises in PROMISES.items():
        table = tables[name]
        meant = table["meant"] if "meant" in table else pd.Series(True, index=table.index)
        for (procedure, inside), part in table.groupby([table["procedure"], meant], sort=False):
            for promise in promises:
                worst = promise.worst(part)
                rows.append(
                    {
                        "table": name,
                        "procedure": procedure,
                        "meant": bool(inside),
                        "promise": promise.says,
                        "level": promise.level,
                        "least": promise.least,
                        "exact": "samples" not in part,
                        "cells": len(part),
                        "missed": int(promise.missed(part).sum()),
                        "mean": float(part[promise.column].mean()),
                        "worst": float(worst[promise.column]),
                        "where": _where(worst),
                    }
                )
    return pd.DataFrame(rows)


def _where(row: pd.Series) -> str:
    """Say in words which cell a row is about."""
    parts = []
    for name in WHERE:
        if name in row.index:
            value = row[name]
            text = f"{value:g}" if isinstance(value, float) else str(value)
            parts.append(text if name in PLAIN else f"{name.replace('_', ' ')} {text}")
    return ", ".join(parts)


def missing(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the summary with a miss where a procedure is meant, the worst first."""
    rows = table[table["meant"] & (table["missed"] > 0)]
    excess = (rows["worst"] - rows["level"]).abs()
    return rows.loc[excess.sort_values(ascending=False, kind="stable").index]


def keeping(table: pd.DataFrame) -> list[str]:
    """Return the procedures that miss nothing that they are meant for, in any table."""
    meant = table[table["meant"]]
    return [
        str(name)
        for name, rows in meant.groupby("procedure", sort=False)
        if (rows["missed"] == 0).all()
    ]


def by_repeats(tables: Tables) -> pd.DataFrame:
    """Return mean coverage of both intervals by the number of repeats, where tasks differ."""
    rates = tables["rates"]
    part = rates[(rates["repeats"] != "unequal") & (rates["model"] != HOMOGENEOUS)]
    means = part.pivot_table(
        "coverage", "repeats", "procedure", aggfunc="mean", sort=False
    ).reset_index()
    return means.rename(columns={"Wilson": "usual", "Wilson, over tasks": "over"})


def by_tasks(tables: Tables) -> pd.DataFrame:
    """Return the headline: both Wilson intervals by model and number of tasks, equal repeats."""
    rates = tables["rates"]
    equal = rates[rates["repeats"] != "unequal"]
    rows = []
    for model in MODELS:
        for tasks in sorted(equal["tasks"].unique()):
            part = equal[(equal["model"] == model) & (equal["tasks"] == tasks)]
            rows.append({"model": model, "tasks": int(tasks), **_two_intervals(part)})
    return pd.DataFrame(rows)


def unequal_sizes(tables: Tables) -> pd.DataFrame:
    """Return the same where tasks have unequal numbers of trials."""
    rates = tables["rates"]
    unequal = rates[rates["repeats"] == "unequal"]
    parts = unequal.groupby(["model", "tasks"], sort=False)
    return pd.DataFrame([{"model": m, "tasks": int(c), **_two_intervals(p)} for (m, c), p in parts])


def by_rate(tables: Tables) -> pd.DataFrame:
    """Return both tails of the interval over tasks by model and true rate: the worst cell."""
    rates = tables["rates"]
    over = rates[(rates["procedure"] == "Wilson, over tasks") & (rates["repeats"] != "unequal")]
    parts = over.groupby(["model", "rate"], sort=False)
    columns = {"low_above": ("low_above_rate", "max"), "high_below": ("high_below_rate", "max")}
    return parts.agg(coverage=("coverage", "min"), **columns).reset_index()


def _two_intervals(part: pd.DataFrame) -> dict[str, float]:
    usual = part[part["procedure"] == "Wilson"]
    over = part[part["procedure"] == "Wilson, over tasks"]
    widths = over["median_width"].to_numpy() / usual["median_width"].to_numpy()
    return {
        "usual_lowest": float(usual["coverage"].min()),
        "usual_mean": float(usual["coverage"].mean()),
        "over_lowest": float(over["coverage"].min()),
        "over_mean": float(over["coverage"].mean()),
        "usual_above": float(usual["low_above_rate"].max()),
        "over_above": float(over["low_above_rate"].max()),
        "over_below": float(over["high_below_rate"].max()),
        "wider": float(np.median(widths)),
    }


def exact_by_size(tables: Tables) -> pd.DataFrame:
    """Return mean and least exact coverage of the intervals for independent trials."""
    rows = []
    for (name, trials), part in tables["exact_intervals"].groupby(
        ["procedure", "trials"], sort=False
    ):
        worst = part.loc[part["coverage"].idxmin()]
        rows.append(
            {
                "procedure": name,
                "trials": int(trials),
                "mean": float(part["coverage"].mean()),
                "lowest": float(worst["coverage"]),
                "at": float(worst["rate"]),
                "low_above": float(part["low_above_rate"].max()),
                "high_below": float(part["high_below_rate"].max()),
            }
        )
    return pd.DataFrame(rows)


ALIKE, DIFFERENT, INTERACTION = (
    "all tasks alike",
    "tasks differ, alike in both arms",
    "each arm its own good and bad tasks",
)
KINDS = (ALIKE, DIFFERENT, INTERACTION)


def null_kinds(tables: Tables) -> pd.DataFrame:
    """Return the cells of the tests with the kind of null hypothesis that each has."""
    tests = tables["tests"]
    kinds = np.where(
        tests["model"] == HOMOGENEOUS,
        ALIKE,
        np.where(tests["effects"] == OWN, INTERACTION, DIFFERENT),
    )
    return tests.assign(kind=kinds)


def by_test(tables: Tables) -> pd.DataFrame:
    """Return mean and largest rejection rate of each test under each kind of null."""
    rows = []
    for (procedure, speaks_of), part in null_kinds(tables).groupby(
        ["procedure", "speaks_of"], sort=False
    ):
        row = {"procedure": procedure, "speaks_of": speaks_of}
        for place, kind in enumerate(KINDS):
            rates = part.loc[part["kind"] == kind, "rejected_rate"]
            row |= {f"mean_{place}": rates.mean(), f"max_{place}": rates.max()}
        rows.append(row)
    return pd.DataFrame(rows)


def largest(table: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """Return mean and largest value of a column in groups."""
    parts = table.groupby(by, sort=False)[column]
    return parts.agg(mean="mean", largest="max").reset_index()


def shape_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return least and mean coverage, and the worst tails, by procedure's k (if any) and tasks."""
    by = [name for name in ("k", "tasks") if name in table]
    columns = {"low_above": ("low_above_rate", "max"), "high_below": ("high_below_rate", "max")}
    parts = table.groupby(by, sort=False)
    found = parts.agg(mean=("coverage", "mean"), lowest=("coverage", "min"), **columns)
    return found.reset_index().sort_values(by)
