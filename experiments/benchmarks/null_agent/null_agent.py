"""The null agent: ten calls of a tool that returns its argument. What remains is the harness."""

from __future__ import annotations

import time

from steelyard.harness.protocols import TrialSetup

CALLS = 10


def call_ten_times(setup: TrialSetup, seconds: float = 0.0) -> None:
    """The null agent; it can be told to take its time, so that there is a run to interrupt."""
    if seconds:
        time.sleep(seconds)
    for value in range(CALLS):
        setup.call("echo", {"value": value})
