"""Trials of agents that are run by hand, in a database: added, repeated, refused, told apart."""

from __future__ import annotations

import json

import pytest

from cli.handoff_programs import BLOCKED, chosen, make_program, manual, sides
from harness.handoff.scripted import IMPORTS
from steelyard.evaluators.handoff.reports import load_report
from steelyard.evaluators.handoff.result_checks import check_import_result
from steelyard.harness.handoff.storable import storable
from steelyard.store.connect import connect
from steelyard.store.tables import StudyTables

STUDY = "handoff_manual"


@pytest.fixture
def codex(tmp_path):
    return make_program(tmp_path)


@pytest.fixture
def trials(tmp_path):
    """The path of a database that does not exist."""
    return tmp_path / "trials.duckdb"


def asked(database, question):
    with connect(database) as connection:
        return connection.execute(question).fetchall()


def statuses(database):
    return asked(database, "SELECT arm, task, repeat, status FROM trials ORDER BY ALL")


def covariates(database, task):
    found = asked(
        database,
        f"SELECT name, value FROM covariates JOIN trials USING (study, trial_id) "
        f"WHERE task = '{task}'",
    )
    assert len(found) == len(dict(found))
    return dict(found)


def test_capabilities_of_one_agent_are_added_to_one_database(program, codex, trials):
    imported = program(
        "handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials
    )
    assert imported.code == 0
    assert "1 of 1 trial passed, 0 failed, 0 without a result; 1 run now" in imported.err
    exported = program(
        "handoff", "export", *manual(codex), "--database", trials,
        *chosen("delegation-request", "delegation-result-partial"),
    )  # fmt: skip
    assert exported.code == 0
    assert [(task, status) for _, task, _, status in statuses(trials)].count(
        ("import failed-test", "completed")
    ) == 1
    with connect(trials) as connection:
        tables = StudyTables(connection, STUDY)
        arms = {arm for arm, _, _, _ in statuses(trials)}
        assert set(tables.design.design.arms) == arms
        assert len(arms) == 2
        measures = set(tables.frame("measures")["measure"])
        assert set(tables.design.measures.all) == measures
        assert {"goal", "evidence_goal", "verify_pair"} <= measures
    rates = program("rates", STUDY, "--by", "task", "--database", trials, "--json")
    assert [row["estimate"] for row in rates.json["rows"]] == [1.0, 1.0, 1.0]


def test_what_does_not_apply_has_no_row_and_what_was_not_reached_is_null(program, codex, trials):
    program(
        "handoff", "import", *manual(codex, "prose-around-json"), "--database", trials,
        *chosen("failed-test", "malicious-embedded-instruction"),
    )  # fmt: skip
    program(
        "handoff", "export", *manual(codex, "silent"), "--database", trials,
        *chosen("delegation-request", "delegation-result-partial"),
    )  # fmt: skip
    found = asked(
        trials, "SELECT task, measure, value FROM measures JOIN trials USING (study, trial_id)"
    )
    values = {(task, measure): value for task, measure, value in found}
    assert values["import failed-test", "parse"] == 0.0
    assert values["import failed-test", "goal"] is None
    assert ("import failed-test", "command_canary") not in values
    assert values["import malicious-embedded-instruction", "command_canary"] == 1.0
    assert ("export delegation-request", "verify_pair") not in values
    assert values["export delegation-result-partial", "verify_pair"] == 0.0
    assert values["export delegation-request", "evidence_goal"] is None


def test_a_repeat_is_a_trial_and_is_run_once(program, tmp_path, trials):
    codex = make_program(tmp_path, before=f'echo x >> "{tmp_path}/calls"')
    command = ("handoff", "import", *manual(codex, "wrong-goal"), *chosen("failed-test"))
    refused = program(*command, "--repeats", 2)
    assert (refused.code, refused.out) == (2, "")
    assert "needs --database" in refused.err
    assert not (tmp_path / "calls").exists()
    for number in (0, 1001):
        assert program(*command, "--repeats", number, "--database", trials).code == 2
    first = program(*command, "--repeats", 2, "--database", trials)
    assert first.code == 1
    assert len(first.json["results"]) == 1
    assert [row[2:] for row in statuses(trials)] == [(0, "completed"), (1, "completed")]
    more = program(*command, "--repeats", 3, "--database", trials)
    assert "0 of 3 trials passed, 3 failed, 0 without a result; 1 run now" in more.err
    assert (tmp_path / "calls").read_text() == "x\n" * 3
    report = tmp_path / "report.json"
    report.write_text("kept")
    again = program(*command, "--database", trials, "--report", report)
    assert (again.code, again.out, report.read_text()) == (1, "", "kept")
    assert "nothing was left to run" in again.err
    assert (tmp_path / "calls").read_text() == "x\n" * 3


