"""What a replacement does differently from the incumbent, from states and published divergences."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.errors import InputError
from steelyard.stats import wilson_interval

PATH_KINDS = ("skipped", "substitute", "extra")
"""Divergences of the order of calls; ``arg`` is one of arguments on the same path."""


@estimand
def outcome_consistency(evidence: Evidence, *, arm: str, missing: str) -> Computed:
    """Return the share of an arm's trials that end in the task's modal baseline state.

    Ties go to the state that comes first in the study's order. Tasks without a baseline trial
    have no reference and are left out. ``missing`` is ``recorded`` (errored trials count, with
    whatever state they left) or ``exclude``.
    """
    trials = _trials_with_state(evidence, missing)
    own = trials[trials["arm"].eq(arm)]
    baseline = evidence.tables.design.design.perturbations[0]
    reference = {
        task: Counter(group["state"]).most_common(1)[0][0]
        for task, group in own[own["perturbation"].eq(baseline)].groupby("task", sort=False)
    }
    scored = own[own["task"].isin(list(reference))]
    return _proportion(int(scored["state"].eq(scored["task"].map(reference)).sum()), len(scored))


@estimand
def outcome_equivalence(
    evidence: Evidence,
    *,
    incumbent: str,
    replacement: str,
    perturbation: str | None = None,
    task: str | None = None,
) -> Computed:
    """Return the share of the replacement's trials that end in the incumbent's state.

    The incumbent's reference is its first completed repeat of the same task, perturbation and
    variant. A trial without a reference is left out.
    """
    pairs = _pairs(evidence, incumbent, replacement)
    for column, name in (("perturbation", perturbation), ("task", task)):
        if name is not None:
            pairs = pairs[pairs[column].eq(name)]
    paired = pairs[pairs["reference"].notna()]
    return _proportion(int(paired["state"].eq(paired["reference"]).sum()), len(paired))


@estimand
def pair_count(
    evidence: Evidence, *, incumbent: str, replacement: str, paired: bool = True
) -> Computed:
    """Return the number of the replacement's trials with (or without) a reference."""
    has_reference = _pairs(evidence, incumbent, replacement)["reference"].notna()
    return Computed(value=float((has_reference if paired else ~has_reference).sum()))


@estimand
def retirement_bound(
    evidence: Evidence, *, incumbent: str, replacement: str, definition: str = "minimum"
) -> Computed:
    """Return the lower 95 % limit of outcome equivalence under the worst perturbation.

    ``text`` names that perturbation. The definitions are those of
    :data:`steelyard.analysis.estimands.certificates.DEFINITIONS`.
    """
    order = evidence.tables.design.design.perturbations
    present = set(_pairs(evidence, incumbent, replacement)["perturbation"])
    found = {
        name: outcome_equivalence(
            evidence, incumbent=incumbent, replacement=replacement, perturbation=name
        )
        for name in order
        if name in present
    }
    by = {"minimum": "low", "lowest estimate": "value"}.get(definition)
    if by is None:
        raise InputError(f"definition is {definition!r}; accepted: minimum, lowest estimate")
    worst = min(found, key=lambda name: getattr(found[name], by))
    return Computed(value=found[worst].low, text=worst)


@estimand
def path_equivalence(evidence: Evidence, *, incumbent: str, replacement: str) -> Computed:
    """Return the share of paired trials without a published divergence of the path."""
    pairs = int(pair_count(evidence, incumbent=incumbent, replacement=replacement).value or 0)
    off_path = _diverging(evidence, incumbent, replacement, PATH_KINDS)
    return _proportion(pairs - len(off_path), pairs)


@estimand
def argument_equivalence(evidence: Evidence, *, incumbent: str, replacement: str) -> Computed:
    """Return the share of the trials on the incumbent's path without one of arguments."""
    on_path = path_equivalence(evidence, incumbent=incumbent, replacement=replacement).successes
    other = _diverging(evidence, incumbent, replacement, ("arg",))
    other -= _diverging(evidence, incumbent, replacement, PATH_KINDS)
    return _proportion((on_path or 0) - len(other), on_path or 0)


@estimand
def divergence_count(
    evidence: Evidence,
    *,
    incumbent: str,
    replacement: str,
    kind: str,
    step_index: int,
    expected: str,
    got: str,
    severity: str,
    perturbation: str | None = None,
) -> Computed:
    """Return the number of trials with one published divergence."""
    rows = evidence.once("located divergences", lambda: _located_divergences(evidence))
    wanted: dict[str, str | int] = {
        "incumbent": incumbent,
        "replacement": replacement,
        "kind": kind,
        "step_index": step_index,
        "expected": expected,
        "got": got,
        "severity": severity,
    }
    if perturbation is not None:
        wanted["perturbation"] = perturbation
    chosen = pd.Series(data=True, index=rows.index)
    for column, name in wanted.items():
        chosen &= rows[column].eq(name)
    return Computed(value=float(chosen.sum()))


def _proportion(successes: int, total: int) -> Computed:
    interval = wilson_interval(successes, total)
    return Computed(
        successes=successes,
        total=total,
        value=float(interval.estimate),
        low=float(interval.low),
        high=float(interval.high),
    )


def _trials_with_state(evidence: Evidence, missing: str) -> pd.DataFrame:
    statuses = {"recorded": ["completed", "failed"], "exclude": ["completed"]}.get(missing)
    if statuses is None:
        raise InputError(f"missing is {missing!r}; accepted here: recorded, exclude")
    trials = evidence.frame("trials")
    ran = trials[trials["status"].isin(statuses)]
    return ran.merge(evidence.frame("states")[["trial_id", "state"]], on="trial_id", how="left")


def _pairs(evidence: Evidence, incumbent: str, replacement: str) -> pd.DataFrame:
    """Return the replacement's completed trials with the incumbent's reference state."""
    return evidence.once(
        ("pairs", incumbent, replacement), lambda: _pair(evidence, incumbent, replacement)
    )


def _pair(evidence: Evidence, incumbent: str, replacement: str) -> pd.DataFrame:
    trials = _trials_with_state(evidence, "exclude")
    cell = ["task", "perturbation", "variant"]
    first = trials[trials["arm"].eq(incumbent)].sort_values([*cell, "repeat"])
    first = first.drop_duplicates(cell)[[*cell, "state"]].rename(columns={"state": "reference"})
    own = trials[trials["arm"].eq(replacement)]
    if own.empty or first.empty:
        raise InputError(f"no completed trial of {incumbent!r} or of {replacement!r} to pair")
    return own.merge(first, on=cell, how="left")


def _diverging(
    evidence: Evidence, incumbent: str, replacement: str, kinds: tuple[str, ...]
) -> set[str]:
    rows = evidence.frame("divergences")
    chosen = (
        rows["incumbent"].eq(incumbent)
        & rows["replacement"].eq(replacement)
        & rows["kind"].isin(list(kinds))
    )
    return set(rows.loc[chosen, "trial_id"])


def _located_divergences(evidence: Evidence) -> pd.DataFrame:
    places = evidence.frame("trials")[["trial_id", "perturbation", "task"]]
    return evidence.frame("divergences").merge(
        places, on="trial_id", how="left", validate="many_to_one"
    )
