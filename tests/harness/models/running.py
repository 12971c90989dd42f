"""Whole runs of the toy experiment, in this process or in one of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from harness.models.conftest import KINDS, base_url
from steelyard.cli.main import app
from steelyard.harness.export import export_run
from steelyard.store.connect import connect

PRICES = {"small": {"input": 1.0, "output": 5.0}}
FREE = {"free": {"entry": "steelyard.harness.models:ToolAgent", "parameters": {"turns": 6}}}


def model(kind: str, server, **parameters) -> dict:
    settings = {
        "model": "small",
        "base_url": base_url(kind, server),
        "api_key_env": "TEST_KEY",
        "first_wait_seconds": 0.001,
        "prices": PRICES,
        **parameters,
    }
    return {
        "entry": f"steelyard.harness.models:{KINDS[kind].__name__}",
        "parameters": settings,
    }


def steelyard(*arguments) -> tuple[int, str, str]:
    """Run the program in this process; `start` in one of its own."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code, ended.stdout, ended.stderr


def start(*arguments) -> subprocess.Popen:
    command = [sys.executable, "-m", "steelyard", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def database(folder: Path, suffix: str = "") -> Path:
    return folder.parents[1] / "build" / "runs" / f"{folder.name}{suffix}.duckdb"


def tables(folder: Path, suffix: str = "") -> dict[str, bytes]:
    target = folder.parents[1] / f"exported{suffix}"
    return {path.name: path.read_bytes() for path in export_run(database(folder, suffix), target)}


def rows(folder: Path, query: str) -> list[tuple]:
    connection = connect(database(folder))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
