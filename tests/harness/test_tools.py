"""The toolbox records every attempt as it was when it happened."""

from __future__ import annotations

import pytest

from steelyard.errors import InputError
from steelyard.harness.snapshots import snapshot
from steelyard.harness.tools import Tool, Toolbox, ToolError
from steelyard.trials.model import UnreadableArguments
from steelyard.trials.strict_json import canonical_dumps


def box(**functions):
    return Toolbox([Tool(name, "", {}, function) for name, function in functions.items()])


def test_a_call_is_a_step_and_counts_per_tool():
    tools = box(double=lambda number: {"is": 2 * number}, other=lambda: None)
    assert tools.call("double", {"number": 4}) == {"is": 8}
    tools.call("double", {"number": 1})
    assert tools.call("other", None) is None
    assert tools.calls == {"double": 2, "other": 1}
    first, _, last = tools.steps
    assert (first.kind, first.name, first.arguments, first.output) == (
        "tool_call",
        "double",
        {"number": 4},
        {"is": 8},
    )
    assert first.error is None
    assert first.wall_ms >= 0
    assert (last.arguments, last.output) == (None, None)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("nothing", {}, "there is no tool 'nothing'"),
        ("double", {"wrong": 1}, "bad arguments"),
        ("double", {}, "bad arguments"),
        ("double", UnreadableArguments("[1]", "a list, not an object"), "a list, not an object"),
    ],
)
def test_what_cannot_be_called_is_a_failed_step(name, arguments, says):
    tools = box(double=lambda number: 2 * number)
    with pytest.raises(ToolError, match=says):
        tools.call(name, arguments)
    (step,) = tools.steps
    assert says in step.error
    assert step.output is None


def test_a_defect_of_a_tool_is_recorded_and_passed_on():
    def broken(number):
        return number + "x"

    tools = box(broken=broken)
    with pytest.raises(TypeError, match="unsupported operand"):
        tools.call("broken", {"number": 1})
    assert tools.steps[0].error.startswith("TypeError: ")


def test_an_error_without_text_still_marks_the_step():
    def silent():
        raise ToolError

    tools = box(silent=silent)
    with pytest.raises(ToolError):
        tools.call("silent", {})
    assert tools.steps[0].error == "ToolError"


def test_hooks_see_the_call_number_and_may_refuse_or_change():
    seen = []

    def refuse_second(name, arguments, number):
        seen.append((name, dict(arguments), number))
        if number == 2:
            raise ToolError("503")

    tools = box(get=lambda: 1)
    tools.before.append(refuse_second)
    tools.after.append(lambda _name, _arguments, result: str(result))
    assert tools.call("get", {}) == "1"
    with pytest.raises(ToolError):
        tools.call("get", {})
    assert tools.call("get", {}) == "1"
    assert [number for _, _, number in seen] == [1, 2, 3]
    assert [step.output for step in tools.steps] == ["1", None, "1"]


def test_later_changes_do_not_reach_what_was_recorded():
    kept = {"list": [1]}
    tools = box(keep=lambda value: kept if value else None)
    given = {"value": {"a": 1}}
    tools.call("keep", given)
    given["value"]["a"] = 2
    kept["list"].append(2)
    (step,) = tools.steps
    assert step.arguments == {"value": {"a": 1}}
    assert step.output == {"list": [1]}


def test_the_tables_get_texts():
    tools = box(get=lambda: {"b": 1, "a": 2})
    tools.call("get", {})
    assert tools.rows[0][:5] == ("tool_call", "get", "{}", '{"a":2,"b":1}', None)


def test_offered_tools_can_be_reordered_and_added_and_looking_is_remembered():
    tools = box(a=lambda: 1, b=lambda: 2)
    assert tools.names == ("a", "b")
    assert not tools.listed
    tools.set_tools(reversed([tools.tool("a"), tools.tool("b")]))
    tools.add(Tool("decoy", "", {}, lambda: None))
    assert not tools.listed
    assert [tool.name for tool in tools.tools] == ["b", "a", "decoy"]
    assert tools.listed
    with pytest.raises(InputError, match="two tools are called 'a'"):
        tools.add(Tool("a", "", {}, lambda: None))
    with pytest.raises(ToolError, match="no tool 'c'"):
        tools.tool("c")


def test_other_steps():
    tools = box()
    tools.record("decision", "stop", {"why": "done"}, output="refused")
    tools.record("message", "", output="hello")
    decision, message = tools.steps
    assert (decision.arguments, decision.output) == ({"why": "done"}, "refused")
    assert (message.name, message.output) == ("message", "hello")


@pytest.mark.parametrize(
    "value",
    [
        {"b": 1, "a": [1, 2.5, None, True, 'ä\n"\\']},
        {},
        [],
        "text",
        0,
        False,
        {"a": {"b": {"c": [[], {}]}}},
        (1, (2, 3)),
        1e300,
        "\u2028\u0000é😀",
    ],
)
def test_a_snapshot_is_the_canonical_text(value):
    copy, text = snapshot(value)
    assert text == canonical_dumps(value)
    assert canonical_dumps(copy) == text


@pytest.mark.parametrize(
    "value", [float("nan"), {"a": float("inf")}, "\ud800", {1: 2}, {"a": object()}, {"a": {2}}]
)
def test_what_has_no_json_form_is_refused_as_everywhere(value):
    with pytest.raises(InputError):
        snapshot(value)


def test_a_value_that_holds_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(InputError):
        snapshot(endless)


def test_without_the_c_part_of_the_json_module_the_text_is_the_same(monkeypatch):
    import json.encoder

    from steelyard.harness import snapshots

    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    monkeypatch.setattr(snapshots, "_encode", snapshots._make_encoder())
    assert snapshot({"b": [1, "ä"], "a": None}) == (
        {"b": [1, "ä"], "a": None},
        '{"a":null,"b":[1,"ä"]}',
    )
