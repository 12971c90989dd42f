"""Checks of trials without a result: how many there are, and whether chance spread them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    Verdict,
    p_text,
    percent,
    plural,
    quoted,
    ratio,
)
from steelyard.analysis.evidence import Evidence
from steelyard.stats import exact_permutation, holm

SMALL_LOSS: Final = 0.05
LARGE_LOSS: Final = 0.20
"""Shares of trials without a result that hardly matter, and that endanger any conclusion: the
rule of five and twenty of clinical trials (Schulz and Grimes 2002, *Lancet* 359:781)."""

SIGNIFICANT: Final = 0.05


def missing_trials(evidence: Evidence) -> Iterator[Finding]:
    """Demand that every intended trial has a result.

    A trial that errored or never ran is neither a success nor a failure. Up to 5 % of an arm's
    trials without a result pass, up to 20 % ask for caution, more fail. An arm or perturbation
    that is declared and of which the tables hold no trial at all fails.
    """
    yield from _without_trials(evidence)
    trials = evidence.trials_in_scope()
    for arm, own in trials.groupby("arm", sort=False):
        counts = own["status"].value_counts()
        failed, missing = int(counts.get("failed", 0)), int(counts.get("missing", 0))
        lost = (failed + missing) / len(own)
        verdict: Verdict = "pass"
        if lost > SMALL_LOSS:
            verdict = "fail" if lost > LARGE_LOSS else "caution"
        yield Finding(
            subject=str(arm),
            verdict=verdict,
            evidence=(
                f"{plural(len(own), 'trial')} intended: {len(own) - failed - missing:,} completed, "
                f"{failed:,} ended in an error, {missing:,} never ran ({percent(lost)} without a "
                "result)"
            ),
            query=(
                "SELECT arm, status, count(*) AS trials, any_value(error) AS an_error FROM trials "
                f"WHERE study = {quoted(evidence.study)} AND arm = {quoted(str(arm))} "
                "GROUP BY arm, status ORDER BY status"
            ),
            recommendation=""
            if verdict == "pass"
            else "State the missing policy, and show worst and best case (missing='bounds').",
        )


def _without_trials(evidence: Evidence) -> Iterator[Finding]:
    """Find what the design names and no trial belongs to."""
    design, trials = evidence.tables.design.design, evidence.frame("trials")
    for column, declared in (("arm", design.arms), ("perturbation", design.perturbations)):
        present = set(trials[column])
        for name in declared:
            if name not in present:
                yield Finding(
                    subject=name if column == "arm" else f"{column} {name}",
                    verdict="fail",
                    evidence=f"{column} {name} is declared, and there is no trial of it",
                    query=(
                        f"SELECT {column}, count(*) AS trials FROM trials "
                        f"WHERE study = {quoted(evidence.study)} GROUP BY {column} "
                        f"ORDER BY {column}"
                    ),
                    recommendation=f"Add its trials, also the missing ones, or take the {column} "
                    "out of the design.",
                )


def missing_not_at_random(evidence: Evidence) -> Iterator[Finding]:
    """Demand that trials without a result are spread as by chance.

    If they sit in one task, one condition or one arm, the trials that remain answer another
    question.
    For each arm, the task and the perturbation that lost most are tested against the arm's other
    ones (exact permutation test, times the number of tasks or perturbations looked at); each pair
    of arms is tested on its losses, adjusted by Holm. An adjusted p below 0.05 fails.
    """
    trials = evidence.trials_in_scope()
    lost = trials.assign(lost=trials["status"].ne("completed"))
    for arm, own in lost.groupby("arm", sort=False):
        if not own["lost"].any():
            continue
        for column in ("task", "perturbation"):
            if len(own[column].unique()) > 1:
                yield _concentration(evidence, str(arm), own, column)
    if len(lost["arm"].unique()) > 1:
        yield _between_arms(evidence, lost)
    elif not lost["lost"].any():
        yield Finding(
            "all trials", "pass", "every trial has a result", _loss_query(evidence, "arm")
        )


def _concentration(evidence: Evidence, arm: str, own: pd.DataFrame, column: str) -> Finding:
    table = own.groupby(column)["lost"].agg(["sum", "size"])
    table["share"] = table["sum"] / table["size"]
    name = table.sort_values(["share", "sum"], ascending=False, kind="stable").index[0]
    total, size = int(table["sum"].sum()), int(table["size"].sum())
    lost, tried = int(table.loc[name, "sum"]), int(table.loc[name, "size"])
    test = exact_permutation(total - lost, size - tried, lost, tried)
    p_value = min(1.0, test.p_value * len(table))
    unlikely = p_value < SIGNIFICANT
    return Finding(
        subject=f"{arm}, by {column}",
        verdict="fail" if unlikely else "pass",
        evidence=(
            f"{lost:,} of the {plural(total, 'trial')} without a result fall on {column} {name} "
            f"({ratio(lost, tried)} of its trials, elsewhere {ratio(total - lost, size - tried)}; "
            f"{p_text(p_value)} after adjustment for {len(table)} {column}s)"
        ),
        query=_loss_query(evidence, column, arm),
        recommendation=f"Compare within {column}, or leave {name} out on both sides and say so."
        if unlikely
        else "",
    )


def _between_arms(evidence: Evidence, lost: pd.DataFrame) -> Finding:
    table = lost.groupby("arm", sort=False)["lost"].agg(["sum", "size"]).astype(int)
    pairs = list(itertools.combinations(table.index, 2))
    tests = [exact_permutation(*table.loc[a], *table.loc[b]).p_value for a, b in pairs]
    adjusted = holm(tests)
    least = min(range(len(pairs)), key=lambda index: adjusted[index])
    first, second = pairs[least]
    p_value = float(adjusted[least])
    unlikely = p_value < SIGNIFICANT
    return Finding(
        subject="between arms",
        verdict="fail" if unlikely else "pass",
        evidence=(
            f"without a result: {first} {ratio(*table.loc[first])}, {second} "
            f"{ratio(*table.loc[second])}; {p_text(p_value)} after Holm's adjustment for "
            f"{plural(len(pairs), 'pair')} of arms"
        ),
        query=_loss_query(evidence, "arm"),
        recommendation="A comparison of these arms needs the tasks that both completed."
        if unlikely
        else "",
    )


def _loss_query(evidence: Evidence, column: str, arm: str = "") -> str:
    only = f" AND arm = {quoted(arm)}" if arm else ""
    return (
        f"SELECT {column}, count(*) AS trials, count(*) FILTER (status <> 'completed') AS lost "
        f"FROM trials WHERE study = {quoted(evidence.study)}{only} "
        f"GROUP BY {column} ORDER BY lost DESC, {column}"
    )
