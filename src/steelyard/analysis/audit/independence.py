"""Checks of what counts as one observation: trials of one task are not independent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    Verdict,
    plural,
    quoted,
    select_claims,
)
from steelyard.analysis.audit.published import rate_claims, recompute
from steelyard.analysis.evidence import Evidence
from steelyard.stats import cluster_summary

NOTABLE_EFFECT: Final = 1.5
LARGE_EFFECT: Final = 2.0
"""Design effects above which an interval of independent trials is too narrow by a factor of 1.22
and of 1.41."""

NARROWER: Final = 0.8
"""A published interval below this share of the clustered one's width is called too narrow."""


def clustering(evidence: Evidence) -> Iterator[Finding]:
    """Demand that trials of one task are not taken as independent; the task was sampled.

    For each arm and the primary measure: intraclass correlation, design effect, and the standard
    error with and without clustering. A design effect of 1.5 or more asks for caution, of 2 or
    more fails: the naive error would claim twice the evidence there is.
    """
    measure = evidence.tables.design.measures.primary
    trials = evidence.trials(measure, "exclude")
    scored = trials[trials["value"].notna()]
    if scored.empty:
        text = f"no trial has a value of {measure}"
        yield Finding("all trials", "pass", text, by_task_query(evidence, measure))
    for arm, own in scored.groupby("arm", sort=False):
        found = cluster_summary(own["value"].to_numpy(), own["task"].to_numpy())
        effect = found.design_effect
        verdict: Verdict = "pass"
        if math.isnan(effect) or effect >= NOTABLE_EFFECT:
            verdict = "fail" if effect >= LARGE_EFFECT else "caution"
        text = f"{plural(found.n, 'trial')} of {plural(found.n_clusters, 'task')}: "
        if math.isnan(effect):
            text += f"the design effect is not identified ({found.reason})"
        else:
            text += (
                f"ICC {found.icc:.3f}, design effect {effect:.2f}, standard error "
                f"{found.standard_error:.4f} clustered by task against "
                f"{found.naive_standard_error:.4f} naive; worth {found.effective_n:.0f} "
                "independent trials"
            )
        yield Finding(
            subject=f"{arm}, {measure}",
            verdict=verdict,
            evidence=text,
            query=by_task_query(evidence, measure, str(arm)),
            recommendation=""
            if verdict == "pass"
            else "Use the task-clustered interval; add tasks rather than repeats.",
        )


def by_task_query(evidence: Evidence, measure: str, arm: str = "") -> str:
    """Return SQL that gives an arm's mean by task, or that of all arms."""
    only = f" AND t.arm = {quoted(arm)}" if arm else ""
    return (
        "SELECT t.task, count(*) AS trials, avg(m.value) AS mean FROM trials t JOIN measures m "
        f"USING (study, trial_id) WHERE t.study = {quoted(evidence.study)}{only} "
        f"AND m.measure = {quoted(measure)} "
        "AND t.status = 'completed' GROUP BY t.task ORDER BY mean, t.task"
    )


def published_intervals(evidence: Evidence) -> Iterator[Finding]:
    """Demand that a published interval is not narrower than the evidence allows.

    Each published interval of a rate is set beside the task-clustered one of the same trials. For
    each arm: an interval of less than 80 % of the clustered width fails. Where the rate is 0 or 1
    the design effect cannot be estimated and the clustered interval assumes that the trials of a
    task always agree; there the same finding only asks for caution.
    """
    claims = rate_claims(evidence)
    claims = claims[claims["low"].notna() & claims["high"].notna()]
    findings = [
        _narrow_intervals(evidence, str(arm), own) for arm, own in claims.groupby("arm", sort=False)
    ]
    yield from (finding for finding in findings if finding is not None)
    if not any(findings):
        yield Finding(
            subject="all claims",
            verdict="pass",
            evidence="no published interval can be set beside a clustered one",
            query=select_claims(evidence, "statistic = 'rate' AND low IS NOT NULL"),
        )


def _narrow_intervals(evidence: Evidence, arm: str, own: pd.DataFrame) -> Finding | None:
    inside, edge, compared = [], 0, 0
    for _, claim in own.iterrows():
        row = recompute(evidence, claim, str(claim["missing_policy"]))
        if row is None or int(row["n_clusters"]) < 2:
            continue
        compared += 1
        clustered = float(row["clustered_high"] - row["clustered_low"])
        share = float(claim["high"] - claim["low"]) / clustered
        if share < NARROWER:
            if 0 < row["estimate"] < 1:
                inside.append((share, claim, row))
            else:
                edge += 1
    if not compared:
        return None
    text = (
        f"narrower than 80% of the clustered interval: {len(inside)} of {compared}, and {edge} "
        "more where the rate is 0 or 1"
    )
    if inside:
        _, claim, row = min(inside, key=lambda one: (one[0], one[1]["claim"]))
        text += (
            f"; worst: {claim['claim']}, published {_limits(claim['low'], claim['high'])}, "
            f"clustered {_limits(row['clustered_low'], row['clustered_high'])}"
        )
    verdict: Verdict = "fail" if inside else "caution" if edge else "pass"
    return Finding(
        subject=arm,
        verdict=verdict,
        evidence=text,
        query=select_claims(
            evidence, f"statistic = 'rate' AND arm = {quoted(arm)} AND low IS NOT NULL"
        ),
        recommendation="" if verdict == "pass" else "Publish the clustered interval beside it.",
    )


def _limits(low: float, high: float) -> str:
    return f"[{low:.3f}, {high:.3f}]"
