"""Checks of who is in the denominator: scored errors, conflicting counts, empty ones."""

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
from steelyard.analysis.audit.published import (
    claims_of,
    explaining_policies,
    rate_claims,
    recompute,
)
from steelyard.analysis.estimands.proportions import rate_row
from steelyard.analysis.evidence import Evidence


def values_without_a_run(evidence: Evidence) -> Iterator[Finding]:
    """Demand that a trial without a result has no value either.

    For each arm and the declared measures: values recorded for trials that never ran fail, values
    recorded for trials that ended in an error ask for caution. Both turn "no result" into a
    failure or a success, and the rates with and without them are shown.
    """
    measures = evidence.tables.design.measures.all
    recorded = pd.concat(
        [evidence.trials(name, "recorded").assign(measure=name) for name in measures]
    )
    without = recorded[recorded["recorded"].notna() & recorded["status"].ne("completed")]
    for arm in dict.fromkeys(recorded["arm"]):
        own = without[without["arm"].eq(arm)]
        if len(own):
            yield _values_without_a_run(evidence, str(arm), own)
        else:
            yield Finding(
                subject=str(arm),
                verdict="pass",
                evidence=f"values of {listed(measures)} stand only where a trial completed",
                query=_value_query(evidence, str(arm)),
            )


def _values_without_a_run(evidence: Evidence, arm: str, own: pd.DataFrame) -> Finding:
    trials = own.drop_duplicates("trial_id")["status"].value_counts()
    never, errored = int(trials.get("missing", 0)), int(trials.get("failed", 0))
    what = [f"{plural(never, 'trial')} that never ran"] if never else []
    what += [f"{plural(errored, 'trial')} that ended in an error"] if errored else []
    parts = [_with_and_without(evidence, str(name), arm) for name in dict.fromkeys(own["measure"])]
    return Finding(
        subject=arm,
        verdict="fail" if never else "caution",
        evidence=f"{' and '.join(what)} carry values: {'; '.join(parts)}",
        query=_value_query(evidence, arm),
        recommendation="Leave these values out, or report both rates with their denominators.",
    )


def _with_and_without(evidence: Evidence, measure: str, arm: str) -> str:
    trials = evidence.trials(measure, "recorded")
    if not trials["recorded"].dropna().isin([0.0, 1.0]).all():
        return measure
    counts = []
    for policy in ("recorded", "exclude"):
        row = rate_row(evidence, measure, policy, {"arm": arm})
        counts.append(ratio(int(row["successes"]), int(row["total"])))
    return f"{measure} {counts[0]} with them, {counts[1]} without"


def _value_query(evidence: Evidence, arm: str) -> str:
    names = ", ".join(quoted(name) for name in evidence.tables.design.measures.all)
    return (
        "SELECT m.measure, t.status, m.value, count(*) AS trials FROM trials t JOIN measures m "
        f"USING (study, trial_id) WHERE t.study = {quoted(evidence.study)} "
        f"AND t.arm = {quoted(arm)} AND m.measure IN ({names}) GROUP BY ALL ORDER BY ALL"
    )


def conflicting_denominators(evidence: Evidence) -> Iterator[Finding]:
    """Demand that one rate of one arm is published with one denominator.

    Claims of the same arm, measure and scope with different totals come from different answers
    to "what becomes of a trial that errored". One finding per arm that has such claims, with the
    rate most often in conflict, and the policy that reproduces each version of it.
    """
    claims = rate_claims(evidence)
    agreeing = []
    for arm, own in claims.groupby("arm", sort=False):
        totals = own.groupby(["measure", "scope"], sort=False)["total"].nunique()
        conflicts = [(str(m), str(s)) for m, s in totals.index[totals.gt(1)]]
        if conflicts:
            yield _denominator_conflict(evidence, str(arm), own, conflicts)
        else:
            agreeing.append(str(arm))
    if agreeing or claims.empty:
        yield Finding(
            subject=listed(agreeing) or "all claims",
            verdict="pass",
            evidence="each published rate has one denominator"
            if agreeing
            else "no rate was published",
            query=select_claims(evidence, "statistic = 'rate'"),
        )


def _denominator_conflict(
    evidence: Evidence, arm: str, own: pd.DataFrame, conflicts: list[tuple[str, str]]
) -> Finding:
    size = own.groupby(["measure", "scope"])["claim"].size()
    measure, scope = max(conflicts, key=lambda place: (size[place], -conflicts.index(place)))
    shown = own[own["measure"].eq(measure) & own["scope"].eq(scope)]
    parts = []
    for _, same in shown.sort_values(["total", "source"]).groupby("total", sort=False):
        claim = same.iloc[0]
        policies = explaining_policies(evidence, claim)
        how = f"missing='{policies[0]}'" if policies else "no policy gives it"
        counts = ratio(int(claim["successes"]), int(claim["total"]))
        parts.append(f"{counts} in {listed(dict.fromkeys(same['source']), 2)} ({how})")
    return Finding(
        subject=arm,
        verdict="fail",
        evidence=(
            f"{measure}, {scope}: {'; '.join(parts)}; {plural(len(conflicts), 'rate')} of this arm "
            "have more than one denominator"
        ),
        query=select_claims(
            evidence,
            f"statistic = 'rate' AND arm = {quoted(arm)} AND measure = {quoted(measure)} "
            f"AND scope = {quoted(scope)}",
        ),
        recommendation="Publish one policy, and the number of trials it leaves out, everywhere.",
    )


def empty_denominators(evidence: Evidence) -> Iterator[Finding]:
    """Demand a denominator: 0 of 0 has no estimate and the vacuous interval [0, 1]."""
    claims = claims_of(evidence, "rate")
    empty = claims[claims["total"].eq(0)]
    for _, claim in empty.iterrows():
        row = recompute(evidence, claim, str(claim["missing_policy"]))
        held = "the tables do not determine it"
        if row is not None:
            held = f"the tables give {ratio(int(row['successes']), int(row['total']))}"
        printed = f"{claim['value']:g} [{claim['low']:g}, {claim['high']:g}]"
        yield Finding(
            subject=str(claim["claim"]),
            verdict="fail",
            evidence=f"published as 0/0 with {printed} in {claim['source']}; {held}",
            query=select_claims(evidence, f"claim = {quoted(str(claim['claim']))}"),
            recommendation="Print the number of scored trials, and no estimate when it is 0.",
        )
    if empty.empty:
        yield Finding(
            subject="all claims",
            verdict="pass",
            evidence=f"none of {plural(len(claims), 'published rate')} has an empty denominator",
            query=select_claims(evidence, "statistic = 'rate' AND total = 0"),
        )
