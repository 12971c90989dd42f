"""Programs that say they are an agent and act as the scripted one, and the commands to run them."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.handoff.scripted import EXPERIMENT

SAYS = {"codex": "codex-cli 0.9.1", "claude-code": "2.1.37 (Claude Code)"}
BLOCKED = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"


def make_program(folder: Path, product: str = "codex", before: str = "") -> Path:
    """Write a program; ``before`` is shell text that runs before it answers a prompt."""
    program = folder / product
    program.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = --version ]; then echo "{SAYS[product]}"; exit; fi\n'
        f"{before}\n"
        f'exec "{sys.executable}" "{EXPERIMENT / "agents" / "scripted_agent.py"}" "$@"\n'
    )
    program.chmod(0o755)
    return program


def manual(program: Path, *faults: str, kind: str = "executable") -> tuple[str, ...]:
    """The options that run a program as the agent of its name."""
    words = "".join(f" --fault {fault}" for fault in faults)
    options = {"agent-command": f"{program}{words}", "adapter": program.name, "identity-kind": kind}
    given = (word for name, value in options.items() for word in (f"--{name}", value))
    return (*given, "--unsafe-manual")


def sides(left: Path, right: Path) -> tuple[str, ...]:
    """The options of a roundtrip between two programs."""
    given = (
        word
        for side, program in (("left", left), ("right", right))
        for name, value in (
            ("agent-command", str(program)),
            ("adapter", program.name),
            ("identity-kind", "executable"),
        )
        for word in (f"--{side}-{name}", value)
    )
    return (*given, "--unsafe-manual")


def chosen(*scenarios: str) -> tuple[str, ...]:
    """The options that choose scenarios."""
    return tuple(word for name in scenarios for word in ("--scenario", name))
