"""One agent process within bounds, and nothing of it left afterwards."""

from __future__ import annotations

import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steelyard.harness.agent_process import run_agent

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found in /proc")
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def run(*command, folder, **options):
    chosen = {"prompt": b"", "timeout_seconds": 20.0, "environment": ENVIRONMENT, **options}
    return run_agent(command, folder=folder, **chosen)


def living(word):
    """Return the ids of processes whose command line or environment holds a word."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            content = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in content and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def test_the_prompt_goes_in_and_both_streams_come_out(tmp_path):
    outcome = run("sh", "-c", "cat; echo oops >&2; exit 3", folder=tmp_path, prompt=b"hello")
    assert (outcome.started, outcome.returncode) == (True, 3)
    assert (outcome.stdout, outcome.stderr) == (b"hello", b"oops\n")
    assert not outcome.residual
    assert not outcome.timed_out


def test_an_agent_need_not_read_its_prompt(tmp_path):
    assert run("true", folder=tmp_path, prompt=b"x" * 1_000_000).returncode == 0


def test_only_the_given_variables_arrive(tmp_path):
    outcome = run("env", folder=tmp_path, environment={**ENVIRONMENT, "GIVEN": "1"})
    names = {line.split("=")[0] for line in outcome.stdout.decode().splitlines()}
    assert names <= {"PATH", "GIVEN", "LC_CTYPE"}
    assert "GIVEN" in names


@pytest.mark.parametrize("command", ["/nonexistent/agent", "not-on-the-path", "a\0b"])
def test_what_cannot_start_has_no_exit_code(tmp_path, command):
    outcome = run(command, folder=tmp_path)
    assert (outcome.started, outcome.returncode, outcome.stdout) == (False, None, b"")


def test_streams_are_drained_but_kept_short(tmp_path):
    script = "yes | head -c 3000000; yes | head -c 3000000 >&2"
    outcome = run("sh", "-c", script, folder=tmp_path, output_limit=100)
    assert (len(outcome.stdout), len(outcome.stderr)) == (100, 100)
    assert outcome.stdout_truncated
    assert outcome.stderr_truncated
    exact = run("printf", "x" * 100, folder=tmp_path, output_limit=100)
    assert not exact.stdout_truncated


@pytest.mark.parametrize("script", ["sleep 60", "trap '' TERM; sleep 60; sleep 60"])
def test_time_is_up_also_for_who_ignores_it(tmp_path, script):
    outcome = run("sh", "-c", script, folder=tmp_path, timeout_seconds=0.3)
    assert outcome.timed_out
    assert outcome.returncode < 0
    assert not outcome.residual


@ON_LINUX
@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 &",
        "setsid sleep 60 &",
        "env -i setsid sh -c 'setsid sleep 60 & exec sleep 60' & sleep 0.2",
        "(trap '' TERM; sleep 60) & exit 0",
        "sleep 60 & kill -9 $PPID; sleep 60",
    ],
)
def test_no_descendant_outlives_the_run(tmp_path, script):
    word = f"mark-{uuid.uuid4()}"
    marked = {**ENVIRONMENT, "MARK": word}
    script = script.replace("env -i", f"env -i PATH=/bin:/usr/bin X={word}")
    outcome = run("sh", "-c", script, folder=tmp_path, environment=marked)
    assert outcome.residual
    assert living(word) == []


@ON_LINUX
def test_fifty_at_once_leave_nothing(tmp_path):
    word = f"mark-{uuid.uuid4()}"
    marked = {**ENVIRONMENT, "MARK": word}
    scripts = ["true", "setsid sleep 60 & exit 1", "sleep 60", "sleep 60 & yes | head -c 400000"]

    def one(number):
        script = scripts[number % len(scripts)]
        return run(
            "sh",
            "-c",
            script,
            folder=tmp_path,
            environment=marked,
            timeout_seconds=1.5 + number / 100,
        )

    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with ThreadPoolExecutor(50) as pool:
        outcomes = list(pool.map(one, range(50)))
    assert living(word) == []
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert all(outcome.timed_out for outcome in outcomes[2::4])
    assert all(outcome.residual or outcome.timed_out for outcome in outcomes[1::4])
    assert list(tmp_path.iterdir()) == []
