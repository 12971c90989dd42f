"""Checks of what a repeat is: not a copy, not another version, not a sample of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    Verdict,
    listed,
    p_text,
    plural,
    quoted,
    ratio,
)
from steelyard.analysis.audit.independence import by_task_query
from steelyard.analysis.audit.published import claims_of, rate_claims
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.repeats import FACETS, repeat_agreement, seeds
from steelyard.stats import holm, stratified_permutation

COPIES: Final = 0.95
ALIKE: Final = 0.80
"""Shares of repeated cells with identical results: repeats are copies; repeats are close to it."""

SMALL_SPREAD: Final = 0.5
"""Error over repeats as a share of the error over tasks, below which it hides most of it."""

SIGNIFICANT: Final = 0.05

_ADVICE: Final = {
    "fail": "Count cells, not repeats, or vary what a repeat is meant to vary.",
    "caution": "Record the steps: only they tell a copy from an agent that is consistent.",
    "pass": "",
}


def identical_repeats(evidence: Evidence) -> Iterator[Finding]:
    """Demand that repeats could have come out differently: a copy is not an observation.

    For each arm: the perturbations in which at least 95 % of the repeated cells are identical in
    everything the tables hold (outcome, terminal state, steps). Where the steps are recorded or
    the arm is declared deterministic, that fails; where only outcomes can be compared, equal
    outcomes may also be a consistent agent, which asks for caution, as do 80 % and more.
    """
    if not evidence.trials_in_scope()["status"].eq("completed").any():
        yield Finding("all trials", "pass", "no trial completed", _repeats_query(evidence))
        return
    table = evidence.once("agreement", lambda: repeat_agreement(evidence.tables))
    declared = set(evidence.tables.design.design.deterministic_arms)
    for arm, own in table.groupby("arm", sort=False):
        repeated = own[own["cells"].gt(0)]
        if repeated.empty:
            text = "no cell of task, perturbation and variant was repeated"
            yield Finding(str(arm), "pass", text, _repeats_query(evidence, str(arm)))
        else:
            yield _copies(evidence, str(arm), repeated, str(arm) in declared)


def _copies(evidence: Evidence, arm: str, own: pd.DataFrame, declared: bool) -> Finding:
    share = own["identical"] / own["cells"]
    copied, close = own[share.ge(COPIES)], own[share.ge(ALIKE)]
    certain = copied[copied["steps_known"].gt(0) | declared]
    shown, verdict = own, "pass"
    if len(certain):
        shown, verdict = certain, "fail"
    elif len(close):
        shown, verdict = close, "caution"
    cells, trials = int(shown["cells"].sum()), int(shown["trials"].sum())
    known = [name for name in FACETS if shown[f"{name}_known"].gt(0).any()]
    text = (
        f"{ratio(int(shown['identical'].sum()), cells)} repeated cells are identical in "
        f"{', '.join(known)} "
        f"({listed(shown['perturbation'], 6)}): {trials:,} trials, "
        f"{int(shown['distinct_results'].sum()):,} distinct results"
    )
    if verdict == "fail":
        text += _claims_with_copies(evidence, arm, certain)
        text += "; declared deterministic" if declared else ""
    return Finding(
        subject=arm,
        verdict=verdict,  # type: ignore[arg-type]
        evidence=text,
        query=_repeats_query(evidence, arm),
        recommendation=_ADVICE[verdict],
    )


def _claims_with_copies(evidence: Evidence, arm: str, copied: pd.DataFrame) -> str:
    """Count the published rates whose denominator takes copies as observations."""
    claims = rate_claims(evidence)
    own = claims[claims["arm"].eq(arm) & claims["scope"].isin(list(copied["perturbation"]))]
    cells = dict(zip(copied["perturbation"], copied["cells"], strict=True))
    own = own.assign(cells=own["scope"].map(cells))
    inflated = own[own["total"].gt(own["cells"])]
    if inflated.empty:
        return ""
    claim = inflated.sort_values("claim").iloc[0]
    return (
        f"; {plural(len(inflated), 'published rate')} count each copy ({claim['claim']}: "
        f"n = {claim['total']}, {int(claim['cells'])} cells)"
    )


def _repeats_query(evidence: Evidence, arm: str = "") -> str:
    measure = evidence.tables.design.measures.primary
    only = f" AND t.arm = {quoted(arm)}" if arm else ""
    return (
        "SELECT t.perturbation, t.task, t.variant, count(*) AS repeats, "
        "count(DISTINCT m.value) AS distinct_outcomes, "
        "count(DISTINCT CAST(s.state AS VARCHAR)) AS distinct_states "
        "FROM trials t LEFT JOIN states s USING (study, trial_id) LEFT JOIN measures m "
        f"ON m.study = t.study AND m.trial_id = t.trial_id AND m.measure = {quoted(measure)} "
        f"WHERE t.study = {quoted(evidence.study)}{only} "
        "AND t.status = 'completed' GROUP BY ALL ORDER BY ALL"
    )


def error_over_repeats(evidence: Evidence) -> Iterator[Finding]:
    """Demand an error over tasks: an error bar over repeats says nothing about other tasks.

    The standard error over repeats is set beside the one over tasks, for the scope of each
    published error over repeats, else for each arm. Less than half of the error over tasks fails
    where it was published, and asks for caution where it could be.
    """
    claims = claims_of(evidence, "standard_error_over_repeats")
    measure = evidence.tables.design.measures.primary
    if len(claims):
        for _, claim in claims.iterrows():
            yield _published_spread(evidence, claim)
        return
    table = _seeds(evidence, measure, ("arm",))
    for _, row in table.iterrows():
        verdict: Verdict = "caution" if _is_small(row) else "pass"
        yield Finding(
            subject=f"{row['arm']}, {measure}",
            verdict=verdict,
            evidence=_spread_text(row),
            query=by_task_query(evidence, measure, str(row["arm"])),
            recommendation=""
            if verdict == "pass"
            else "Report the error over tasks; the one over repeats is not an error of the result.",
        )


def _published_spread(evidence: Evidence, claim: pd.Series) -> Finding:
    measure = str(claim["measure"])
    kind, colon, name = str(claim["scope"]).partition(":")
    by = ("arm", kind) if colon and kind == "variant" else ("arm",)
    table = _seeds(evidence, measure, by)
    row = table[table["arm"].eq(claim["arm"])]
    if len(by) > 1:
        row = row[row["variant"].eq(name)]
    text = f"published ± {claim['value']:g} over repeats"
    verdict: Verdict = "caution"
    if len(row):
        verdict = "fail" if _is_small(row.iloc[0]) else "pass"
        text += f"; {_spread_text(row.iloc[0])}"
    return Finding(
        subject=str(claim["claim"]),
        verdict=verdict,
        evidence=text,
        query=by_task_query(evidence, measure, str(claim["arm"])),
        recommendation="" if verdict == "pass" else "Publish the error over tasks.",
    )


def _seeds(evidence: Evidence, measure: str, by: tuple[str, ...]) -> pd.DataFrame:
    return evidence.once(
        ("seeds", measure, by),
        lambda: seeds(evidence.tables, measure, by=by, missing="exclude"),
    )


def _is_small(row: pd.Series) -> bool:
    over_tasks = float(row["standard_error_over_tasks"])
    over_repeats = float(row["standard_error_over_repeats"])
    return over_tasks > 0 and over_repeats < SMALL_SPREAD * over_tasks


def _spread_text(row: pd.Series) -> str:
    if row["reason"]:
        return str(row["reason"])
    return (
        f"standard error {100 * row['standard_error_over_repeats']:.2f} points over "
        f"{plural(int(row['n_repeats']), 'repeat')}, {100 * row['standard_error_over_tasks']:.2f} "
        f"points over {plural(int(row['n_tasks']), 'task')}; the repeats agree in "
        f"{ratio(int(row['tasks_agreeing']), int(row['n_tasks']))} of the tasks"
    )


def exchangeable_repeats(evidence: Evidence) -> Iterator[Finding]:
    """Demand that repeats of one condition come out alike, whatever their order.

    In each arm and perturbation the earlier half of every cell's repeats is tested against the
    later half, within tasks (exact stratified permutation test, Holm over arms and
    perturbations). An adjusted p below 0.05 fails: something changed between the repeats (shared
    state, another version, a warm cache), and they are not repeats of one thing.
    """
    measure = evidence.tables.design.measures.primary
    trials = evidence.trials(measure, "exclude")
    counted = trials[trials["value"].isin([0.0, 1.0])]
    groups, tests = [], []
    for (arm, perturbation), own in counted.groupby(["arm", "perturbation"], sort=False):
        halves = _halves(own)
        if halves:
            groups.append(((str(arm), str(perturbation)), halves))
            tests.append(stratified_permutation(halves).p_value)
    adjusted = [float(p) for p in holm(tests)] if tests else []
    alike = [p for p in adjusted if p >= SIGNIFICANT]
    for (key, halves), p_value in zip(groups, adjusted, strict=True):
        if p_value < SIGNIFICANT:
            yield _unlike_repeats(evidence, measure, key, halves, p_value)
    if alike or not groups:
        text = (
            f"earlier and later repeats agree in {len(alike)} of {len(groups)} arms and "
            f"perturbations (smallest {p_text(min(alike))} after Holm's adjustment)"
            if alike
            else "no cell was repeated with a 0/1 outcome"
        )
        yield Finding(f"all other cells, {measure}", "pass", text, _order_query(evidence, measure))


Halves = list[tuple[tuple[int, int], tuple[int, int]]]


def _halves(own: pd.DataFrame) -> Halves:
    """Return, per task, (successes, trials) of the earlier and of the later repeats."""
    own = own.sort_values(["task", "variant", "repeat"], kind="stable")
    cell = own.groupby(["task", "variant"])["value"]
    place, size = cell.cumcount().to_numpy(), cell.transform("size").to_numpy()
    # The middle repeat of an odd number belongs to neither half.
    early, late = place < size // 2, place >= size - size // 2
    own = own.assign(half=np.where(size < 2, -1, np.where(early, 0, np.where(late, 1, -1))))
    halves: Halves = []
    for _, task in own[own["half"].ge(0)].groupby("task", sort=False):
        values = [task.loc[task["half"].eq(half), "value"] for half in (0, 1)]
        first, second = ((int(part.sum()), len(part)) for part in values)
        halves.append((first, second))
    return halves


def _unlike_repeats(
    evidence: Evidence, measure: str, key: tuple[str, str], halves: Halves, p_value: float
) -> Finding:
    early = [sum(sides[0][part] for sides in halves) for part in (0, 1)]
    late = [sum(sides[1][part] for sides in halves) for part in (0, 1)]
    return Finding(
        subject=f"{key[0]}, {key[1]}, {measure}",
        verdict="fail",
        evidence=(
            f"earlier repeats {ratio(*early)}, later repeats {ratio(*late)}; exact test within "
            f"{len(halves)} tasks, {p_text(p_value)} after Holm's adjustment"
        ),
        query=_order_query(evidence, measure, *key),
        recommendation="Find out what the repeats share; until then do not pool them.",
    )


def _order_query(evidence: Evidence, measure: str, arm: str = "", perturbation: str = "") -> str:
    only = f" AND t.arm = {quoted(arm)}" if arm else ""
    only += f" AND t.perturbation = {quoted(perturbation)}" if perturbation else ""
    return (
        "SELECT t.arm, t.perturbation, t.repeat, count(*) AS trials, sum(m.value) AS successes "
        "FROM trials t JOIN measures m USING (study, trial_id) "
        f"WHERE t.study = {quoted(evidence.study)} AND m.measure = {quoted(measure)} "
        f"AND t.status = 'completed'{only} GROUP BY ALL ORDER BY ALL"
    )
