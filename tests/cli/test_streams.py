"""A standard stream may be closed before the program begins, or be a file that is full."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCORES = "--acceptance 1 --influence 0 --risk 0 --cost 0 --threshold 0.5"
VERBS = ["--help", f"bound evaluate --action a --goal g {SCORES}", "studies"]


@pytest.fixture
def shell(database_path):
    """Return a function that runs a verb in a shell, which can close streams."""

    def run(verb: str, redirection: str) -> subprocess.CompletedProcess[str]:
        asks_tables = verb.startswith(("studies", "rates"))
        database = f" --database '{database_path}'" if asks_tables else ""
        return subprocess.run(
            ["/bin/sh", "-c", f"'{sys.executable}' -m steelyard {verb}{database} {redirection}"],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("redirection", "said"),
    [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")],
)
def test_what_cannot_be_printed_is_one_line_and_no_success(shell, verb, redirection, said):
    done = shell(verb, redirection)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"steelyard: {said}"
    assert "Traceback" not in done.stderr


def test_input_that_cannot_be_read_is_one_line(shell):
    done = shell("decide -", "<&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "steelyard: standard input is closed\n"


def test_a_refusal_that_nobody_hears_does_not_become_output(shell):
    done = shell("rates no_such_study", "2>&-")
    assert (done.returncode, done.stdout) == (2, "")