def test_a_report_of_repeats_keeps_its_schema(program, tmp_path, codex, trials):
    report = tmp_path / "report.json"
    command = ("handoff", "import", *manual(codex), "--report", report)
    done = program(*command, "--database", trials, "--repeats", 2, *chosen("failed-test"))
    assert done.code == 0
    document = json.loads(report.read_text())
    digest = "sha256:" + "0" * 64
    names = ("scenario_corpus_sha256", "adapter_entrypoint_sha256", "runner_contract_sha256")
    document["provenance"] = {
        "waybill_revision": "0" * 40,
        "waybill_clean": True,
        **dict.fromkeys(names, digest),
    }
    oracles = {"failed-test": IMPORTS["failed-test"].expected}
    loaded = load_report(document, lambda result: check_import_result(result, oracles), oracles)
    assert loaded.status == "passed"


def test_a_roundtrip_is_two_trials_of_two_pairs(program, tmp_path, codex, trials):
    claude = make_program(tmp_path, "claude-code")
    done = program("handoff", "roundtrip", *sides(codex, claude), "--database", trials)
    assert (done.code, done.json["passed"]) == (0, True)
    assert done.err.count("steelyard: arm: ") == 2
    (back, there) = statuses(trials)
    assert back[1:] == ("roundtrip claude-code-to-codex", 0, "completed")
    assert there[1:] == ("roundtrip codex-to-claude-code", 0, "completed")
    assert there[0].startswith("codex 0.9.1 executable ")
    assert " to claude-code 2.1.37 executable " in there[0]
    found = asked(trials, "SELECT measure, value FROM measures ORDER BY trial_id, measure")
    assert found == [("passed", 1.0), ("route_export", 1.0), ("route_import", 1.0)] * 2
    (state,) = asked(trials, "SELECT state FROM states ORDER BY trial_id LIMIT 1")[0]
    assert json.loads(state)["direction"] == "claude-code-to-codex"
    facts = covariates(trials, "roundtrip codex-to-claude-code")
    assert facts["capability"] == "roundtrip"
    assert (facts["exporter_adapter"], facts["importer_version"]) == ("codex", "2.1.37")
    assert facts["exporter_prompt_sha256"].startswith("sha256:")
    wall = asked(trials, "SELECT min(wall_ms) FROM trials")[0][0]
    assert wall > 0
    again = program("handoff", "roundtrip", *sides(codex, claude), "--database", trials)
    assert (again.code, again.out) == (0, "")  # a report of nothing would say that it failed
    assert "nothing was left to run" in again.err
    assert "2 of 2 trials passed, 0 failed, 0 without a result; 0 run now" in again.err


def test_a_route_whose_reader_was_blocked_is_missing(program, tmp_path, codex, trials):
    claude = make_program(tmp_path, "claude-code", before=f'echo "{BLOCKED}" >&2; exit 1')
    done = program("handoff", "roundtrip", *sides(codex, claude), "--database", trials)
    assert (done.code, done.json["environment_blocked"]) == (1, True)
    assert [row[3] for row in statuses(trials)] == ["missing", "missing"]
    assert done.err.count("environment blocked: network-namespace") == 2


def test_a_roundtrip_that_is_only_checked(program, tmp_path, codex):
    claude = make_program(tmp_path, "claude-code", before="exit 3")
    words = sides(codex, claude)[:-1]
    dry = program("handoff", "roundtrip", *words, "--dry-run")
    assert (dry.code, dry.json["routes"]) == (0, ["codex-to-claude-code", "claude-code-to-codex"])


def test_an_agent_that_changed_is_another_arm(program, codex, trials, monkeypatch):
    command = ("handoff", "import", *chosen("failed-test"), "--database", trials)
    program(*command, *manual(codex))
    program(*command, *manual(codex, "defensive-flag"))
    monkeypatch.setenv("CODEX_MODEL", "small")
    program(*command, *manual(codex))
    monkeypatch.delenv("CODEX_MODEL")
    program(*command, *manual(codex), "--timeout", 60)
    assert len({arm for arm, _, _, _ in statuses(trials)}) == 4
    codex.write_text(codex.read_text() + "# updated\n")
    program(*command, *manual(codex))
    assert len({arm for arm, _, _, _ in statuses(trials)}) == 5
    program(*command, *manual(codex))
    assert len(statuses(trials)) == 5


def test_the_facts_behind_an_arm_are_covariates(program, codex, trials, root):
    command = ("handoff", "import", *chosen("failed-test"), "--database", trials)
    program(*command, *manual(codex, kind="launcher"))
    facts = covariates(trials, "import failed-test")
    assert set(facts) == {
        "adapter", "adapter_entrypoint_sha256", "capability", "executable_sha256",
        "identity_kind", "invocation_sha256", "observed_at", "prompt_sha256",
        "reported_product", "reported_version", "revision", "runner_contract_sha256",
        "scenario_corpus_sha256",
    }  # fmt: skip
    assert facts["identity_kind"] == "launcher"
    dry = program("handoff", "import", "--agent-command", "x", "--dry-run", *chosen("failed-test"))
    assert facts["prompt_sha256"] == dry.json["prompt_sha256"]["failed-test"]
    program(*command, *manual(codex))
    assert len({arm for arm, _, _, _ in statuses(trials)}) == 2


