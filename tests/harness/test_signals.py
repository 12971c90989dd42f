"""A domain may report what a stopping policy knew after each step: rows of ``signals``."""

from __future__ import annotations

import pytest

from steelyard.harness.export import export_run
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study
from steelyard.store import build_database, connect, write_manifest

WATCHED = """


class Watched(Counter):
    def __init__(self, odd=""):
        super().__init__()
        self.odd = eval(odd) if odd else {}

    def answered(self, trial):
        return [(i, s) for i, s in enumerate(trial.steps) if s.kind == "tool_call" and s.output]

    def signals(self, trial):
        rows = [
            {
                "step_index": index,
                "test_pass_rate": step.output["total"] / 4,
                "lint_passed": step.output["total"] > 1,
                "tool_call_count": number,
                "execution_time_seconds": number * 0.25,
            }
            for number, (index, step) in enumerate(self.answered(trial), 1)
        ]
        return rows + ([self.odd] if self.odd and trial.key.task == "t1" else [])
"""
QUERY = "SELECT * FROM signals ORDER BY ALL"


@pytest.fixture
def watched(experiment):
    """Load the toy experiment with a domain that reports signals."""

    def make(**parameters):
        folder = experiment(domain={"entry": "toy:Watched", "parameters": parameters})
        code = folder / "toy.py"
        code.write_text(code.read_text() + WATCHED)
        return load_study(folder)

    return make


def test_signals_become_rows_and_evidence(watched, tmp_path):
    study = watched()
    root = study.folder.parents[1]
    database = tmp_path / "run.duckdb"
    run_study(study, database)
    export_run(database, root / "data" / "toy_study")
    write_manifest(root / "data", "toy_study")
    build_database(root, tmp_path / "built.duckdb")
    run, built = connect(database), connect(tmp_path / "built.duckdb")
    rows = run.execute(QUERY).fetchall()
    assert built.execute(QUERY).fetchall() == rows
    last = run.execute(
        "SELECT test_pass_rate, lint_passed, type_check_passed, execution_time_seconds "
        "FROM signals WHERE trial_id = 'steady/t2/baseline/0/0' ORDER BY step_index DESC LIMIT 1"
    ).fetchall()
    assert last[0][:3] == (0.5, True, None)
    assert last[0][3] in {0.25, 0.5}


def test_processes_send_the_same_rows(watched, tmp_path):
    study = watched()
    found = []
    for executor in ("serial", "processes"):
        database = tmp_path / f"{executor}.duckdb"
        run_study(study, database, executor=executor, workers=2)
        connection = connect(database)
        found.append(connection.execute(QUERY).fetchall())
        connection.close()
    assert found[0] == found[1]
    assert len(found[0]) >= 4


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ("{'lint_passed': True}", "step_index None; accepted are whole numbers"),
        ("{'step_index': True}", "step_index True; accepted"),
        ("{'step_index': 1}", "step_index 1; accepted are whole numbers from 0, each once"),
        ("{'step_index': 9, 'speed': 1}", "a signal has ['speed']; accepted are step_index"),
        ("{'step_index': 9, 'lint_passed': 1}", "'lint_passed' is 1; accepted are True, False"),
        ("{'step_index': 9, 'retry_count': 1.0}", "'retry_count' is 1.0; accepted are whole"),
        ("{'step_index': 9, 'retry_count': -1}", "'retry_count' is -1; accepted are whole"),
        ("{'step_index': 9, 'token_usage': True}", "'token_usage' is True; accepted are whole"),
        ("{'step_index': 9, 'test_pass_rate': float('nan')}", "'test_pass_rate' is nan"),
        ("{'step_index': 9, 'test_pass_rate': '1'}", "'test_pass_rate' is '1'; accepted"),
    ],
)
def test_a_signal_that_the_table_cannot_hold_fails_its_trial(watched, tmp_path, odd, words):
    study = watched(odd=odd)
    report = run_study(study, tmp_path / "run.duckdb")
    assert report.progress.failed in {1, 2}  # t1; under the fault its step 1 is another one
    assert report.progress.completed >= 4
    connection = connect(tmp_path / "run.duckdb")
    errors = connection.execute("SELECT error FROM trials WHERE status = 'failed'").fetchall()
    connection.close()
    assert all(words in error for (error,) in errors)
