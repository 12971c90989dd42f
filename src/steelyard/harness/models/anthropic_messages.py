"""Anthropic's messages protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.harness.models.answers import as_count, as_list, as_object, as_text
from steelyard.harness.models.bounded_http import bounded_client
from steelyard.harness.models.request import ModelResponse, TokenUsage, ToolCall
from steelyard.harness.models.settings import ClientSettings

STOP_REASONS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
}
OURS = frozenset({"text", "tool_use"})
"""Kinds of blocks that our form holds; a message with others is sent back as it came."""


class AnthropicSettings(ClientSettings):
    """Settings of a client that speaks Anthropic's messages."""

    api_key_env: str = "ANTHROPIC_API_KEY"


def connect(settings: ClientSettings, key: str) -> Any:
    """Return a client of the official library that makes each attempt once."""
    import anthropic

    http_client = bounded_client(anthropic.DefaultHttpxClient, settings.timeout_seconds)
    return anthropic.Anthropic(
        api_key=key,
        base_url=settings.base_url,
        timeout=http_client.timeout,
        max_retries=0,
        open_telemetry=False,
        http_client=http_client,
    )


def send(client: Any, settings: ClientSettings, content: Mapping[str, Any]) -> bytes:  # noqa: ARG001
    """Make one attempt and return the answer's body."""
    body: dict[str, Any] = {
        "model": content["model"],
        "messages": messages(content),
        "max_tokens": content["max_tokens"],
    }
    if content["system"]:
        body["system"] = content["system"]
    if content["tools"]:
        body["tools"] = [
            {
                "name": tool["name"],
                "description": tool["description"],
                "input_schema": tool["parameters"],
            }
            for tool in content["tools"]
        ]
    further = dict(content.get("options") or {})
    if content["temperature"] is not None:
        further["temperature"] = content["temperature"]  # not every library takes it by name
    answer = client.messages.with_raw_response.create(**body, extra_body=further or None)
    return bytes(answer.http_response.content)


def messages(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a request's messages in the protocol's form: results of tools are a user's blocks."""
    sent: list[dict[str, Any]] = []
    results: list[dict[str, Any]] | None = None
    for message in content["messages"]:
        if message["role"] == "tool":
            if results is None:
                results = []
                sent.append({"role": "user", "content": results})
            results.append(_result(message))
            continue
        results = None
        blocks = message.get("echo") or _blocks(message)
        plain = message["role"] == "user"
        sent.append({"role": message["role"], "content": message["content"] if plain else blocks})
    return sent


def read(answer: Mapping[str, Any]) -> ModelResponse:
    """Return an answer in our form.

    Raises
    ------
    UnreadableAnswerError
        If a part that has to be there is not, or is something else.
    """
    blocks = [as_object(block, "content") for block in as_list(answer, "content")]
    kinds = {as_text(block, "type") for block in blocks}
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    reason = as_text(answer, "stop_reason")
    usage = answer.get("usage")
    return ModelResponse(
        "".join(as_text(block, "text") for block in blocks if block.get("type") == "text"),
        tuple(
            ToolCall(
                as_text(call, "id") or f"call_{number}",
                as_text(call, "name"),
                as_object(call.get("input") or {}, "input"),
            )
            for number, call in enumerate(calls)
        ),
        STOP_REASONS.get(reason, reason or "end"),
        as_text(answer, "model"),
        None if usage is None else _usage(as_object(usage, "usage")),
        None if kinds <= OURS else blocks,
    )


def _result(message: Mapping[str, Any]) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": message["tool_call_id"],
        "content": message["content"],
    }
    return block | {"is_error": True} if message.get("failed") else block


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an assistant's message as blocks; an empty text is none, since it is refused."""
    text = [{"type": "text", "text": message["content"]}] if message["content"].strip() else []
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["name"],
            "input": call.get("arguments", {}),
        }
        for call in message.get("tool_calls", ())
    ]
    return text + calls


def _usage(usage: Mapping[str, Any]) -> TokenUsage:
    return TokenUsage(
        as_count(usage, "input_tokens"),
        as_count(usage, "output_tokens"),
        as_count(usage, "cache_read_input_tokens"),
        as_count(usage, "cache_creation_input_tokens"),
    )
