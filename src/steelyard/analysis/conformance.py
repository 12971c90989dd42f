"""Conformance: how often trials uphold the rules of a policy, and where they break them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.judgements import Breach, Judgement, judge, recorded_judgements
from steelyard.analysis.names import resolve_arm
from steelyard.analysis.proportion import (
    Compatibility,
    Outcome,
    Proportion,
    counts_of,
    lowest,
    prefixed,
    proportion,
    proportions_by,
)
from steelyard.analysis.trajectories import read_trials
from steelyard.errors import InputError
from steelyard.evaluators.invariants import Policy
from steelyard.trials.argument_schema import SEVERITIES
from steelyard.trials.model import Trial

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

VIOLATION_COLUMNS = (
    "rule",
    "severity",
    "step_index",
    "step_name",
    "count",
    "perturbations",
    "tasks",
    "trials",
)


@dataclass(frozen=True)
class Conformance:
    """How far the trials of one arm uphold a policy.

    Attributes
    ----------
    arm : str
    evidence : {"steps", "recorded"}
        Whether the policy was checked on the trials' steps, or the source's record was read.
    compatibility : str or None
        ``"plumbline"`` when the published reading of a trial was used.
    missing_policy : str
    intended, scored, excluded : int
        Trials.
    errored : int
        Scored trials that ended in an error.
    overall, critical : Proportion
        Trials that broke no rule, and no rule of severity ``critical``.
    by_perturbation, by_task : pandas.DataFrame
        The critical proportion in groups.
    by_rule : pandas.DataFrame
        Per rule, the trials that upheld it among those it applies to.
    bound, worst_perturbation : float, str or None
        The lowest lower limit of the critical proportion over perturbations.
    clustered_bound : float
        The same of the task-clustered limits.
    plumbline_bound, plumbline_worst : float, str or None
        Plumbline's certified bound: the lower limit where the point estimate is lowest.
    violations : pandas.DataFrame
        One row per (rule, severity, step_index, step_name), the most severe and frequent first:
        ``count``, ``perturbations`` (dict of counts), ``tasks`` (sorted) and ``trials`` (as
        found). ``step_index`` counts control steps and is NA where a call never happened.
    """

    arm: str
    evidence: str
    compatibility: str | None
    missing_policy: str
    intended: int
    scored: int
    excluded: int
    errored: int
    overall: Proportion
    critical: Proportion
    by_perturbation: pd.DataFrame = field(repr=False)
    by_task: pd.DataFrame = field(repr=False)
    by_rule: pd.DataFrame = field(repr=False)
    bound: float
    worst_perturbation: str | None
    clustered_bound: float
    plumbline_bound: float
    plumbline_worst: str | None
    violations: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per rule, after the rows for no rule broken and no critical one."""
        head = [
            {"rule": name, **getattr(self, part).to_row()}
            for name, part in (("(all)", "overall"), ("(critical)", "critical"))
        ]
        frame = pd.concat([pd.DataFrame(head), self.by_rule], ignore_index=True)
        frame.insert(0, "arm", self.arm)
        return frame

    def to_row(self) -> dict[str, Any]:
        """Return the summary as one row; the tables by group and the violations are left out."""
        tables = {"by_perturbation", "by_task", "by_rule", "violations", "overall", "critical"}
        plain = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in tables
        }
        return {**plain, **prefixed({"overall": self.overall, "critical": self.critical})}


def conformance_of_trials(
    trials: Iterable[Trial],
    policy: Policy,
    contexts: Mapping[str, Mapping[str, Any]],
    *,
    perturbations: Sequence[str] = (),
    missing: str = "exclude",
    confidence: float = 0.95,
) -> Conformance:
    """Check a policy on the steps of trials and count.

    Parameters
    ----------
    trials : iterable of Trial
        Of one study and one arm; at least one.
    policy : Policy
        The rules, and by its ``compatibility`` how trials are read and what a task without a
        context means (not scored; Plumbline checks it against an empty context).
    contexts : mapping of str to mapping
        What the system of record says about each task.
    perturbations : sequence of str, optional
        The order in which tables list them.
    missing : {"exclude", "recorded"}
        See :func:`steelyard.analysis.trajectories.population`.
    confidence : float, default 0.95
        Level of the intervals.

    Returns
    -------
    Conformance
    """
    judgements = judge(trials, policy, contexts, missing)
    return _conformance(
        judgements,
        {"evidence": "steps", "missing_policy": missing, "compatibility": policy.compatibility},
        perturbations,
        confidence,
    )


