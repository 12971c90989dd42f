"""``steelyard handoff gates``: what each gate let pass, by both denominators, worst first."""

from __future__ import annotations

import csv
import io

import pytest

from cli.handoff_programs import BLOCKED, chosen, make_program, manual
from harness.handoff.scripted import EXPERIMENT
from steelyard.stats import wilson_interval
from steelyard.store.connect import create
from steelyard.store.declaration import read_declaration
from steelyard.store.rows import add_study

SCENARIOS = chosen("failed-test", "malicious-embedded-instruction")


@pytest.fixture
def trials(program, tmp_path):
    """Two agents' trials: one answers wrongly, one without JSON in one of two scenarios."""
    database = tmp_path / "trials.duckdb"
    command = ("handoff", "import", *SCENARIOS, "--database", database)
    codex = make_program(tmp_path)
    assert program(*command, *manual(codex, "wrong-goal")).code == 1
    mumbling = make_program(
        tmp_path,
        "claude-code",
        before="if [ -e conformance-command-canary ]; then echo well; exit; fi",
    )
    assert program(*command, *manual(mumbling)).code == 1
    return database


def test_rates_have_both_denominators_and_the_worst_gate_stands_first(program, trials):
    rows = program("handoff", "gates", trials, "--json").json["rows"]
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    assert [arm.split()[0] for arm in arms] == ["codex", "claude-code"]
    assert {row["capability"] for row in rows} == {"import"}
    by_arm = [[row for row in rows if row["arm"] == arm] for arm in arms]
    for part in by_arm:
        assert part[0]["gate"] == "passed"
        rates = [row["unconditional"] for row in part[1:]]
        assert rates == sorted(rates)
    codex, mumbling = ({row["gate"]: row for row in part} for part in by_arm)
    assert by_arm[0][1]["gate"] == "goal"
    counts = ("passed", "evaluated", "applicable")
    assert [codex["goal"][name] for name in counts] == [0, 2, 2]
    assert [codex["command_canary"][name] for name in counts] == [1, 1, 1]
    assert [mumbling["goal"][name] for name in counts] == [1, 1, 2]
    assert [mumbling["parse"][name] for name in counts] == [1, 2, 2]
    expected = wilson_interval(1, 2)
    limits = (mumbling["goal"]["unconditional_low"], mumbling["goal"]["unconditional_high"])
    assert limits == pytest.approx((expected.low, expected.high))


def test_the_readable_table_and_csv(program, trials):
    shown = program("handoff", "gates", trials)
    assert shown.code == 0
    heads = [line for line in shown.out.splitlines() if line.endswith(", import")]
    assert len(heads) == 2
    assert "Trials: 4 intended, 4 with a result, 0 without one.\npassed: nothing" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 100
    rows = list(csv.DictReader(io.StringIO(program("handoff", "gates", trials, "--csv").out)))
    assert {row["gate"] for row in rows} >= {"passed", "goal", "command_canary"}
    assert program("handoff", "gates", trials, "--csv", "--json").code == 2
    wide = program("handoff", "gates", trials, "--confidence", 2)
    assert (wide.code, len(wide.err.splitlines())) == (2, 1)


def test_a_trial_without_a_result_is_in_no_rate(program, tmp_path):
    database = tmp_path / "trials.duckdb"
    blocked = f'if [ -e conformance-command-canary ]; then echo "{BLOCKED}" >&2; exit 1; fi'
    codex = make_program(tmp_path, before=blocked)
    program("handoff", "import", *SCENARIOS, *manual(codex), "--database", database)
    shown = program("handoff", "gates", database)
    assert (
        "Trials: 2 intended, 1 with a result, 1 without one.\n"
        "1 because the agent's sandbox could not start, 0 not run yet.\nWithout a result: "
    ) in shown.out
    rows = program("handoff", "gates", database, "--json").json["rows"]
    (passed,) = (row for row in rows if row["gate"] == "passed")
    assert [passed[name] for name in ("passed", "evaluated", "applicable")] == [1, 1, 1]
    bounds = ("rates", "handoff_manual", "--missing", "bounds", "--database", database, "--json")
    assert [row["estimate"] for row in program(*bounds).json["rows"]] == [0.5, 1.0]


def test_a_file_without_such_trials_is_refused(program, tmp_path):
    absent = program("handoff", "gates", tmp_path / "none.duckdb")
    assert (absent.code, absent.out) == (2, "")
    assert "there is no such file" in absent.err
    with create(tmp_path / "other.duckdb") as connection:
        add_study(connection, read_declaration(EXPERIMENT / "study.toml"))
    other = program("handoff", "gates", tmp_path / "other.duckdb")
    assert (other.code, other.out) == (2, "")
    assert "unknown study 'handoff_manual'" in other.err


def test_what_nobody_reached_counts_and_so_does_a_scenario_without_a_result(program, tmp_path):
    """An agent alone in its database: one trial without an answer, one without a result."""
    database = tmp_path / "trials.duckdb"
    does = (
        f'if [ -e conformance-command-canary ]; then echo "{BLOCKED}" >&2; exit 1; fi\n'
        'if grep -q "third loaf may be counted" .waybill/input/WAYBILL.md; then exit; fi'
    )
    codex = make_program(tmp_path, before=does)
    three = (*SCENARIOS, *chosen("stale-repository"))
    program("handoff", "import", *three, *manual(codex), "--database", database)
    rows = program("handoff", "gates", database, "--json").json["rows"]
    by_gate = {row["gate"]: row for row in rows}
    counts = ("passed", "evaluated", "applicable", "missing", "lowest", "highest")
    for gate, evaluated in (("passed", 2), ("parse", 2), ("goal", 1)):
        found = [by_gate[gate][name] for name in counts]
        assert found == pytest.approx([1, evaluated, 2, 1, 1 / 3, 2 / 3])
    assert "command_canary" not in by_gate  # of the scenario that lays it out there is no result
    other = make_program(tmp_path, "claude-code")
    program("handoff", "import", *three, *manual(other), "--database", database)
    shown = program("handoff", "gates", database)
    assert "  1 of codex 0.9.1 executable " in shown.out
    again = program("handoff", "gates", database, "--json").json["rows"]
    mine = {row["gate"]: row for row in again if row["arm"].startswith("codex ")}
    assert [mine["goal"][name] for name in counts] == [by_gate["goal"][name] for name in counts]
    assert [mine["command_canary"][name] for name in counts] == [0, 0, 0, 1, 0, 1]
