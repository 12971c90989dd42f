"""The contract playground, driven as a user would."""

from __future__ import annotations

import asyncio
import json

import pytest
from textual.widgets import DataTable, Input, Label, TextArea
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.playground import Playground

POLICY = {
    "schema_version": "1.0",
    "policy_id": "p",
    "rules": [
        {"rule_id": "a", "kind": "required_field", "path": "decision"},
        {"rule_id": "b", "kind": "false", "path": "flag"},
    ],
}


def drive(steps, *documents) -> None:
    """Run the screen without a terminal and let a coroutine use it."""

    async def session() -> None:
        screen = Playground(*documents)
        async with screen.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await steps(screen, pilot)

    asyncio.run(session())


def verdict(screen) -> str:
    return str(screen.query_one("#verdict", Label).content)


def shown(screen) -> list[list[str]]:
    table = screen.query_one("#rules", DataTable)
    return [table.get_row_at(row) for row in range(table.row_count)]


def test_every_rule_is_judged_as_one_types() -> None:
    async def steps(screen, pilot) -> None:
        assert verdict(screen) == "NOT PASSED: 1 of 2 rules kept; b: FIELD_MISSING"
        assert shown(screen)[1] == ["b", "false", "flag", "FIELD_MISSING"]
        screen.query_one("#response", TextArea).text = '{"decision": "secret", "flag": false}'
        await pilot.pause()
        assert verdict(screen) == "PASSED: 2 of 2 rules kept"
        assert "secret" not in json.dumps(screen.result)

    drive(steps, POLICY, {"decision": 1})


def test_the_verdict_names_a_few_of_many_broken_rules() -> None:
    rules = [{"rule_id": f"r{i}", "kind": "false", "path": f"r{i}"} for i in range(20)]

    async def steps(screen, pilot) -> None:
        named = ", ".join(f"r{i}: FIELD_MISSING" for i in range(8))
        assert verdict(screen) == f"NOT PASSED: 0 of 20 rules kept; {named}, 12 more"
        assert len(shown(screen)) == 20
        screen.result = None
        await pilot.press("ctrl+enter")
        assert screen.result is not None

    drive(steps, {**POLICY, "rules": rules}, {})


def test_what_cannot_be_read_is_said_and_clears_the_result() -> None:
    async def steps(screen, pilot) -> None:
        assert verdict(screen) == "PASSED: 1 of 1 rules kept"
        screen.query_one("#response", TextArea).text = '{"decision": 1, "decision": 2}'
        await pilot.pause()
        assert verdict(screen).startswith("The response cannot be judged:")
        assert screen.result is None
        assert shown(screen) == []
        screen.query_one("#policy", TextArea).text = "{}"
        await pilot.pause()
        assert verdict(screen).startswith("The policy cannot be used:")

    drive(steps)


def test_a_file_is_written_only_on_request(tmp_path) -> None:
    target = tmp_path / "result.json"

    async def steps(screen, pilot) -> None:
        assert list(tmp_path.iterdir()) == []
        await pilot.press("ctrl+s")
        screen.query_one("#target", Input).value = str(target)
        await pilot.press("enter")
        await pilot.pause()
        assert verdict(screen) == f"Exported to {target}"
        assert json.loads(target.read_text(encoding="utf-8")) == screen.result

    drive(steps, POLICY)


def test_a_failed_export_is_no_invalid_input(tmp_path) -> None:
    async def steps(screen, pilot) -> None:
        await pilot.press("ctrl+s")
        screen.query_one("#target", Input).value = str(tmp_path)
        await pilot.press("enter")
        await pilot.pause()
        assert verdict(screen).startswith("Not exported:")
        assert screen.result is not None
        await pilot.press("escape")
        await pilot.pause()
        assert not screen.query_one("#target", Input).has_class("asked")

    drive(steps)


@pytest.mark.parametrize("name", ["policy.json", "./policy.json", " ", "-"])
def test_a_result_is_not_exported_over_what_was_given(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.json").write_text("mine", encoding="utf-8")

    async def steps(screen, pilot) -> None:
        await pilot.press("ctrl+s")
        screen.query_one("#target", Input).value = name
        await pilot.press("enter")
        await pilot.pause()
        assert verdict(screen).startswith("Not exported: the export ")

    drive(steps, POLICY, {}, ["policy.json"])
    assert [path.name for path in tmp_path.iterdir()] == ["policy.json"]
    assert (tmp_path / "policy.json").read_text(encoding="utf-8") == "mine"


def test_without_a_result_there_is_nothing_to_export(tmp_path) -> None:
    async def steps(screen, pilot) -> None:
        screen.query_one("#policy", TextArea).text = "nonsense"
        await pilot.pause()
        await pilot.press("ctrl+s")
        screen.query_one("#target", Input).value = str(tmp_path / "never.json")
        await pilot.press("enter")
        await pilot.pause()
        assert verdict(screen) == "There is no result to export"

    drive(steps)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, ["contract", "playground", *words])


def test_the_smoke_test_opens_nothing(run, tmp_path) -> None:
    failing = tmp_path / "response.json"
    failing.write_text("{}", encoding="utf-8")
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    for words in ((), (str(policy), str(failing))):
        found = run("--smoke-test", *words)
        assert found.exit_code == 0
        assert json.loads(found.stdout) == {
            "playground": "ready",
            "offline": True,
            "export_requires_explicit_action": True,
        }


def test_what_cannot_be_shown_is_said_with_a_code(run, tmp_path) -> None:
    broken = tmp_path / "policy.json"
    broken.write_text("{", encoding="utf-8")
    for words, code in (
        (("-",), "INVALID_COMMAND"),
        ((str(broken),), "INVALID_JSON_INPUT"),
        ((), "PLAYGROUND_UNAVAILABLE"),
    ):
        found = run(*words)
        assert found.exit_code == 2
        assert json.loads(found.stderr)["error"]["code"] == code
