"""Both protocols through their official libraries, over real sockets."""

from __future__ import annotations

import json
import threading
import tomllib

import pytest

import invoice_domains  # noqa: F401 - puts the experiments on the path
from harness.model_server import Reply
from steelyard.errors import InputError, StudyError
from steelyard.harness import models
from steelyard.harness.entry_points import build
from steelyard.harness.models import (
    Anthropic,
    Message,
    ModelRequest,
    OpenAICompatible,
    TokenUsage,
    ToolAgent,
    ToolCall,
)
from steelyard.harness.models.request import ModelResponse
from steelyard.harness.protocols import StopRunError
from steelyard.harness.tools import Tool
from steelyard.trials.model import UnreadableArguments

ADD = Tool("add", "Add a number.", {"type": "object", "properties": {}}, lambda number: number)


def conversation(*rest: Message) -> ModelRequest:
    return ModelRequest([Message("user", "Add up to 3."), *rest], "Be brief.", [ADD], 0.5, 77)


def test_a_request_arrives_as_it_was_made_and_its_answer_is_read(client, server, kind):
    model = client(prices={"small": {"input": 2, "output": 10}}).client_for("a/t/b/0/0")
    answer = model.complete(conversation())
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("add", {"number": 2})]
    assert (answer.stop_reason, answer.model, answer.text) == ("tool_calls", "small-2026", "")
    assert answer.usage.cache_read == 5
    sent = server.requests[0]["body"]
    assert sent["temperature"] == 0.5
    assert sent["model"] == "small"
    assert sent["max_tokens" if kind == "anthropic" else "max_completion_tokens"] == 77
    tokens = answer.usage
    assert model.usage.calls == 1
    assert (model.usage.tokens_in, model.usage.tokens_out) == (tokens.input + 5, tokens.output)
    expected = (tokens.input * 2 + 5 * 2 + tokens.output * 10) / 1e6
    assert model.usage.cost_usd == pytest.approx(expected, abs=1e-12)


