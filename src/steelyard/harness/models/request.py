"""What a model is asked and what it answers, whoever provides it.

The JSON forms here are those of the recordings: `ModelRequest.content` is what a recording's key
is made of, `ModelResponse.to_record` what it holds. Neither has a clock, a machine or a key in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.harness.snapshots import storable
from steelyard.harness.tools import Tool
from steelyard.trials.model import UnreadableArguments

Role = Literal["user", "assistant", "tool"]
_ROLES = ("user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model asks for.

    Attributes
    ----------
    id : str
        The provider's; the answer to the call names it.
    name : str
    arguments : mapping or UnreadableArguments
        The latter where the model wrote something else than a JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | UnreadableArguments

    def to_record(self) -> dict[str, Any]:
        """Return the JSON form."""
        named = {"id": self.id, "name": self.name}
        if isinstance(self.arguments, UnreadableArguments):
            unread = {"raw": self.arguments.raw, "reason": self.arguments.reason}
            return named | {"unreadable": unread}
        return named | {"arguments": dict(self.arguments)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ToolCall:
        """Return what `to_record` wrote."""
        unread = record.get("unreadable")
        given = record["arguments"] if unread is None else UnreadableArguments(**unread)
        return cls(record["id"], record["name"], given)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes
    ----------
    role : {"user", "assistant", "tool"}
    text : str
        A lone surrogate in it, which no request can carry, becomes ``?``.
    tool_calls : sequence of ToolCall
        Of an assistant.
    answers : str
        For a tool's result: the id of the call.
    failed : bool
        For a tool's result: whether the text is an error.
    echo : Any
        The assistant's message in its provider's own form, where ours cannot hold all of it.
    """

    role: Role
    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    answers: str = ""
    failed: bool = False
    echo: Any = None

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InputError(f"role is {self.role!r}; accepted are {', '.join(_ROLES)}")
        if not isinstance(self.text, str):
            raise InputError(f"a message's text is text, not {type(self.text).__name__}")
        object.__setattr__(self, "text", storable(self.text))

    def content(self) -> dict[str, Any]:
        """Return the JSON form; parts that are not used are not in it."""
        shown: dict[str, Any] = {"role": self.role, "content": self.text}
        if self.tool_calls:
            shown["tool_calls"] = [call.to_record() for call in self.tool_calls]
        if self.answers:
            shown["tool_call_id"] = self.answers
        if self.failed:
            shown["failed"] = True
        if self.echo is not None:
            shown["echo"] = self.echo
        return shown


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an arm or a perturbation asks; which model answers is the study's choice.

    Attributes
    ----------
    messages : sequence of Message
        The conversation so far; at least one.
    system : str or None
        Instructions that stand before it.
    tools : sequence of Tool
        Tools that the model may ask for.
    temperature : float or None
        None leaves it to the model.
    max_tokens : int or None
        Of the answer; None takes the study's limit.
    """

    messages: Sequence[Message]
    system: str | None = None
    tools: Sequence[Tool] = ()
    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("a request has no message; it needs at least one")
        limit = self.max_tokens
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise InputError(f"max_tokens is {limit!r}; accepted are whole numbers from 1")
        if limit is not None and limit < 1:
            raise InputError(f"max_tokens is {limit}; accepted are whole numbers from 1")

    def content(
        self, model: str, max_tokens: int | None = None, options: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return all that decides about the answer, as JSON values.

        Parameters
        ----------
        model : str
        max_tokens : int, optional
            Taken where the request has none of its own.
        options : mapping, optional
            Further settings of the study, in the provider's words.

        Returns
        -------
        dict
            ``max_tokens`` and ``options`` are in it only where there are any.
        """
        system = None if self.system is None else storable(self.system)
        shown: dict[str, Any] = {
            "model": model,
            "system": system,
            "messages": [message.content() for message in self.messages],
            "tools": [tool_content(tool) for tool in self.tools] or None,
            "temperature": self.temperature,
        }
        limit = self.max_tokens or max_tokens
        if limit is not None:
            shown["max_tokens"] = limit
        if options:
            shown["options"] = dict(options)
        return shown


def tool_content(tool: Tool) -> dict[str, Any]:
    """Return a tool as a model is offered it."""
    return {
        "name": tool.name,
        "description": storable(tool.description),
        "parameters": dict(tool.parameters),
    }


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one answer, each counted once.

    Attributes
    ----------
    input : int
        Read anew.
    output : int
        Written, whatever is hidden of it included.
    cache_read, cache_write : int
        Read from the provider's cache, and read while they were written into it.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise InputError(f"{name} tokens are {count!r}; accepted are whole numbers from 0")

    @property
    def all_input(self) -> int:
        """Tokens that the model read, from wherever."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """What a model answered.

    Attributes
    ----------
    text : str
    tool_calls : sequence of ToolCall
    stop_reason : str
        ``"end"``, ``"tool_calls"``, ``"max_tokens"``, ``"refusal"``, or the provider's own word.
    model : str
        As the answer names it.
    usage : TokenUsage or None
        None where the answer did not say.
    echo : Any
        See `Message`.
    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    stop_reason: str = "end"
    model: str = ""
    usage: TokenUsage | None = None
    echo: Any = field(default=None, repr=False)

    def message(self) -> Message:
        """Return the answer as the next message of the conversation."""
        return Message("assistant", self.text, tuple(self.tool_calls), echo=self.echo)

    def to_record(self) -> dict[str, Any]:
        """Return the JSON form."""
        record: dict[str, Any] = {
            "text": self.text,
            "tool_calls": [call.to_record() for call in self.tool_calls],
            "stop_reason": self.stop_reason,
            "model": self.model,
        }
        if self.usage is not None:
            usage = self.usage
            record["usage"] = {
                "input": usage.input,
                "output": usage.output,
                "cache_read": usage.cache_read,
                "cache_write": usage.cache_write,
            }
        if self.echo is not None:
            record["echo"] = self.echo
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ModelResponse:
        """Return what `to_record` wrote."""
        usage = record.get("usage")
        return cls(
            record["text"],
            tuple(ToolCall.from_record(call) for call in record["tool_calls"]),
            record["stop_reason"],
            record["model"],
            None if usage is None else TokenUsage(**usage),
            record.get("echo"),
        )
