"""The similarity figures of tau-bench airline, from its steps where they are at hand.

The steps are not committed: they are another project's transcripts, and only counts of them are
in data/. The figures and their definition stand in experiments/tau_bench_airline/similarity.toml.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from steelyard.analysis import similarity, similarity_test
from steelyard.store.tables import StudyTables

ROOT = Path(__file__).resolve().parents[2]
STEPS = Path(
    os.environ.get(
        "STEELYARD_TAU_STEPS", ROOT.parent / "shared" / "data" / "tau-bench-airline/steps.csv.gz"
    )
)
DECLARED = tomllib.loads(
    (ROOT / "experiments" / "tau_bench_airline" / "similarity.toml").read_text(encoding="utf-8")
)


@pytest.fixture
def with_steps(small_study, tables) -> StudyTables:
    """The committed trials of the study, with the steps from the file."""
    if not STEPS.is_file():
        pytest.skip(
            "the steps of tau-bench airline are not part of the repository; STEELYARD_TAU_STEPS "
            "may name their file"
        )
    raw = STEPS.read_bytes()
    if hashlib.sha256(raw).hexdigest() != DECLARED["steps"]["sha256"]:
        pytest.fail("the file of steps is not the one that the figures were computed from")
    calls: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in csv.DictReader(gzip.decompress(raw).decode().splitlines()):
        if row["kind"] == "tool_call":
            key = row["task_id"], int(row["trial"])
            calls.setdefault(key, []).append(
                {"name": row["tool_name"], "step_index": int(row["step_index"])}
            )
    study = tables("tau_bench_airline")
    success = study.frame("measures").query("measure == 'success'").set_index("trial_id")["value"]
    rows = study.frame("trials").to_dict("records")
    trials = [
        {
            **{name: row[name] for name in ("arm", "task", "perturbation", "variant", "repeat")},
            "success": success[row["trial_id"]],
            "steps": calls.get((row["task"], row["repeat"]), ()),
        }
        for row in rows
    ]
    assert len(trials) == DECLARED["steps"]["trials"]
    return small_study(trials)


def test_figures(with_steps):
    found = similarity(with_steps, "success", **DECLARED["definition"]["arguments"])
    found = found.set_index("outcomes")
    for outcomes, figure in DECLARED["figures"].items():
        row = found.loc[outcomes]
        assert round(row["mean"], 3) == figure["printed"], outcomes
        for name in ("pairs", "tasks", "both_empty"):
            assert row[name] == figure[name], outcomes
        for name in ("mean", "low", "high", "task_mean"):
            assert row[name] == pytest.approx(figure[name], abs=5e-7), (outcomes, name)


def test_classes_differ_within_tasks(with_steps):
    found = similarity_test(with_steps, "success", **DECLARED["definition"]["arguments"])
    found = found.set_index("contrast")
    for contrast, figure in DECLARED["tests"].items():
        row = found.loc[contrast]
        assert row["tasks"] == figure["tasks"]
        assert row["difference"] == pytest.approx(figure["difference"], abs=5e-7)
        # Monte-Carlo, seed 0: the bits of a draw may depend on the version of numpy
        assert row["p_value"] == pytest.approx(figure["p_value"], abs=0.01)


def test_figures_are_whole(tables):
    """What can be checked without the steps: the pairs are those of the committed outcomes."""
    success = tables("tau_bench_airline").frame("measures").query("measure == 'success'")
    won = success["value"].groupby(success["trial_id"].str.split("/").str[1]).sum()
    pairs = {
        "success-success": sum(n * (n - 1) / 2 for n in won),
        "success-failure": sum(n * (4 - n) for n in won),
        "failure-failure": sum((4 - n) * (3 - n) / 2 for n in won),
    }
    assert pairs == {name: figure["pairs"] for name, figure in DECLARED["figures"].items()}