def conformance(
    tables: StudyTables,
    arm: str,
    *,
    policy: Policy | None = None,
    contexts: Mapping[str, Mapping[str, Any]] | None = None,
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Any,
) -> Conformance:
    """Report how far one arm of a study upholds its rules.

    Parameters
    ----------
    tables : StudyTables
        The study.
    arm : str
        The arm.
    policy, contexts : Policy, mapping of str to mapping, optional
        Given together, the policy is checked on the recorded steps. Given neither, the study's
        own record is read: its measures and violations.
    missing : str, optional
        The study's declared policy when absent. ``exclude`` or ``recorded``; for recorded
        judgements also ``fail``.
    confidence : float, default 0.95
        Level of the intervals.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    Conformance

    Raises
    ------
    InputError
        A policy without contexts or the reverse, a study without steps or without recorded
        judgements, an unknown missing policy.
    """
    if (policy is None) != (contexts is None):
        raise InputError("policy and contexts belong together; give both, or neither")
    arm = resolve_arm(tables, arm)
    chosen = tables.design.missing.policy if missing is None else missing
    order = tables.design.design.perturbations
    if policy is not None and contexts is not None:
        return conformance_of_trials(
            read_trials(tables, arm=arm, **filters),
            policy,
            contexts,
            perturbations=order,
            missing=chosen,
            confidence=confidence,
        )
    judgements = recorded_judgements(tables, arm, chosen, **filters)
    return conformance_of_judgements(
        judgements, perturbations=order, missing=chosen, confidence=confidence
    )


def conformance_of_judgements(
    judgements: Sequence[Judgement],
    *,
    perturbations: Sequence[str],
    missing: str,
    confidence: float = 0.95,
) -> Conformance:
    """Count judgements that a source recorded, as :func:`conformance` does.

    Parameters
    ----------
    judgements : sequence of Judgement
        Of one arm (:func:`steelyard.analysis.judgements.recorded_judgements`).
    perturbations, missing, confidence
        See :func:`conformance_of_trials`; ``missing`` is the policy the judgements were read by.

    Returns
    -------
    Conformance
    """
    facts = {"evidence": "recorded", "missing_policy": missing, "compatibility": None}
    return _conformance(judgements, facts, perturbations, confidence)


def _conformance(
    judgements: Sequence[Judgement],
    facts: Mapping[str, Any],
    order: Sequence[str],
    confidence: float,
) -> Conformance:
    scored = [j for j in judgements if j.scored]
    compatibility: Compatibility = facts["compatibility"]
    options: dict[str, Any] = {"confidence": confidence, "compatibility": compatibility}
    order = order or list(dict.fromkeys(j.perturbation for j in scored))
    critical: list[tuple[Judgement, Outcome]] = [(j, (j.critical, j.task)) for j in scored]
    by_perturbation = proportions_by(
        "perturbation", [(j.perturbation, o) for j, o in critical], order=order, **options
    )
    bound, worst = lowest(by_perturbation, "perturbation", "low")
    plumbline_bound, plumbline_worst = lowest(by_perturbation, "perturbation", "estimate")
    return Conformance(
        arm=", ".join(dict.fromkeys(j.arm for j in judgements)),
        **facts,
        intended=len(judgements),
        scored=len(scored),
        excluded=len(judgements) - len(scored),
        errored=sum(j.errored for j in scored),
        overall=proportion([(j.overall, j.task) for j in scored], **options),
        critical=proportion([o for _, o in critical], **options),
        by_perturbation=by_perturbation,
        by_task=proportions_by("task", [(j.task, o) for j, o in critical], **options),
        by_rule=proportions_by(
            "rule", [(rule, (held, j.task)) for j in scored for rule, held in j.rules], **options
        ),
        bound=bound,
        worst_perturbation=worst,
        clustered_bound=lowest(by_perturbation, "perturbation", "clustered_low")[0],
        plumbline_bound=plumbline_bound,
        plumbline_worst=plumbline_worst,
        violations=_violation_groups(scored, order, by_value=compatibility is None),
    )


def _violation_groups(
    judgements: Sequence[Judgement], order: Sequence[str], *, by_value: bool
) -> pd.DataFrame:
    groups: dict[Breach, list[Judgement]] = {}
    for judgement in judgements:
        for breach in judgement.breaches:
            groups.setdefault(breach, []).append(judgement)
    rows = []
    for breach, members in groups.items():
        counts: dict[str, int] = {}
        for member in members:
            counts[member.perturbation] = counts.get(member.perturbation, 0) + 1
        rows.append(
            {
                "rule": breach.rule,
                "severity": breach.severity,
                "step_index": breach.step_index,
                "step_name": breach.step_name,
                "count": len(members),
                "perturbations": counts_of(counts, order),
                "tasks": tuple(sorted({member.task for member in members})),
                "trials": tuple(dict.fromkeys(member.label for member in members)),
            }
        )
    rows.sort(key=lambda row: _order(row, by_value=by_value))
    frame = pd.DataFrame(rows, columns=list(VIOLATION_COLUMNS))
    return frame.astype({"step_index": "Int64"})


def _order(row: Mapping[str, Any], *, by_value: bool) -> tuple[Any, ...]:
    """Sort by severity and falling count; then by value, or as found (Plumbline's order)."""
    severity = row["severity"]
    rank = SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
    if not by_value:
        return (rank, -row["count"])
    index = -1 if row["step_index"] is None else row["step_index"]
    return (rank, -row["count"], row["rule"], index, row["step_name"])
