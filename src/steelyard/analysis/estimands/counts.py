"""Counts of trials, of levels of the design, of recorded values, of violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.manipulation import manipulation
from steelyard.analysis.names import DIMENSIONS
from steelyard.errors import InputError
from steelyard.stats import sample_size_for_bound

RAN = ("completed", "failed")


@estimand
def trial_count(
    evidence: Evidence,
    *,
    status: Sequence[str] = RAN,
    studies: Sequence[str] = (),
    **at: str | int,
) -> Computed:
    """Return the number of trials with one of the given statuses.

    They are counted over ``studies`` (this one when none is named); dimensions (``arm="react"``)
    narrow them down.
    """
    total = sum(
        len(_chosen(evidence.of_study(study), status, at)) for study in studies or (evidence.study,)
    )
    return Computed(value=float(total))


@estimand
def error_count(evidence: Evidence, *, arm: str, among: str = "ran") -> Computed:
    """Return the number of trials of an arm that ended in an error.

    ``among`` is ``ran``, or ``scored``: a certificate that drops errored trials before it counts
    the errors looks for them among the trials that were scored, and finds none whatever happened.
    """
    statuses = {"ran": RAN, "scored": ("completed",)}.get(among)
    if statuses is None:
        raise InputError(f"among is {among!r}; accepted: ran, scored")
    chosen = _chosen(evidence, statuses, {"arm": arm})
    return Computed(value=float(chosen["status"].eq("failed").sum()))


@estimand
def application(
    evidence: Evidence, *, perturbation: str, arm: str, repeat: int | None = None
) -> Computed:
    """Return how often a perturbation happened, of the trials where that is recorded."""
    by = ("arm", "perturbation") if repeat is None else ("arm", "perturbation", "repeat")
    table = evidence.once(("manipulation", by), lambda: manipulation(evidence.tables, by=by))
    chosen = table["arm"].eq(arm) & table["perturbation"].eq(perturbation)
    if repeat is not None:
        chosen &= table["repeat"].eq(repeat)
    if not chosen.any():
        raise InputError(f"arm {arm!r} was not assigned to {perturbation!r}")
    row = table[chosen].iloc[0]
    return Computed(
        successes=int(row["applied"]),
        total=int(row["recorded"]),
        value=float(row["rate"]),
        low=float(row["low"]),
        high=float(row["high"]),
    )


@estimand
def level_count(evidence: Evidence, *, column: str, **at: str | int) -> Computed:
    """Return the number of different values of one dimension or covariate.

    Dimensions (``variant="low"``) narrow the trials down.
    """
    trials = _chosen(evidence, (*RAN, "missing"), at)
    if column in DIMENSIONS:
        return Computed(value=float(trials[column].nunique()))
    noted = evidence.frame("covariates")
    noted = noted[noted["name"].eq(column) & noted["value"].notna()]
    pairs = trials[["trial_id", "arm"]].merge(noted, on="trial_id")
    # A run of one agent and a run of another may carry the same name.
    return Computed(value=float(len(pairs[["arm", "value"]].drop_duplicates())))


@estimand
def levels_per_cell(evidence: Evidence, *, arm: str, column: str) -> Computed:
    """Return the number of variants, or of repeats, in each cell of an arm.

    The count is of the design, trials that never ran included. Cells of different size have no
    common number of levels and are an error.
    """
    within = {
        "variant": ["task", "perturbation"],
        "repeat": ["task", "perturbation", "variant"],
    }.get(column)
    if within is None:
        raise InputError(f"cannot count levels of {column!r} per cell; accepted: variant, repeat")
    trials = _chosen(evidence, (*RAN, "missing"), {"arm": arm})
    sizes = trials.groupby(within)[column].nunique()
    if sizes.min() != sizes.max():
        raise InputError(
            f"arm {arm!r} has between {sizes.min()} and {sizes.max()} {column}s a cell"
        )
    return Computed(value=float(sizes.iloc[0]))


@estimand
def value_count(
    evidence: Evidence,
    *,
    measure: str,
    equals: float,
    status: Sequence[str] = (*RAN, "missing"),
    **at: str | int,
) -> Computed:
    """Return the number of trials in which a measure has the given value.

    ``status`` and dimensions (``arm="react"``, ``repeat=0``) narrow the trials down.
    """
    rows = _measured(evidence, status, at)
    chosen = rows["measure"].eq(measure) & rows["value"].eq(equals)
    return Computed(value=float(chosen.sum()))


@estimand
def unmeasured_count(evidence: Evidence, *, measures: Sequence[str], arm: str) -> Computed:
    """Return the number of trials of an arm in which none of the measures has a value."""
    rows = _measured(evidence, (*RAN, "missing"), {"arm": arm})
    rows = rows[rows["measure"].isin(list(measures))]
    measured = rows["value"].notna().groupby(rows["trial_id"]).any()
    return Computed(value=float((~measured).sum()))


@estimand
def covariate_count(evidence: Evidence, *, name: str, equals: str, arm: str) -> Computed:
    """Return the number of trials of an arm in which a covariate has the given value."""
    own = _chosen(evidence, (*RAN, "missing"), {"arm": arm})
    noted = evidence.frame("covariates")
    chosen = noted["name"].eq(name) & noted["value"].eq(equals)
    return Computed(value=float(own["trial_id"].isin(noted.loc[chosen, "trial_id"]).sum()))


@estimand
def source_row_count(evidence: Evidence) -> Computed:
    """Return the rows of the source: trials, and rows that a declared rule left out."""
    skipped = int(evidence.frame("skipped_rows")["rows"].sum())
    return Computed(value=float(len(evidence.frame("trials")) + skipped))


@estimand
def violation_count(
    evidence: Evidence,
    *,
    rule: str,
    arm: str,
    severity: str,
    perturbation: str | None = None,
) -> Computed:
    """Return the number of trials in which a rule was broken, errored trials included."""
    rows = evidence.once("violations by trial", lambda: _violations(evidence))
    chosen = rows["rule"].eq(rule) & rows["arm"].eq(arm) & rows["severity"].eq(severity)
    if perturbation is not None:
        chosen &= rows["perturbation"].eq(perturbation)
    return Computed(value=float(rows.loc[chosen, "trial_id"].nunique()))


@estimand
def clean_runs_for_bound(evidence: Evidence, *, bound: float) -> Computed:  # noqa: ARG001
    """Return the least n for which n of n has a lower 95 % Wilson limit of ``bound``."""
    return Computed(value=float(sample_size_for_bound(bound, confidence=0.95)))


def _chosen(
    evidence: Evidence, statuses: Sequence[str], place: Mapping[str, str | int]
) -> pd.DataFrame:
    """Return the trials with one of the statuses, at one place in the design."""
    trials = evidence.frame("trials")
    chosen = trials["status"].isin(list(statuses))
    for column, name in place.items():
        if column not in DIMENSIONS:
            raise InputError(
                f"cannot choose trials by {column!r}; accepted: {', '.join(DIMENSIONS)}"
            )
        chosen &= trials[column].eq(name)
    return trials[chosen]


def _measured(
    evidence: Evidence, statuses: Sequence[str], place: Mapping[str, str | int]
) -> pd.DataFrame:
    chosen = _chosen(evidence, statuses, place)[["trial_id"]]
    return evidence.frame("measures").merge(chosen, on="trial_id")


def _violations(evidence: Evidence) -> pd.DataFrame:
    places = evidence.frame("trials")[["trial_id", *DIMENSIONS]]
    violations = evidence.frame("violations")
    return violations.merge(places, on="trial_id", how="left", validate="many_to_one")
