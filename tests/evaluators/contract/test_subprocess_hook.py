"""Evaluators in other processes: what they may answer, and every way in which they fail."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from pathlib import Path

import pytest

from contract_policies import numbered, passing
from steelyard.errors import InputError
from steelyard.evaluators.contract import (
    EvaluatorFailure,
    SubprocessEvaluator,
    check_order,
    evaluate,
    python_command,
)

# Each answers the first request properly, then does what its name says. It imports nothing of ours:
# it starts faster, and a hook need not be written with this package.
PROGRAM = """
import json, os, subprocess, sys, time
def result(request):
    rows = [{"rule_id": r["rule_id"], "kind": r["kind"], "path": r["path"], "passed": True,
             "reason_code": "FINE"} for r in request["policy"]["rules"]]
    return json.dumps({"passed": True, "policy_id": "p", "rule_results": rows})
def behave(number, answer):
    BEHAVIOUR
    return answer
for number, line in enumerate(sys.stdin):
    print(behave(number, result(json.loads(line))), flush=True)
"""


@pytest.fixture
def hook(tmp_path):
    """``hook("if number: ...")`` is an evaluator that runs this program."""
    running = []

    def make(behaviour="pass", timeout=20.0):
        program = tmp_path / "hook.py"
        program.write_text(PROGRAM.replace("BEHAVIOUR", behaviour))
        running.append(SubprocessEvaluator([sys.executable, str(program)], timeout=timeout))
        return running[-1]

    yield make
    for evaluator in running:
        evaluator.close()


def test_results_come_through(hook):
    report = check_order(numbered(3), {"text": 'é\n\u2028"'}, hook())
    assert report["status"] == "PRESENTATION_ONLY_DRIFT"
    assert report["coverage"]["evaluations_performed"] == 18


@pytest.mark.parametrize(
    ("behaviour", "kind", "reason"),
    [
        ("if number: os._exit(3)", "crash", "exit code 3"),
        ("if number: os.kill(os.getpid(), 9)", "crash", "SIGKILL"),
        ("if number: os.close(1); time.sleep(60)", "crash", "closed its output"),
        ("if number: return 'not json'", "garbage", "not valid JSON"),
        ('if number: return \'{"a":1,"a":1}\'', "garbage", "twice"),
        ("if number: return answer + chr(10) + answer", "garbage", "more than one line"),
        ("if number: return 'x' * 2_000_000", "garbage", "more than 1,000,000 bytes"),
        ("if number: return '[]'", "contract", "not an object"),
        ('if number: return \'{"error": "ValueError"}\'', "exception", "it raised ValueError"),
        ('if number: return \'{"error": "the value 7"}\'', "exception", "it reported an error"),
    ],
)
def test_a_failure_is_reported_by_kind_and_reason(hook, behaviour, kind, reason):
    report = check_order(numbered(2), passing(2), hook(behaviour), on_failure="report")
    assert report["status"] == "INCONCLUSIVE_EVALUATOR_FAILURE"
    assert report["failure"]["kind"] == kind
    assert reason in report["failure"]["reason"]
    assert report["failure"]["repeat"] == 2


def test_a_hook_that_hangs_is_killed_with_all_it_started(hook, tmp_path):
    note = tmp_path / "child"
    behaviour = (
        "if number:\n        child = subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(60)'], stdout=subprocess.DEVNULL)\n"
        f"        open({str(note)!r}, 'w').write(str(child.pid))\n"
        "        time.sleep(60)"
    )
    evaluator = hook(behaviour)
    evaluator(numbered(2), passing(2))
    evaluator.timeout = 2.0
    with pytest.raises(EvaluatorFailure, match="no answer within 2 s"):
        evaluator(numbered(2), passing(2))
    child = int(note.read_text())
    for _ in range(200):
        if not _lives(child):
            break
        time.sleep(0.02)
    assert not _lives(child)


def _lives(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_program_that_does_not_read_does_not_block(tmp_path):
    program = tmp_path / "deaf.py"
    program.write_text("import time; time.sleep(60)")
    with (
        SubprocessEvaluator([sys.executable, str(program)], timeout=0.5) as evaluator,
        pytest.raises(EvaluatorFailure, match="no answer"),
    ):
        evaluator(numbered(2), {"much": "x" * 900_000})


def test_what_is_written_without_a_request_is_garbage(hook):
    evaluator = hook(
        "if not number: answer += chr(10); os.write(1, answer.encode()); time.sleep(.1)"
    )
    assert evaluator(numbered(2), passing(2))["passed"]
    time.sleep(0.3)
    with pytest.raises(EvaluatorFailure, match="without having been asked"):
        evaluator(numbered(2), passing(2))


def test_a_restart_gives_new_state(hook):
    evaluator = hook("if number: return '[]'")
    for _ in range(3):
        assert evaluator.restart()(numbered(2), passing(2))["passed"]
    assert evaluator(numbered(2), passing(2)) == []


def test_after_a_failure_the_next_call_starts_again(hook):
    evaluator = hook("if number: os._exit(1)")
    assert evaluator(numbered(2), passing(2))["passed"]
    with pytest.raises(EvaluatorFailure):
        evaluator(numbered(2), passing(2))
    assert evaluator(numbered(2), passing(2))["passed"]


@pytest.mark.parametrize("command", [["/no/such/program"], ["a\0b"]])
def test_a_program_that_cannot_be_started(command):
    with (
        SubprocessEvaluator(command) as evaluator,
        pytest.raises(EvaluatorFailure, match="cannot be started") as caught,
    ):
        evaluator(numbered(2), passing(2))
    assert caught.value.kind == "crash"


@pytest.mark.parametrize(
    ("command", "timeout"), [([], 1), ("sh -c x", 1), (["x"], 0), (["x"], 1e999)]
)
def test_what_cannot_be_a_hook_is_refused(command, timeout):
    with pytest.raises(InputError):
        SubprocessEvaluator(command, timeout=timeout)


class TestPythonFunctions:
    @pytest.fixture
    def serve(self, tmp_path, monkeypatch):
        """``serve("name")`` is an evaluator that asks a function of a module."""
        (tmp_path / "hooks.py").write_text(
            textwrap.dedent("""
            from steelyard.evaluators.contract import evaluate

            def plain(policy, response):
                print("printed")
                return evaluate(policy, response)

            def fails(policy, response):
                raise LookupError("s3cret")

            def no_json(policy, response):
                return {1: evaluate(policy, response)}
            """)
        )
        monkeypatch.chdir(tmp_path)
        return lambda name: SubprocessEvaluator(python_command(f"hooks:{name}"), timeout=60)

    def test_what_it_prints_is_no_answer(self, serve):
        with serve("plain") as evaluator:
            assert evaluator(numbered(2), {}) == evaluate(numbered(2), {})

    @pytest.mark.parametrize(
        ("name", "says"),
        [("fails", "LookupError"), ("absent", "AttributeError")],
    )
    def test_an_exception_is_reported_by_its_name(self, serve, name, says):
        with serve(name) as evaluator, pytest.raises(EvaluatorFailure) as caught:
            evaluator(numbered(2), {})
        assert caught.value.reason == f"it raised {says}"

    def test_a_result_that_is_no_json_was_returned_and_not_raised(self, serve):
        with serve("no_json") as evaluator, pytest.raises(EvaluatorFailure) as caught:
            evaluator(numbered(2), {})
        assert caught.value.kind == "contract"
        assert caught.value.reason == "the result is no JSON value within the limits"


def test_the_request_is_one_line(hook, tmp_path):
    note = tmp_path / "request"
    evaluator = hook(f"open({str(note)!r}, 'w').write(line)")
    evaluator(numbered(2), {"text": "a\nb"})
    text = note.read_text()
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert json.loads(text) == {"policy": numbered(2), "response": {"text": "a\nb"}}
