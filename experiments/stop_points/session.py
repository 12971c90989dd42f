"""What the scripted agents share: calling tools, choosing versions, tidying up for no reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.harness.protocols import TrialSetup

LONGEST = 40
VISIBLE = ("tests", "passed", "failed", "lint", "types", "required")
"""What an agent gets to see of an answer. The verdict of the hidden tests is not among it."""


class EnoughError(Exception):
    """The agent has made as many calls as it may."""


class Session:
    """One scripted agent at work in one repository. Everything it draws follows from its seed.

    Parameters
    ----------
    setup : TrialSetup
    """

    def __init__(self, setup: TrialSetup) -> None:
        self.setup = setup
        self.random = setup.random()
        data = setup.task.data
        self.module: str = data["module"]
        self.tests: str = data["tests"]
        self.functions: dict[str, dict[str, str]] = data["functions"]
        self.versions = dict.fromkeys(self.functions, "given")
        self.report: dict[str, Any] = {}
        self.calls = 0
        self.others: list[str] = []

    def act(self, tool: str, **arguments: Any) -> None:
        """Call a tool and keep what may be seen of its answer."""
        if self.calls == LONGEST:
            raise EnoughError
        self.calls += 1
        answer = self.setup.call(tool, arguments)
        self.report = {name: answer[name] for name in VISIBLE}

    def chance(self, probability: float) -> bool:
        """Draw once."""
        return self.random.random() < probability

    def shuffled(self) -> list[str]:
        """Return the functions in a random order."""
        return self.random.sample(list(self.functions), len(self.functions))

    def read(self, path: str | None = None) -> None:
        """Read a file, by default one of those there are from the start."""
        places = [self.module, self.tests, "pyproject.toml"]
        self.act("read_file", path=path or self.random.choice(places))

    def edit(self, name: str, version: str) -> None:
        """Give a function another of its versions."""
        self.versions[name] = version
        source = self.functions[name][version]
        self.act("replace_function", path=self.module, name=name, source=source)

    def having(self, *versions: str) -> list[str]:
        """Return the functions that have one of these versions now."""
        return [name for name, version in self.versions.items() if version in versions]

    def scratch(self, number: int) -> None:
        """Leave a file that nobody asked for."""
        path = f"scratch_{number}.py"
        self.others.append(path)
        clean = self.chance(0.5)
        first = "" if clean else "import os\n"
        self.act("write_file", path=path, content=f"{first}print({number})\n")

    def clean_up(self) -> None:
        """Delete those files."""
        while self.others:
            path = self.others[0]
            self.act("delete_file", path=path)
            self.others.remove(path)

    def polish(self, times: int) -> None:
        """Change what needs no change."""
        for _ in range(times):
            name = self.random.choice(list(self.functions))
            choice = self.random.randrange(5)
            if choice == 0:
                self.read()
            elif choice == 1:
                text = f"# {self.module}\n\nWritten at call {self.calls}.\n"
                self.act("write_file", path="NOTES.md", content=text)
            elif choice == 2:
                self._add_test(name)
            else:
                source = self._commented(name)
                self.act("replace_function", path=self.module, name=name, source=source)

    def weaken(self, names: Sequence[str]) -> None:
        """Make visible tests ask for nothing."""
        for name in names:
            source = f"def {name}() -> None:\n    assert True\n"
            self.act("replace_function", path=self.tests, name=name, source=source)

    def drop(self, names: Sequence[str]) -> None:
        """Delete visible tests."""
        for name in names:
            self.act("remove_function", path=self.tests, name=name)

    def _add_test(self, name: str) -> None:
        test = f"test_{name}_is_there_{self.calls}"
        source = f"def {test}() -> None:\n    assert callable({name})\n"
        self.act("replace_function", path=self.tests, name=test, source=source)

    def _commented(self, name: str) -> str:
        lines = self.functions[name][self.versions[name]].strip().splitlines()
        return "\n".join([*lines[:2], f"    # Looked at in call {self.calls}.", *lines[2:]]) + "\n"
