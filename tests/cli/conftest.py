"""Running the program inside the test's process, on a database that is built once."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.main import run


@dataclass(frozen=True)
class Outcome:
    """What a run of the program left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON that holds neither NaN nor Infinity."""

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Program = Callable[..., Outcome]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """``program("rates", "plumbline_retry")`` runs the program as it stands."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.delenv("COLUMNS", raising=False)  # the width of the terminal tests run in
        monkeypatch.setattr(sys, "argv", ["steelyard", *map(str, arguments)])
        capsys.readouterr()
        try:
            run()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def cli(program: Program, database_path: Path) -> Program:
    """``cli("rates", "plumbline_retry")`` runs a verb on the tables of all committed studies."""

    def call(*arguments: object) -> Outcome:
        return program(*arguments, "--database", database_path)

    return call


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A copy of the project's evidence and studies, free to be damaged."""
    copy = tmp_path / "project"
    shutil.copytree(root / "data", copy / "data")
    shutil.copytree(root / "experiments", copy / "experiments")
    return copy
