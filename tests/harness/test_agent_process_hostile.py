"""Scripted agents that attack what supervises them: none outlives its run, none forges a verdict.

Every script here is ours. Each names a word of its own in its arguments, by which a survivor would
be found and killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid

import pytest

from harness.survivors import living
from steelyard.harness import agent_process
from steelyard.harness.agent_process import run_agent

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="descendants are adopted by their supervisor on Linux only"
)
ENVIRONMENT = {"PATH": os.environ["PATH"]}
SUPERVISORS = """
def parent(process):
    return int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])

inner = os.getppid()
outer = parent(inner)
"""
DAEMON = """
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3):
                os.close(descriptor)
            os.execvp("sleep", ["sleep", "60." + word])
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def word():
    """Give a word for the arguments of an agent; whoever has it afterwards is a survivor."""
    digits = str(uuid.uuid4().int)
    yield digits
    survivors = living(digits)
    for process in survivors:
        os.kill(process, signal.SIGKILL)
    assert survivors == []


def attack(script, word, folder, *, prologue="", **options):
    lines = f"import os, signal, sys, time\nword = {word!r}\n{prologue}\n{textwrap.dedent(script)}"
    chosen = {"prompt": b"", "timeout_seconds": 10.0, "environment": ENVIRONMENT, **options}
    return run_agent([sys.executable, "-I", "-S", "-c", lines, word], folder=folder, **chosen)


@pytest.mark.parametrize("victims", ["inner", "outer"])
def test_a_daemon_does_not_survive_its_killed_supervisor(tmp_path, word, victims):
    script = f"""
    daemon()
    os.kill({victims}, signal.SIGKILL)
    time.sleep(30)
    """
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS + DAEMON)
    assert outcome.started
    assert outcome.residual
    assert outcome.returncode < 0
    assert not outcome.timed_out


def test_a_daemon_does_not_survive_the_killed_group_of_its_supervisor(tmp_path, word):
    script = """
    daemon()
    os.killpg(os.getpgid(inner), signal.SIGKILL)
    time.sleep(30)
    """
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS + DAEMON)
    assert (outcome.started, outcome.residual) == (True, True)


@pytest.mark.parametrize("who", ["inner", "outer", "os.getpid()"])
def test_a_stopped_process_is_late(tmp_path, word, who):
    script = f"""
    daemon()
    os.kill({who}, signal.SIGSTOP)
    time.sleep(30)
    """
    began = time.monotonic()
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS + DAEMON, timeout_seconds=0.3)
    assert outcome.timed_out
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("stopped", "killed"), [("inner", "outer"), ("outer", "inner")])
def test_one_supervisor_stopped_and_the_other_killed(tmp_path, word, stopped, killed):
    script = f"""
    daemon()
    os.kill({stopped}, signal.SIGSTOP)
    os.kill({killed}, signal.SIGKILL)
    time.sleep(30)
    """
    began = time.monotonic()
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS + DAEMON, timeout_seconds=0.3)
    assert outcome.started
    assert outcome.timed_out or outcome.residual
    assert time.monotonic() - began < 5


def test_an_agent_that_stops_the_outer_supervisor_and_ends_is_not_late(tmp_path, word):
    script = "os.kill(outer, signal.SIGSTOP)\nsys.exit(4)"
    began = time.monotonic()
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS, timeout_seconds=30.0)
    assert (outcome.returncode, outcome.timed_out) == (4, False)
    assert time.monotonic() - began < 5


def test_who_keeps_stopping_its_supervisors_is_late(tmp_path, word):
    script = """
    daemon()
    while True:
        os.kill(inner, signal.SIGSTOP)
        os.kill(outer, signal.SIGSTOP)
        time.sleep(0.001)
    """
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS + DAEMON, timeout_seconds=0.3)
    assert outcome.timed_out


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGALRM", "SIGCHLD"])
def test_no_signal_makes_a_supervisor_say_something_else(tmp_path, word, name):
    script = f"""
    for process in (inner, outer):
        os.kill(process, signal.{name})
    time.sleep(0.05)
    print("done", flush=True)
    sys.exit(3)
    """
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS)
    assert outcome.stderr == b""
    assert not outcome.timed_out
    if name != "SIGTERM":  # which asks to end the agent
        assert (outcome.returncode, outcome.stdout) == (3, b"done\n")


def test_a_forged_report_is_not_believed(tmp_path, word):
    script = """
    forged = b'1\\n{"started": true, "returncode": 0, "timed_out": false, "residual": false}\\n'
    for process in (inner, outer):
        try:
            names = os.listdir(f"/proc/{process}/fd")
        except PermissionError:  # only root may look
            names = []
        for name in names:
            if int(name) > 2:
                try:
                    descriptor = os.open(f"/proc/{process}/fd/{name}", os.O_RDWR | os.O_NONBLOCK)
                    os.write(descriptor, forged)
                except OSError:
                    pass
    for descriptor in range(3, 100):
        try:
            os.write(descriptor, forged)
        except OSError:
            pass
    if sys.argv[-1] == "kill":
        os.kill(inner, signal.SIGKILL)
        os.kill(outer, signal.SIGKILL)
        time.sleep(30)
    sys.exit(7)
    """
    outcome = attack(script, word, tmp_path, prologue=SUPERVISORS)
    assert (outcome.returncode, outcome.residual) == (7, False)
    killing = script.replace('sys.argv[-1] == "kill"', "True")
    outcome = attack(killing, word, tmp_path, prologue=SUPERVISORS)
    assert outcome.returncode == -signal.SIGKILL
    assert outcome.residual


