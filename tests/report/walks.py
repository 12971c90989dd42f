"""A small study whose trials have steps; every number is made up."""

import itertools
import random

CALLS = ("look", "check", "pay")


def steps(*names, failed=()):
    """Return tool calls by name; those whose position is in ``failed`` ended in an error."""
    return [
        {
            "name": name,
            "arguments": {"id": "1"},
            **({"error": f"{name} not found"} if place in failed else {}),
        }
        for place, name in enumerate(names)
    ]


def trials(seed=None):
    """Two arms, three tasks, two perturbations, two repeats.

    ``new`` calls ``check`` twice, the first time in vain, and under the fault replaces ``pay`` in
    task t3; ``old`` loses ``check`` to the fault in repeat 0.
    """
    rows = [
        _trial(*cell)
        for cell in itertools.product(
            ("old", "new"), ("t1", "t2", "t3"), ("baseline", "fault"), (0, 1)
        )
    ]
    rows.append({"arm": "new", "task": "t3", "repeat": 2, "status": "missing"})
    if seed is not None:
        random.Random(seed).shuffle(rows)  # noqa: S311 - the order, nothing secret
    return rows


def _trial(arm, task, perturbation, repeat):
    hit = perturbation == "fault"
    paid = not (hit and arm == "old" and repeat == 0)
    names, failed = list(CALLS), ()
    if arm == "new":
        names.insert(1, "check")
        failed = (1,)
        if hit and task == "t3":
            names[-1] = "hold"
    elif not paid:
        failed = (1,)
    return {
        "arm": arm,
        "task": task,
        "perturbation": perturbation,
        "repeat": repeat,
        "success": int(paid),
        "conformant": int(paid),
        "critical_conformant": 1,
        "upheld:check": int(paid),
        "steps": steps(*names, failed=failed),
        "state": {"paid": paid},
    }


def published():
    """Return what the source lists: the extra calls, and one divergence that is not there."""
    listed = [
        {
            "incumbent": "old",
            "replacement": "new",
            "trial_id": f"new/{task}/{perturbation}/0/{repeat}",
            "kind": "extra",
            "step_index": 0,
            "expected": "(nothing)",
            "got": "tool_call:check",
            "severity": "medium",
        }
        for task in ("t1", "t2", "t3")
        for perturbation in ("baseline", "fault")
        for repeat in (0, 1)
    ]
    ghost = {"kind": "skipped", "step_index": 0, "expected": "tool_call:look"}
    return [*listed, listed[0] | ghost | {"got": "(not called)", "severity": "high"}]


def study(small_study, seed=None, **sections):
    """Return the study, with rules, a control and a comparison unless told otherwise."""
    given = {
        "design": {"arms": ["old", "new"], "perturbations": ["baseline", "fault"]},
        "measures": {"primary": "success", "others": ["conformant", "critical_conformant"]},
        "rules": {"check": {"severity": "high"}},
        "controls": [
            {"id": "C1", "title": "It is checked", "rules": ["check"], "tolerable_rate": 0.5}
        ],
        "comparisons": [
            {
                "name": "new against old",
                "measure": "success",
                "reference": "old",
                "candidate": "new",
                "margin": 0.1,
            }
        ],
        "divergences": published(),
    }
    return small_study(trials(seed), study="walks", **(given | sections))
