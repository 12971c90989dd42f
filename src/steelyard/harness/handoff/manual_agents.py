"""Agents of somebody's choice: how they are run, and asking them who they are.

Such an agent is a program on the user's machine with the user's rights: nothing here is a sandbox.
It is started only when the caller has acknowledged that.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InputError
from steelyard.evaluators.handoff.identity import (
    ADAPTERS,
    MISMATCH,
    MISSING,
    PROBE_FAILED,
    VERIFIED,
    AgentIdentity,
    is_safe_label,
)
from steelyard.evaluators.handoff.snapshot import changed_paths, take_snapshot
from steelyard.harness.handoff.disposable_roots import disposable_root, look_again
from steelyard.harness.handoff.environment import import_environment
from steelyard.harness.handoff.identity_probe import probe_identity
from steelyard.harness.handoff.import_trials import AgentCommand


@dataclass(frozen=True)
class ManualAgent:
    """A real agent and how it is run.

    Attributes
    ----------
    name : str
        Its label in reports.
    adapter : str
        The product it should be.
    command : AgentCommand
        Its command.
    identity_kind : str
        ``executable`` or ``launcher``.
    """

    name: str
    adapter: str
    command: AgentCommand
    identity_kind: str

    def __post_init__(self) -> None:
        if not is_safe_label(self.name):
            raise InputError(
                f"the agent's name {self.name!r:.160} is no label: 1 to 128 printable characters, "
                "no slash, no space at either end"
            )


def check_adapter(name: str | None) -> str:
    """Return an adapter's name.

    Raises
    ------
    InputError
        There is none of this name.
    """
    if name not in ADAPTERS:
        found = "is missing" if name is None else f"is {name!r}"
        raise InputError(f"the adapter {found}; accepted are {', '.join(ADAPTERS)}")
    return name


def split_command(text: str) -> tuple[str, ...]:
    """Return the arguments of a command line, read as a shell would but run by none.

    The program is the file that its name stands for here and now: an agent is started in another
    folder, where a relative path leads elsewhere.

    Raises
    ------
    InputError
        It is empty or a quotation is not closed.
    """
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise InputError(f"the agent command cannot be read: {error}") from None
    if not arguments:
        raise InputError("the agent command is empty; give a program and its arguments")
    found = shutil.which(arguments[0])
    program = arguments[0] if found is None else str(Path(found).absolute())
    return (program, *arguments[1:])


def probe(agent: ManualAgent, observed_at: str) -> tuple[AgentIdentity, list[str]]:
    """Ask an agent who it is, in an empty folder; return that and what it wrote there."""
    with disposable_root() as root:
        (root / "tmp").mkdir()
        before = take_snapshot(root)
        identity = probe_identity(
            agent.adapter,
            agent.command.arguments[0],
            identity_kind=agent.identity_kind,
            folder=root,
            environment=import_environment(root, inherit_user_config=True),
            observed_at=observed_at,
        )
        written = changed_paths(before, look_again(root, before))
    return identity, [path for path in written if not path.startswith("tmp/")]


_WHY = {
    MISSING: "cannot be found as a program",
    PROBE_FAILED: "does not say that it is {}",
    MISMATCH: "is not {}",
}


def identity_problem(identity: AgentIdentity, written: list[str]) -> str | None:
    """Return why an agent is not run, None if it is who it should be and wrote nothing."""
    if identity.status != VERIFIED:
        found = f" (it says it is {identity.product})" if identity.product else ""
        program = identity.requested_executable
        why = _WHY[identity.status].format(identity.adapter)
        return f"{program} {why}: {identity.error_code}{found}"
    if written:
        return f"{identity.adapter} wrote files when it was asked for its version"
    return None
