"""What the shell offers: names from the declarations, nothing when there is nothing to read."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from steelyard.cli.completion import complete_arm, complete_perturbation, complete_study


def typed(**parameters) -> SimpleNamespace:
    return SimpleNamespace(params=parameters)


@pytest.fixture(autouse=True)
def at_the_checkout(root, monkeypatch):
    monkeypatch.chdir(root)


def test_studies():
    assert complete_study("plumbline_") == [
        "plumbline_determinism",
        "plumbline_parity",
        "plumbline_retry",
    ]


def test_arms_and_perturbations_of_the_study_that_was_typed():
    assert complete_arm(typed(study="plumbline_determinism"), "g") == ["guarded"]
    assert complete_arm(typed(study="plumbline_retry"), "g") == []
    assert complete_perturbation(typed(study="plumbline_retry"), "d") == [
        "distractor",
        "decoy_tools",
    ]


def test_all_arms_before_a_study_is_known():
    assert "guarded" in complete_arm(typed(), "")
    assert "guarded" in complete_arm(typed(study="nothing"), "")


def test_outside_a_project_the_checkout_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "plumbline_retry" in complete_study("")


def test_broken_declaration_is_left_out(tmp_path, monkeypatch):
    for study, text in (("good", "[design]\narms = ['a']\n"), ("bad", "= broken")):
        folder = tmp_path / "experiments" / study
        folder.mkdir(parents=True)
        (folder / "study.toml").write_text(text)
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    assert complete_study("") == ["good"]
    assert complete_arm(typed(study="good"), "") == ["a"]


def test_the_shell_gets_them():
    environment = {
        **os.environ,
        "_STEELYARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "steelyard rates plumbline_r",
        "COMP_CWORD": "2",
    }
    program = "from steelyard.cli.main import app; app(prog_name='steelyard')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plumbline_retry"]
