"""Measures that follow from the violations: what was not broken was upheld."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from steelyard.errors import DataError, StudyError, UnknownNameError
from steelyard.store.batch import Batch
from steelyard.store.columns import Derived
from steelyard.store.declaration import Declaration


def derive(
    batches: Mapping[str, Batch], declaration: Declaration, derived: Sequence[Derived]
) -> None:
    """Add the derived measures of a study to its batch of measures.

    A violation table lists what was broken; that a rule was upheld is the absence of a row. This
    is only true of trials that were judged: a trial that never ran gets NULL (not measured). A
    rule that does not apply to a task gets no row there, so that it does not enter the
    denominator.

    Parameters
    ----------
    batches : mapping of str to Batch
        ``trials`` and ``violations`` filled; ``measures`` is extended.
    declaration : Declaration
        Its rules say which tasks each applies to.
    derived : sequence of Derived
        What to derive.

    Raises
    ------
    DataError
        If a violation names a rule that the study does not declare, another severity than the
        declared one, or a task that the rule does not apply to.
    StudyError
        If a rule is declared for a task of which there is no trial: a slip there would take the
        task out of the rule's denominator without a trace.
    """
    _check_tasks(batches, declaration)
    broken = _broken(batches, declaration)
    for rule in derived:
        if rule.per_rule:
            for name, declared in declaration.rules.items():
                _add(
                    batches,
                    rule.measure.replace("{rule}", name),
                    {trial for trial, rules in broken.items() if name in rules},
                    [declared.applies_to(task) for task in batches["trials"].columns["task"]],
                )
        else:
            severities = rule.severities or ("critical", "high", "medium", "low")
            chosen = {n for n, r in declaration.rules.items() if r.severity in severities}
            _add(
                batches,
                rule.measure,
                {trial for trial, rules in broken.items() if rules & chosen},
                [True] * len(batches["trials"]),
            )


def _check_tasks(batches: Mapping[str, Batch], declaration: Declaration) -> None:
    tasks = set(batches["trials"].columns["task"])
    for name, rule in declaration.rules.items():
        for task in () if rule.tasks == "*" else rule.tasks:
            if task not in tasks:
                where = f"experiments/{declaration.id}/study.toml"
                unknown = UnknownNameError("task", task, tasks, f"rules.{name!r}")
                raise StudyError(f"{where}: {unknown}")


def _broken(batches: Mapping[str, Batch], declaration: Declaration) -> dict[str, set[str]]:
    """Return the rules broken in each trial, after checking them against the declaration."""
    trials, violations = batches["trials"].columns, batches["violations"]
    task_of = dict(zip(trials["trial_id"], trials["task"], strict=True))
    broken: dict[str, set[str]] = defaultdict(set)
    for trial, name, severity, place in zip(
        violations.columns["trial_id"],
        violations.columns["rule"],
        violations.columns["severity"],
        violations.places,
        strict=True,
    ):
        where = f"experiments/{declaration.id}/study.toml"
        rule = declaration.rules.get(name)
        if rule is None:
            raise DataError(f"{place}: rule {name!r} is not declared in {where}")
        if rule.severity != severity:
            raise DataError(
                f"{place}: rule {name!r} has severity {severity!r}; {where} says {rule.severity!r}"
            )
        if not rule.applies_to(task_of[trial]):
            raise DataError(
                f"{place}: rule {name!r} does not apply to task {task_of[trial]!r} by {where}"
            )
        broken[trial].add(name)
    return broken


def _add(
    batches: Mapping[str, Batch], measure: str, broken: set[str], applies: Sequence[bool]
) -> None:
    trials = batches["trials"]
    rows = [index for index, holds in enumerate(applies) if holds]
    ids = [trials.columns["trial_id"][row] for row in rows]
    judged = [trials.columns["status"][row] != "missing" for row in rows]
    batches["measures"].extend(
        {
            "study": [trials.columns["study"][row] for row in rows],
            "trial_id": ids,
            "measure": [measure] * len(rows),
            "value": [
                float(trial not in broken) if known else None
                for trial, known in zip(ids, judged, strict=True)
            ],
        },
        [trials.places[row] for row in rows],
    )
