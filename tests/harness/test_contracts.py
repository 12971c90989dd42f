"""``[run] contracts``: final outputs judged while a study runs."""

from __future__ import annotations

import json

import pytest

from steelyard.errors import StudyError
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study
from steelyard.store.connect import connect

POLICY = {
    "schema_version": "1.0",
    "policy_id": "total",
    "rules": [{"rule_id": "has-total", "kind": "required_field", "path": "total"}],
}


def write(folder, name, policy) -> None:
    (folder / name).write_text(json.dumps(policy), encoding="utf-8")


def test_measures_of_a_contract_stand_beside_the_domains(experiment, tmp_path) -> None:
    folder = experiment(contracts=["total.json"])
    write(folder, "total.json", POLICY)
    run_study(load_study(folder), tmp_path / "run.duckdb")
    connection = connect(tmp_path / "run.duckdb")
    rows = connection.execute(
        "SELECT measure, count(*), count(value) FROM measures GROUP BY measure ORDER BY measure"
    ).fetchall()
    trials = connection.execute("SELECT count(*) FROM trials").fetchone()[0]
    connection.close()
    counts = {name: number for name, number, _ in rows}
    assert counts["contract:total"] == counts["contract:total:has-total"] == trials
    assert "reached" in counts


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["absent.json"], "absent.json"),
        (["../outside.json"], "not in the experiment's folder"),
        (["broken.json"], "broken.json"),
        (["total.json", "again.json"], "two policies have the id 'total'"),
    ],
)
def test_a_policy_that_cannot_be_used_is_named(experiment, files, message) -> None:
    folder = experiment(contracts=files)
    write(folder, "total.json", POLICY)
    write(folder, "again.json", POLICY)
    write(folder, "broken.json", {"rules": 1})
    with pytest.raises(StudyError, match=message) as refused:
        load_study(folder)
    assert "study.toml:" in str(refused.value)
