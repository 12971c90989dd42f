"""Trials in a line each, for tests of the trajectory analyses."""

from __future__ import annotations

from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial


def steps(path: str, **arguments) -> tuple[Step, ...]:
    """``"check pay! log"``: tool calls in order; ``!`` failed, ``?`` arguments not recorded.

    Keywords give a tool its arguments; a name that begins with ``@`` is a decision.
    """
    made = []
    for word in path.split():
        name = word.strip("@!?")
        known = None if word.endswith("?") else arguments.get(name, {})
        kind = "decision" if word.startswith("@") else "tool_call"
        made.append(Step(kind, name, known, error="503" if word.endswith("!") else None))
    return tuple(made)


def trial(
    path: str,
    *,
    arm="a",
    task="T",
    perturbation="baseline",
    variant="0",
    repeat=0,
    state=None,
    status="completed",
    study="",
    **arguments,
) -> Trial:
    """Make one trial from its path; see `steps`."""
    return Trial(
        TrialKey(arm, task, perturbation, variant, repeat),
        status=status,
        steps=steps(path, **arguments),
        study=study,
        state=state,
    )
