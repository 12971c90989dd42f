"""Check of the plainest kind: the tables should give what was published."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    listed,
    plural,
    quoted,
    ratio,
    select_claims,
)
from steelyard.analysis.audit.published import explaining_policies, place_of, rate_claims
from steelyard.analysis.evidence import Evidence


def rates_reproduced(evidence: Evidence) -> Iterator[Finding]:
    """Demand that published counts come out of the tables, under the policy the source states.

    For each measure: claims whose counts come out under their own missing policy pass; ones that
    only another policy gives ask for caution, because the source says something else; ones that
    no policy gives fail.
    """
    claims = rate_claims(evidence)
    measures = claims.groupby("measure", sort=False)
    clean = []
    for measure, own in measures:
        finding = _reproduction(evidence, str(measure), own)
        if finding.verdict == "pass":
            clean.append((str(measure), len(own)))
        else:
            yield finding
    if clean or claims.empty:
        text = (
            f"{sum(n for _, n in clean):,} published rates of {plural(len(clean), 'measure')} "
            f"come out of the tables ({listed(name for name, _ in clean)})"
            if clean
            else "no rate with counts was published"
        )
        yield Finding(
            subject="all other measures" if len(clean) < len(measures) else "all measures",
            verdict="pass",
            evidence=text,
            query=select_claims(evidence, "statistic = 'rate'"),
        )


def _reproduction(evidence: Evidence, measure: str, own: pd.DataFrame) -> Finding:
    elsewhere: list[str] = []
    nowhere: list[str] = []
    readable = [claim for _, claim in own.iterrows() if place_of(evidence, claim) is not None]
    for claim in readable:
        policies = explaining_policies(evidence, claim)
        if str(claim["missing_policy"]) in policies:
            continue
        shown = f"{claim['claim']} ({ratio(int(claim['successes']), int(claim['total']))})"
        if policies:
            elsewhere.append(f"{shown}, missing='{policies[0]}'")
        else:
            nowhere.append(shown)
    wrong = len(elsewhere) + len(nowhere)
    text = f"{len(readable) - wrong:,} of {plural(len(readable), 'claim')} come out"
    if elsewhere:
        text += f"; under another policy than stated: {listed(elsewhere, 2)}"
    if nowhere:
        text += f"; under no policy: {listed(nowhere, 2)}"
    return Finding(
        subject=measure,
        verdict="fail" if nowhere else "caution" if elsewhere else "pass",
        evidence=text,
        query=select_claims(evidence, f"statistic = 'rate' AND measure = {quoted(measure)}"),
        recommendation="Correct the number or the stated policy." if wrong else "",
    )