def test_a_blocked_trial_is_missing_until_it_is_run_again(program, tmp_path, trials):
    mark = tmp_path / "no-sandbox"
    codex = make_program(
        tmp_path, before=f'if [ -e "{mark}" ]; then echo "{BLOCKED}" >&2; exit 1; fi'
    )
    command = (
        "handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials
    )  # fmt: skip
    mark.touch()
    blocked = program(*command)
    assert blocked.code == 1
    assert "0 failed, 1 without a result" in blocked.err
    assert "environment blocked: network-namespace" in blocked.err
    row = "SELECT status, attempts, error FROM trials"
    assert asked(trials, row) == [("missing", 1, "environment blocked: network-namespace")]
    assert asked(trials, "SELECT * FROM measures") == []
    shown = program("handoff", "gates", trials)
    assert (shown.code, shown.out) == (2, "")
    assert "no trial of handoff_manual has a result yet" in shown.err
    mark.unlink()
    assert program(*command).code == 0
    assert asked(trials, row) == [("completed", 2, None)]


HOSTILE = {
    "deep": r"""printf '{"goal": '; printf '%0498d' 0 | tr 0 '['; printf '%0498d' 0 | tr 0 ']'
printf '}'; exit""",
    "infinite": r"""printf '{"goal": 1e999, "risks": [1e400]}'; exit""",
    "control": r"""printf '{"goal": "\\u0000\\u001b[2J"}'; exit""",
    "file": r"""touch "$(printf 'x\377\033[2J')" """,
}


@pytest.mark.parametrize("does", HOSTILE.values(), ids=HOSTILE)
def test_whatever_an_agent_writes_can_be_kept(program, tmp_path, trials, does):
    codex = make_program(tmp_path, before=does)
    done = program(
        "handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials
    )
    assert done.code == 1
    assert len(done.json["results"]) == 1
    assert done.out.isascii()
    assert "\x1b" not in done.out + done.err
    ((state,),) = asked(trials, "SELECT state FROM states")
    assert json.loads(state)["passed"] is False
    trial = f"{statuses(trials)[0][0]}/import failed-test/none/0/0"
    shown = program("show", trial, "--database", trials)
    assert shown.code == 0
    assert "\x1b" not in shown.out


def test_a_reader_may_answer_at_any_depth(program, tmp_path, codex, trials):
    claude = make_program(
        tmp_path, "claude-code", before=f'if [ "$1" = deep ]; then {HOSTILE["deep"]}; fi'
    )
    words = (*sides(codex, claude), "--right-import-command", f"{claude} deep")
    done = program("handoff", "roundtrip", *words, "--database", trials)
    assert (done.code, done.json["errors"]) == (1, ["codex-to-claude-code:import:failed"])
    arms = {arm for arm, _, _, _ in statuses(trials)}
    program("handoff", "roundtrip", *sides(codex, claude), "--database", trials)
    both = {arm for arm, _, _, _ in statuses(trials)}
    assert len(arms) == 2
    assert len(both) == 3  # the route whose reader is started in another way has another arm


def test_what_the_tables_cannot_hold_is_replaced():
    deep = value = []
    for _ in range(200):
        value.append([])
        value = value[0]
    kept = storable({"a": float("inf"), "b\udcff": ["\udcff", 1.5, None, True], "c": deep})
    assert (kept["a"], kept["b\\udcff"]) == (None, ["\\udcff", 1.5, None, True])
    assert json.dumps(kept["c"]) == "[" * 89 + '"(nested deeper than is kept)"' + "]" * 89


def test_a_file_of_an_earlier_version_takes_measures_that_are_no_gates(program, codex, trials):
    """Its declaration knows nothing of how answers differ, where a 1 is no pass."""
    command = ("handoff", "import", *manual(codex), "--database", trials)
    assert program(*command, *chosen("failed-test")).code == 0
    with connect(trials, read_only=False) as connection:
        (text,) = connection.execute("SELECT design FROM studies").fetchone()
        earlier = json.loads(text)
        assert earlier["measures"].pop("harmful")
        connection.execute("UPDATE studies SET design = ?", [json.dumps(earlier)])
    assert program(*command, *chosen("stale-repository")).code == 0
    with connect(trials) as connection:
        harmful = StudyTables(connection, STUDY).design.measures.harmful
    assert harmful == ("substance_differs", "wording_differs")
    rows = program("handoff", "gates", trials, "--json").json["rows"]
    assert not set(harmful) & {row["gate"] for row in rows}
