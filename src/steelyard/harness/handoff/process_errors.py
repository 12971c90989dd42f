"""What is wrong with how an agent's process ended, by the names of each capability."""

from __future__ import annotations

from steelyard.evaluators.handoff.identity import environment_block_reason
from steelyard.harness.agent_process import ProcessOutcome


def block_reason(outcome: ProcessOutcome) -> str | None:
    """Return why an agent's own sandbox could not start, as a failed process says on stderr."""
    if not outcome.started or outcome.timed_out or outcome.returncode == 0:
        return None
    return environment_block_reason(outcome.stderr.decode("utf-8", "replace"))


_IMPORT_NAMES = {
    "execution": "execution-failed",
    "timeout": "timeout",
    "blocked": "environment-blocked",
    "exit": "nonzero-exit",
    "stdout": "stdout-limit",
    "stderr": "stderr-limit",
    "residual": "residual-process",
}
_EXPORT_NAMES = {
    "execution": "agent:execution",
    "timeout": "agent:timeout",
    "blocked": "environment:blocked",
    "exit": "agent:nonzero-exit",
    "stdout": "agent:stdout-limit",
    "stderr": "agent:stderr-limit",
    "residual": "agent:residual-process",
}


def process_errors(outcome: ProcessOutcome, reason: str | None, capability: str) -> list[str]:
    """Return what is wrong with how a process ended, by the names of a capability.

    Parameters
    ----------
    outcome : ProcessOutcome
        How it ended.
    reason : str or None
        Why its environment was blocked.
    capability : str
        ``import`` or ``export``.
    """
    names = _IMPORT_NAMES if capability == "import" else _EXPORT_NAMES
    ends = (
        ("execution", not outcome.started),
        ("timeout", outcome.timed_out),
        ("blocked", reason is not None),
        ("exit", outcome.returncode != 0),
    )
    errors = [names[key] for key, holds in ends if holds][:1]
    limits = (
        ("stdout", outcome.stdout_truncated),
        ("stderr", outcome.stderr_truncated),
        ("residual", outcome.residual),
    )
    return errors + [names[key] for key, holds in limits if holds]
