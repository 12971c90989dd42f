"""Checks of who is in the denominator: missing trials, scored errors, conflicting counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    Verdict,
    listed,
    p_text,
    percent,
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