def test_results_of_tools_go_back_under_the_ids_of_their_calls(client, server, kind):
    server.mind = lambda said: Reply(f"{len(said.results)} results: {', '.join(said.results)}")
    calls = (ToolCall("c1", "add", {"number": 1}), ToolCall("c2", "add", {"number": -1}))
    answer = (
        client()
        .client_for("a/t/b/0/0")
        .complete(
            conversation(
                Message("assistant", "", calls),
                Message("tool", '{"total":1}', answers="c1"),
                Message("tool", '{"error":"negative"}', answers="c2", failed=True),
            )
        )
    )
    assert answer.text == '2 results: {"total":1}, {"error":"negative"}'
    messages = server.requests[0]["body"]["messages"]
    if kind == "openai":
        assert [message["role"] for message in messages] == [
            *("system", "user", "assistant", "tool", "tool")
        ]
        assert [call["id"] for call in messages[2]["tool_calls"]] == ["c1", "c2"]
        assert messages[4]["tool_call_id"] == "c2"
    else:
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert [block["id"] for block in messages[1]["content"]] == ["c1", "c2"]
        assert [block.get("is_error") for block in messages[2]["content"]] == [None, True]


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('{"number": 1', "not valid JSON"),
        ('{"number": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[1]", "not an object"),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_they_came(client, server, ask, written, reason):
    server.mind = lambda _: Reply("", [("add", written)])
    answer = client().client_for("a/t/b/0/0").complete(ask())
    given = answer.tool_calls[0].arguments
    assert isinstance(given, UnreadableArguments)
    assert reason in given.reason
    back = client().client_for("a/t/b/0/1")
    back.complete(conversation(answer.message(), Message("tool", "no", answers="call_0_0")))
    sent = server.requests[-1]["body"]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == json.loads(written) if written == "[1]" else sent == written


def test_half_a_character_in_an_answer_or_a_prompt_harms_nobody(client, server, ask):
    server.mind = lambda said: Reply(f"\ud83d and {said.prompt}")
    answer = client().client_for("a/t/b/0/0").complete(ask("broken \ud83d"))
    assert answer.text == "\ufffd and broken ?"
    assert client(offline=True).client_for("a/t/b/0/0").complete(ask("broken \ud83d")) == answer


@pytest.mark.parametrize("kind", ["anthropic"], indirect=True)
def test_blocks_that_our_form_lacks_go_back_as_they_came(client, server, ask, monkeypatch):
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    plain = server.answer

    def answer(path, body):
        made = plain(path, body)
        made["content"].insert(0, thinking)
        return made

    monkeypatch.setattr(server, "answer", answer)
    model = client(options={"thinking": {"type": "enabled"}}).client_for("a/t/b/0/0")
    first = model.complete(ask())
    model.complete(conversation(first.message(), Message("tool", "{}", answers="toolu_0_0")))
    assert server.requests[1]["body"]["messages"][1]["content"][0] == thinking
    assert server.requests[0]["body"]["thinking"] == {"type": "enabled"}


def test_an_answer_without_token_counts_has_no_known_cost(client, server, ask):
    server.usage = False
    model = client(prices={"small": {"input": 2, "output": 10}}).client_for("a/t/b/0/0")
    assert model.complete(ask()).usage is None
    assert model.usage.cost_usd is None


def test_no_more_requests_are_under_way_than_declared(client, server, ask):
    server.delay = 0.02
    source = client(concurrency=2)
    threads = [
        threading.Thread(target=source.client_for(f"a/t/b/0/{n}").complete, args=(ask(),))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 8
    assert server.most_at_once == 2


def test_the_key_is_read_when_the_first_request_is_made(client, ask, monkeypatch):
    monkeypatch.delenv("TEST_KEY")
    model = client().client_for("a/t/b/0/0")
    with pytest.raises(StopRunError, match="TEST_KEY holds no key"):
        model.complete(ask())
    monkeypatch.setenv("TEST_KEY", "sk \n secret")
    with pytest.raises(StopRunError, match="holds characters") as refusal:
        model.complete(ask())
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "model: "),
        ({"model": ""}, "model: "),
        ({"model": "m", "api_key": "sk-very-secret"}, "api_key: "),
        ({"model": "m", "api_key_env": "sk-very-secret"}, "name of an environment variable"),
        ({"model": "m", "base_url": "http://me:very-secret@host/"}, "without user or password"),
        ({"model": "m", "base_url": "ftp://host"}, "http"),
        ({"model": "m", "retries": True}, "retries: "),
        ({"model": "m", "timeout_seconds": float("nan")}, "timeout_seconds: "),
        ({"model": "m", "spend_cap_usd": 1.0}, "needs prices"),
        ({"model": "m", "journal": "spent"}, "journal needs prices"),
        ({"model": "m", "spend_cap_usd": -1.0}, "spend_cap_usd: "),
        ({"model": "m", "prices": {"m": {"input": -1, "output": 1}}}, "prices.m.input: "),
        ({"model": "m", "prices": {"other": {"input": 1, "output": 1}}}, "unknown model 'm'"),
        ({"model": "m", "options": {"max_tokens": 10**9}}, "max_tokens cannot be set here"),
        ({"model": "m", "options": {"top_p": float("inf")}}, "options: "),
    ],
)
def test_settings_are_refused_by_name_and_without_their_value(tmp_path, parameters, words):
    for found in (OpenAICompatible, Anthropic):
        with pytest.raises(StudyError) as refusal:
            build(found, parameters, "study.toml:7", recordings=tmp_path, offline=True)
        assert words in str(refusal.value)
        assert "very-secret" not in str(refusal.value)


def test_requests_that_cannot_be_are_refused_when_they_are_made(client, ask):
    with pytest.raises(InputError, match="no message"):
        ModelRequest([])
    with pytest.raises(InputError, match="max_tokens is True"):
        ask(max_tokens=True)
    with pytest.raises(InputError, match="role is 'system'"):
        Message("system", "hello")
    with pytest.raises(InputError, match="asked by a ModelRequest"):
        client().client_for("a/t/b/0/0").complete("how?")


def test_a_recorded_answer_is_the_answer():
    calls = (
        ToolCall("1", "add", {"number": 1.5, "text": "é\u0000😀"}),
        ToolCall("2", "add", UnreadableArguments([1], "a list, not an object")),
    )
    answer = ModelResponse("so", calls, "max_tokens", "m", TokenUsage(1, 2, 3, 4), [{"type": "x"}])
    assert ModelResponse.from_record(json.loads(json.dumps(answer.to_record()))) == answer


def test_the_example_of_the_package_is_one(tmp_path):
    text = models.__doc__
    example = tomllib.loads(text[text.index("[run.model]") : text.index("The key is read")])
    run = example["run"]
    source = Anthropic(tmp_path / "recordings", True, **run["model"]["parameters"])
    assert source.largest_cost_usd(1) > 0
    for arm in run["arms"].values():
        ToolAgent(**arm["parameters"])
