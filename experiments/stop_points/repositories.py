"""The repositories: one TOML file each, with several versions of every function.

``given`` is where an agent begins; ``wrong`` fails visible tests; ``near`` passes them and fails a
hidden one; ``right`` passes all. They were written for this experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("repositories")
VERSIONS = ("given", "wrong", "near", "right")
CONFIG = "pyproject.toml"
RULES = """\
[tool.ruff]
line-length = 100
lint.select = ["B", "C4", "E", "F", "SIM", "W"]
"""
TYPES = """
[tool.mypy]
disallow_untyped_defs = true
"""


@dataclass(frozen=True)
class Repository:
    """One repository as it is before any work.

    Attributes
    ----------
    id, prompt, module : str
        The task's id and text, and the file that the work is in.
    header : str
        The module's first lines.
    functions : mapping
        Function, version (see `VERSIONS`), source.
    visible, hidden, stale : str
        Tests: those in the repository, those that decide the outcome, and one that asks for what
        is no longer wanted.
    """

    id: str
    prompt: str
    module: str
    header: str
    functions: Mapping[str, Mapping[str, str]]
    visible: str
    hidden: str
    stale: str

    @property
    def tests(self) -> str:
        """The name of the file of visible tests."""
        return f"test_{self.module}"

    def source(self, versions: Mapping[str, str]) -> str:
        """Return the module with the named version of each function."""
        parts = [self.functions[name][version].strip() for name, version in versions.items()]
        return "\n\n\n".join([self.header.strip(), *parts]) + "\n"

    def files(self) -> dict[str, str]:
        """Return every file by its path."""
        return {
            CONFIG: RULES + TYPES,
            self.module: self.source(dict.fromkeys(self.functions, "given")),
            self.tests: self.visible,
        }


def load_repositories(folder: Path = FOLDER) -> list[Repository]:
    """Return the repositories in the order of their names."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append(
            Repository(
                path.stem,
                content["prompt"],
                content["module"],
                content["header"],
                content["functions"],
                **content["tests"],
            )
        )
    return found
