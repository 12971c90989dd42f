"""What the steps say: consistency of an arm, agreement of a replacement with the incumbent.

All under the definitions of the source that published such figures (``compatibility="plumbline"``
of the trajectory analyses): failed calls belong to the path, and ties go to the first trial.
"""

from __future__ import annotations

from steelyard.analysis.consistency import consistency_of_trials
from steelyard.analysis.divergence import find_group
from steelyard.analysis.equivalence import equivalence_of_trials
from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.proportion import Proportion
from steelyard.analysis.trajectories import read_trials
from steelyard.analysis.trajectory_results import Consistency, Equivalence
from steelyard.errors import InputError
from steelyard.trials.model import Trial

FACETS = {
    "structural": "structural",
    "self": "self_consistency",
    "argument": "argument",
    "outcome": "outcome",
}
"""Questions of consistency, as the source names them and as the analysis does."""


@estimand
def consistency(
    evidence: Evidence,
    *,
    arm: str,
    missing: str,
    facet: str,
    perturbation: str | None = None,
) -> Computed:
    """Return the share of an arm's trials that do as the task's modal baseline trial does.

    ``facet`` is ``structural`` (same path), ``self`` (the same, baseline trials only),
    ``argument`` (same arguments, of the trials on that path) or ``outcome`` (same terminal
    state). Only the structural share is taken by perturbation.
    """
    if facet not in FACETS:
        raise InputError(f"facet is {facet!r}; accepted: {', '.join(FACETS)}")
    found = _consistency(evidence, arm, missing)
    if perturbation is None:
        return _computed(getattr(found, FACETS[facet]))
    if facet != "structural":
        raise InputError(f"facet {facet!r} is not taken by perturbation; structural is")
    rows = found.by_perturbation
    row = rows[rows["perturbation"].eq(perturbation)]
    if row.empty:
        raise InputError(f"arm {arm!r} has no scored trial under {perturbation!r}")
    first = row.iloc[0]
    return Computed(
        successes=int(first["successes"]),
        total=int(first["total"]),
        value=float(first["estimate"]),
        low=float(first["low"]),
        high=float(first["high"]),
    )


@estimand
def consistency_divergence_count(
    evidence: Evidence,
    *,
    arm: str,
    missing: str,
    kind: str,
    step_index: int,
    expected: str,
    got: str,
    severity: str,
) -> Computed:
    """Return how often an arm left the task's modal baseline path or arguments in one way."""
    groups = _consistency(evidence, arm, missing).divergences
    group = find_group(groups, kind, step_index, expected, got)
    if group is None or group["severity"] != severity:
        return Computed(value=0.0)
    return Computed(value=float(group["count"]))


@estimand
def incumbent_self_consistency(evidence: Evidence, *, incumbent: str, replacement: str) -> Computed:
    """Return the share of the incumbent's trials on the modal path of their own condition."""
    found = _equivalence(evidence, incumbent, replacement)
    return _computed(found.incumbent_self_consistency)


@estimand
def outcome_equivalence_of_steps(
    evidence: Evidence, *, incumbent: str, replacement: str
) -> Computed:
    """Return the share of pairs that end in the same state, the reference chosen by its path."""
    return _computed(_equivalence(evidence, incumbent, replacement).outcome)


@estimand
def path_equivalence_of_steps(evidence: Evidence, *, incumbent: str, replacement: str) -> Computed:
    """Return the share of pairs whose tools were called in the same order."""
    return _computed(_equivalence(evidence, incumbent, replacement).path)


@estimand
def argument_equivalence_of_steps(
    evidence: Evidence, *, incumbent: str, replacement: str
) -> Computed:
    """Return the share of the pairs on one path that called with the same arguments."""
    return _computed(_equivalence(evidence, incumbent, replacement).argument)


@estimand
def divergence_count_of_steps(
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
    """Return how often a replacement left the incumbent's path or arguments in one way."""
    groups = _equivalence(evidence, incumbent, replacement).divergences
    group = find_group(groups, kind, step_index, expected, got)
    if group is None or group["severity"] != severity:
        return Computed(value=0.0)
    if perturbation is None:
        return Computed(value=float(group["count"]))
    return Computed(value=float(group["perturbations"].get(perturbation, 0)))


def _trials(evidence: Evidence) -> list[Trial]:
    """Return the study's trials with their steps; reading them takes longer than comparing."""
    return evidence.once("trials with steps", lambda: read_trials(evidence.tables))


def _consistency(evidence: Evidence, arm: str, missing: str) -> Consistency:
    design = evidence.tables.design
    return evidence.once(
        ("consistency", arm, missing),
        lambda: consistency_of_trials(
            [trial for trial in _trials(evidence) if trial.key.arm == arm],
            design.argument_schemas,
            perturbations=design.design.perturbations,
            missing=missing,
            compatibility="plumbline",
        ),
    )


def _equivalence(evidence: Evidence, incumbent: str, replacement: str) -> Equivalence:
    design = evidence.tables.design
    return evidence.once(
        ("equivalence", incumbent, replacement),
        lambda: equivalence_of_trials(
            _trials(evidence),
            incumbent,
            replacement,
            design.argument_schemas,
            perturbations=design.design.perturbations,
            missing="exclude",
            compatibility="plumbline",
        ),
    )


def _computed(found: Proportion) -> Computed:
    return Computed(
        successes=found.successes,
        total=found.total,
        value=found.estimate,
        low=found.low,
        high=found.high,
    )
