"""Runs in processes of their own, and their sudden ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from steelyard.harness.export import export_run


def start(study: Path, database: Path, workers: int, verb: str = "run") -> subprocess.Popen[bytes]:
    """Start a run in a process group of its own."""
    command = [sys.executable, "-m", "steelyard", verb, str(study), "--database", str(database)]
    return subprocess.Popen(  # noqa: S603 - our own program
        [*command, "--workers", str(workers)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def killed(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill a process group after some seconds; False if it had ended by then."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def run_to_the_end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a run; it has to succeed."""
    _, errors = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a run ended with exit code {process.returncode}: {errors.decode()}")


def tables(database: Path, folder: Path) -> dict[str, bytes]:
    """Return the exported tables."""
    return {path.name: path.read_bytes() for path in export_run(database, folder)}
