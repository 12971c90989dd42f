"""The chat-completions protocol, spoken by OpenAI and by many servers besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from steelyard.harness.models.answers import (
    as_count,
    as_list,
    as_object,
    as_text,
    read_arguments_text,
)
from steelyard.harness.models.bounded_http import bounded_client
from steelyard.harness.models.request import ModelResponse, TokenUsage, ToolCall
from steelyard.harness.models.settings import ClientSettings
from steelyard.trials.strict_json import canonical_dumps

STOP_REASONS = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class OpenAISettings(ClientSettings):
    """Settings of a client that speaks chat completions.

    Attributes
    ----------
    max_tokens_field : {"max_completion_tokens", "max_tokens"}
        What the server calls the limit of an answer; older servers know the second name only.
    """

    api_key_env: str = "OPENAI_API_KEY"
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"


def connect(settings: ClientSettings, key: str) -> Any:
    """Return a client of the official library that makes each attempt once."""
    import openai

    http_client = bounded_client(openai.DefaultHttpxClient, settings.timeout_seconds)
    return openai.OpenAI(
        api_key=key,
        base_url=settings.base_url,
        timeout=http_client.timeout,
        max_retries=0,
        http_client=http_client,
    )


def send(client: Any, settings: OpenAISettings, content: Mapping[str, Any]) -> bytes:
    """Make one attempt and return the answer's body."""
    body: dict[str, Any] = {
        "model": content["model"],
        "messages": messages(content),
        settings.max_tokens_field: content["max_tokens"],
    }
    if content["tools"]:
        body["tools"] = [{"type": "function", "function": tool} for tool in content["tools"]]
    further = dict(content.get("options") or {})
    if content["temperature"] is not None:
        further["temperature"] = content["temperature"]  # not every library takes it by name
    answer = client.chat.completions.with_raw_response.create(**body, extra_body=further or None)
    return bytes(answer.http_response.content)


def messages(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a request's messages in the protocol's form."""
    sent: list[dict[str, Any]] = []
    if content["system"]:
        sent.append({"role": "system", "content": content["system"]})
    for message in content["messages"]:
        form = {"role": message["role"], "content": message["content"]}
        if "tool_call_id" in message:
            form["tool_call_id"] = message["tool_call_id"]
        if "tool_calls" in message:
            form["content"] = message["content"] or None
            form["tool_calls"] = [_sent_call(call) for call in message["tool_calls"]]
        sent.append(form)
    return sent


def read(answer: Mapping[str, Any]) -> ModelResponse:
    """Return an answer in our form.

    Raises
    ------
    UnreadableAnswerError
        If a part that has to be there is not, or is something else.
    """
    choices = as_list(answer, "choices")
    choice = as_object(choices[0] if choices else None, "choices[0]")
    message = as_object(choice.get("message"), "message")
    calls = [
        _call(as_object(call, "tool_calls"), number)
        for number, call in enumerate(as_list(message, "tool_calls", optional=True))
    ]
    text = _text(message.get("content"))
    reason = as_text(choice, "finish_reason")
    stop = STOP_REASONS.get(reason, reason or "end")
    refusal = as_text(message, "refusal")
    if refusal:
        text, stop = refusal, "refusal"
    usage = answer.get("usage")
    return ModelResponse(
        text,
        tuple(calls),
        stop,
        as_text(answer, "model"),
        None if usage is None else _usage(as_object(usage, "usage")),
    )


def _sent_call(call: Mapping[str, Any]) -> dict[str, Any]:
    if "unreadable" in call:
        raw = call["unreadable"]["raw"]
        arguments = raw if isinstance(raw, str) else canonical_dumps(raw)
    else:
        arguments = canonical_dumps(call["arguments"])
    function = {"name": call["name"], "arguments": arguments}
    return {"id": call["id"], "type": "function", "function": function}


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    function = as_object(call.get("function"), "function")
    arguments = read_arguments_text(function.get("arguments"))
    # Some servers leave the id out; the answer to the call has to name one.
    return ToolCall(as_text(call, "id") or f"call_{number}", as_text(function, "name"), arguments)


def _text(content: Any) -> str:
    """Return a message's text: a text, nothing, or a list of parts."""
    if isinstance(content, list):
        return "".join(as_text(as_object(part, "content"), "text") for part in content)
    return as_text({"content": content}, "content")


def _usage(usage: Mapping[str, Any]) -> TokenUsage:
    """Return the tokens; the prompt's include those that came from the cache."""
    details = usage.get("prompt_tokens_details")
    cached = 0
    if details is not None:
        cached = as_count(as_object(details, "prompt_tokens_details"), "cached_tokens")
    prompt = as_count(usage, "prompt_tokens")
    cached = min(cached, prompt)
    return TokenUsage(prompt - cached, as_count(usage, "completion_tokens"), cached)
