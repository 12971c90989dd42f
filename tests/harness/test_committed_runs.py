"""The committed evidence of our own studies: running them again gives the same bytes."""

import csv
import gzip
import io
from dataclasses import replace
from pathlib import Path

from steelyard.harness.export import FILES, export_run
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study

ROOT = Path(__file__).parents[2]


def unpacked(path):
    """Return what a file holds; the compression may differ between releases of zlib."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def rows(path):
    return list(csv.DictReader(io.StringIO(unpacked(path).decode(), newline="")))


def test_running_again_gives_the_committed_tables(tmp_path):
    run_study(load_study(ROOT / "experiments/retry_baseline"), tmp_path / "run.duckdb", workers=1)
    export_run(tmp_path / "run.duckdb", tmp_path / "again")
    for name in FILES.values():
        committed = unpacked(ROOT / "data/retry_baseline" / name)
        assert unpacked(tmp_path / "again" / name) == committed, name


def test_running_a_part_again_gives_the_committed_rows(tmp_path):
    """Three documents of twenty: one to be paid, one to be held, the credit note."""
    tasks = ("INV-8001", "INV-8012", "INV-8013")
    whole = load_study(ROOT / "experiments/accounts_payable")
    run = whole.declaration.run.model_copy(update={"tasks": tasks})
    part = replace(whole, declaration=whole.declaration.model_copy(update={"run": run}))
    run_study(part, tmp_path / "run.duckdb", workers=1)
    export_run(tmp_path / "run.duckdb", tmp_path / "again")
    for name in FILES.values():
        again = rows(tmp_path / "again" / name)
        committed = rows(ROOT / "data/accounts_payable" / name)
        assert again == [r for r in committed if r["trial_id"].split("/")[1] in tasks], name
        assert again or name == FILES["signals"]


def test_the_simulated_arm_is_called_so_wherever_it_stands():
    study = load_study(ROOT / "experiments/retry_baseline")
    simulated = {
        name
        for name, arm in study.settings.arms.items()
        if arm.entry == "domains.simulated_agent:SimulatedArm"
    }
    assert simulated == {"free_form_simulated"}
    for entry in study.declaration.report.tables:
        arms = entry.parameters.get("arms", {})
        named = (
            arms.items()
            if isinstance(arms, dict)
            else [(given["label"], given["arm"]) for given in arms]
        )
        assert all("simulated" in label for label, arm in named if arm in simulated)
