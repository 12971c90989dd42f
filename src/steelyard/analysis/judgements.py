"""Judgements: which rules each trial upheld, from its steps or as a source recorded it.

Conformance and the testing of controls ask different questions of the same facts, and the facts
come in two ways: a policy is checked on the steps of the trials, or the tables already hold what
was found (``measures`` named ``upheld:<rule>`` and the table ``violations``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.selection import select
from steelyard.analysis.trajectories import population
from steelyard.errors import InputError
from steelyard.evaluators.invariants import Assessment, Policy
from steelyard.trials.argument_schema import SEVERITIES
from steelyard.trials.model import Trial

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

UPHELD = "upheld:"
RECORDED_POLICIES = ("exclude", "fail", "recorded")


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken rule in one trial.

    ``step_index`` counts control steps; it is None where a call never happened, and where a
    source does not say.
    """

    rule: str
    severity: str
    step_index: int | None
    step_name: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known about one trial.

    Parameters
    ----------
    label, arm, task, perturbation : str
        The trial.
    scored : bool
        Whether the missing policy lets it count.
    errored : bool
        Whether the trial ended in an error.
    overall, critical : bool or None
        Whether it broke no rule, and no critical one; None when that is not known.
    rules : tuple of (str, bool or None)
        The rules that apply to it and whether it upheld them.
    breaches : tuple of Breach
        The rules that it broke.
    """

    label: str
    arm: str
    task: str
    perturbation: str
    scored: bool
    errored: bool
    overall: bool | None
    critical: bool | None
    rules: tuple[tuple[str, bool | None], ...]
    breaches: tuple[Breach, ...]


def judge(
    trials: Iterable[Trial],
    policy: Policy,
    contexts: Mapping[str, Mapping[str, Any]],
    missing: str = "exclude",
) -> list[Judgement]:
    """Check a policy on the steps of trials.

    Parameters
    ----------
    trials : iterable of Trial
        Of one study.
    policy : Policy
        The rules. With ``compatibility="plumbline"`` a task without a context is checked against
        an empty one.
    contexts : mapping of str to mapping
        What the system of record says about each task. A trial of a task that is not among them
        cannot be judged and is not scored.
    missing : {"exclude", "recorded"}
        See :func:`steelyard.analysis.trajectories.population`.

    Returns
    -------
    list of Judgement
        One per trial, in the order given.

    Raises
    ------
    InputError
        No trials, trials of two studies, an unknown policy.
    """
    listed = list(trials)
    if not listed:
        raise InputError("there are no trials to check")
    counted = {trial.label for trial in population(listed, missing).scored}
    return [_judge(trial, policy, contexts, trial.label in counted) for trial in listed]


def _judge(
    trial: Trial, policy: Policy, contexts: Mapping[str, Mapping[str, Any]], counted: bool
) -> Judgement:
    context = contexts.get(trial.key.task)
    if context is None and policy.compatibility is not None:
        context = {}
    known = counted and context is not None
    assessed = policy.assess(trial, context) if known and context is not None else ()
    broken = sorted(
        (a.violation for a in assessed if a.violation is not None),
        key=lambda violation: violation.severity_rank,
    )
    return Judgement(
        label=trial.label,
        arm=trial.key.arm,
        task=trial.key.task,
        perturbation=trial.key.perturbation,
        scored=known,
        errored=trial.error is not None,
        overall=_upheld(assessed) if known else None,
        critical=_upheld([a for a in assessed if a.rule.severity == "critical"]) if known else None,
        rules=tuple((a.rule.id, _upheld([a])) for a in assessed),
        breaches=tuple(Breach(v.rule, v.severity, v.control_index, v.step_name) for v in broken),
    )


def _upheld(assessed: Sequence[Assessment]) -> bool | None:
    """Return False for any violation, else None for any rule that cannot be assessed."""
    verdicts = {assessment.verdict for assessment in assessed}
    if "violated" in verdicts:
        return False
    return None if "not assessable" in verdicts else True


def recorded_judgements(
    tables: StudyTables, arm: str, missing: str, **filters: Any
) -> list[Judgement]:
    """Read what a source recorded about the rules of a study.

    Parameters
    ----------
    tables : StudyTables
        The study. Its measures ``conformant``, ``critical_conformant`` and ``upheld:<rule>`` are
        read, and its violations.
    arm : str
        The arm.
    missing : {"exclude", "fail", "recorded"}
        See :func:`steelyard.analysis.select`.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``.

    Returns
    -------
    list of Judgement
        One per trial of the arm, in the study's order.

    Raises
    ------
    InputError
        Under ``bounds``, which gives two answers (use :func:`steelyard.analysis.rates`), and for
        a study that records no rules.
    """
    if missing not in RECORDED_POLICIES:
        raise InputError(
            f"missing policy is {missing!r}; accepted for conformance are "
            + ", ".join(RECORDED_POLICIES)
            + "; steelyard.analysis.rates gives the bounds"
        )
    held = set(tables.frame("measures")["measure"].unique())
    rules = [rule for rule in tables.design.rules if UPHELD + rule in held]
    lacking = sorted({"conformant", "critical_conformant"} - held)
    if lacking or not rules:
        raise InputError(
            f"study {tables.study} records no judgements of rules"
            + (f" (it has no measure {lacking[0]!r})" if lacking else "")
            + "; pass a policy and contexts to check its steps"
        )
    overall, critical, *upheld = (
        select(tables, measure, missing, arm=arm, **filters)
        for measure in ["conformant", "critical_conformant", *(UPHELD + r for r in rules)]
    )
    values = [_values(frame) for frame in upheld]
    criticals, breaches = _values(critical), _breaches(tables)
    return [
        _recorded(row, criticals, dict(zip(rules, values, strict=True)), breaches)
        for row in overall.to_dict("records")
    ]


def _values(frame: pd.DataFrame) -> dict[str, bool | None]:
    """Return each listed trial's value, None where it does not count."""
    pairs = zip(frame["trial_id"], frame["value"], strict=True)
    return {str(name): None if pd.isna(value) else bool(value) for name, value in pairs}


def _breaches(tables: StudyTables) -> dict[str, list[Breach]]:
    found: dict[str, list[Breach]] = {}
    for row in tables.frame("violations").to_dict("records"):
        index = None if pd.isna(row["step_index"]) else int(row["step_index"])
        name = row["step_name"] if isinstance(row["step_name"], str) else ""
        breach = Breach(row["rule"], row["severity"], index, name)
        found.setdefault(row["trial_id"], []).append(breach)
    return found


def _recorded(
    row: Mapping[Any, Any],
    criticals: Mapping[str, bool | None],
    rules: Mapping[str, Mapping[str, bool | None]],
    breaches: Mapping[str, Sequence[Breach]],
) -> Judgement:
    name = row["trial_id"]
    scored = not pd.isna(row["value"])
    broken = sorted(breaches.get(name, ()), key=lambda breach: SEVERITIES.index(breach.severity))
    return Judgement(
        label=name,
        arm=row["arm"],
        task=row["task"],
        perturbation=row["perturbation"],
        scored=scored,
        errored=row["status"] == "failed",
        overall=bool(row["value"]) if scored else None,
        critical=criticals.get(name),
        rules=tuple((rule, values[name]) for rule, values in rules.items() if name in values),
        breaches=tuple(broken) if scored else (),
    )