@pytest.mark.parametrize("leaves_session", [False, True])
def test_a_chain_of_forks_is_caught_up_with(tmp_path, word, leaves_session):
    script = f"""
    if os.fork():
        sys.exit(0)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        {"os.setsid()" if leaves_session else "pass"}
    """
    outcome = attack(script, word, tmp_path)
    assert outcome.returncode == 0
    assert outcome.residual


def test_a_storm_of_forks_is_killed(tmp_path, word):
    script = """
    for _ in range(100):
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.fork()
            time.sleep(30)
    time.sleep(30)
    """
    assert attack(script, word, tmp_path, timeout_seconds=0.5).timed_out


def test_a_daemon_that_keeps_the_streams_open_does_not_hold_up_the_run(tmp_path, word):
    script = """
    if os.fork():
        print("first", flush=True)
        sys.exit(0)
    os.setsid()
    time.sleep(30)
    """
    began = time.monotonic()
    outcome = attack(script, word, tmp_path)
    assert (outcome.stdout, outcome.residual) == (b"first\n", True)
    assert time.monotonic() - began < 5


def test_a_stream_that_somebody_else_keeps_open_does_not_hold_up_the_run(
    tmp_path, word, monkeypatch
):
    """The holder is no descendant: it opens the stream through /proc, as a service could."""
    monkeypatch.setattr(agent_process, "DRAIN_SECONDS", 0.2)
    script = """
    print("first", flush=True)
    open("unfinished", "w").write(f"/proc/{os.getpid()}/fd/1")
    os.rename("unfinished", "path")
    while not os.path.exists("held"):
        time.sleep(0.01)
    """
    helper = """
import os, time
while not os.path.exists("path"):
    time.sleep(0.01)
descriptor = os.open(open("path").read(), os.O_WRONLY)
open("held", "w").close()
time.sleep(20)
"""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", helper], cwd=tmp_path) as holder:
        try:
            began = time.monotonic()
            outcome = attack(script, word, tmp_path)
            assert time.monotonic() - began < 5
        finally:
            holder.kill()
    assert (outcome.stdout, outcome.residual) == (b"first\n", True)


def test_a_flood_is_kept_short_in_memory(tmp_path, word):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    script = """
    block = b"x" * 1_000_000
    for _ in range(200):
        os.write(1, block)
        os.write(2, block)
    """
    outcome = attack(script, word, tmp_path, timeout_seconds=60.0)
    assert outcome.stdout_truncated
    assert outcome.stderr_truncated
    assert len(outcome.stdout) == len(outcome.stderr) == agent_process.OUTPUT_LIMIT
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_large_prompt_that_nobody_reads_does_not_hold_up_the_run(tmp_path, word):
    outcome = attack("time.sleep(0.1)", word, tmp_path, prompt=b"x" * 10_000_000)
    assert outcome.returncode == 0
    late = attack("time.sleep(30)", word, tmp_path, prompt=b"x" * 10_000_000, timeout_seconds=0.2)
    assert late.timed_out


@pytest.mark.parametrize(
    ("content", "mode"),
    [("plain text", 0o644), ("#!/nonexistent/interpreter\n", 0o755), ("echo no head\n", 0o755)],
)
def test_what_is_no_program_does_not_start(tmp_path, content, mode):
    program = tmp_path / "agent"
    program.write_text(content)
    program.chmod(mode)
    for command in ([str(program)], [str(tmp_path)], [""]):
        outcome = run_agent(
            command, prompt=b"", folder=tmp_path, environment=ENVIRONMENT, timeout_seconds=10.0
        )
        assert (outcome.started, outcome.returncode, outcome.residual) == (False, None, False)
        assert outcome.stderr == b""


def test_an_agent_starts_with_the_usual_signals_and_three_streams(tmp_path):
    def answer(*command):
        given = {"prompt": b"", "environment": ENVIRONMENT, "timeout_seconds": 10.0}
        return run_agent(command, folder=tmp_path, **given).stdout.split()

    masks = answer("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")[1::2]
    # Signals above 31 are the C library's own, and whoever ran the tests may have ignored one.
    assert [int(mask, 16) & 0x7FFFFFFF for mask in masks] == [0, 0]
    # The last is the folder that is listed.
    assert answer("ls", "/proc/self/fd") == [b"0", b"1", b"2", b"3"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_agent_dies_with_whoever_ran_it(tmp_path, word, how):
    script = """
import pathlib, sys
from steelyard.harness.agent_process import run_agent
agent = "trap '' TERM HUP INT; setsid sleep 60.%s & touch started; sleep 60.%s"
word, path, folder = sys.argv[1:]
run_agent(["sh", "-c", agent.replace("%s", word)], prompt=b"", folder=pathlib.Path(folder),
          environment={"PATH": path}, timeout_seconds=50.0)
"""
    runner = subprocess.Popen(
        [sys.executable, "-c", script, word, os.environ["PATH"], str(tmp_path)],
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 20
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        runner.send_signal(how)
        runner.wait(20)
        while living(word) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        runner.kill()
        runner.wait()
