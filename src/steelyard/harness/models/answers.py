"""Reading a provider's answer part by part: what is not as it should be is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.harness.models.failures import PassingError, shortened
from steelyard.trials.model import UnreadableArguments
from steelyard.trials.strict_json import loads

MAX_DEPTH = 150


class UnreadableAnswerError(PassingError):
    """An answer with the status 200 that is not what the protocol calls an answer."""

    def __init__(self, text: str) -> None:
        super().__init__(f"the answer cannot be read: {text}", may_cost=True)


def parse_answer(body: bytes, secret: str = "") -> Mapping[str, Any]:
    """Return an answer's body as a JSON object.

    Parameters
    ----------
    body : bytes
    secret : str
        Taken out of every text, should a server repeat it.

    Raises
    ------
    UnreadableAnswerError
        If it is not JSON as RFC 8259 means it, no object, or an error under the status of an
        answer. Lone surrogates are replaced.
    """
    try:
        value = loads(body, max_depth=MAX_DEPTH, replace_surrogates=True)
    except SteelyardError as error:
        raise UnreadableAnswerError(f"{error}") from None
    answer = as_object(without_secret(value, secret), "it")
    if answer.get("error"):
        raise UnreadableAnswerError(f"it holds an error: {shortened(str(answer['error']))}")
    return answer


def without_secret(value: Any, secret: str) -> Any:
    """Return a JSON value in which no text holds a secret.

    Secrets of fewer than eight characters are placeholders such as ``none``, and words.
    """
    if len(secret) < 8:
        return value
    if isinstance(value, str):
        return value.replace(secret, "[secret]")
    if isinstance(value, list):
        return [without_secret(member, secret) for member in value]
    if isinstance(value, dict):
        return {
            name.replace(secret, "[secret]"): without_secret(member, secret)
            for name, member in value.items()
        }
    return value


def as_object(value: Any, name: str) -> Mapping[str, Any]:
    """Return a value that has to be an object."""
    if not isinstance(value, dict):
        raise UnreadableAnswerError(f"{name} is no object but {shortened(repr(value))}")
    return value


def as_list(holder: Mapping[str, Any], name: str, *, optional: bool = False) -> list[Any]:
    """Return a member that has to be an array; where it is optional, null is an empty one."""
    value = holder.get(name)
    if value is None and optional:
        return []
    if not isinstance(value, list):
        raise UnreadableAnswerError(f"{name} is no array but {shortened(repr(value))}")
    return value


def as_text(holder: Mapping[str, Any], name: str) -> str:
    """Return a member that has to be text; null and nothing are the empty one."""
    value = holder.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableAnswerError(f"{name} is no text but {shortened(repr(value))}")
    return value


def as_count(holder: Mapping[str, Any], name: str) -> int:
    """Return a member that has to be a whole number from 0; null and nothing are 0."""
    value = holder.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnreadableAnswerError(f"{name} is no count but {shortened(repr(value))}")
    return value


def read_arguments_text(text: Any) -> Mapping[str, Any] | UnreadableArguments:
    """Return a tool call's arguments from the JSON text that a model wrote.

    No text at all is no arguments. Anything but a JSON object is kept as it came, and marked.
    """
    if isinstance(text, dict):  # some servers send the object itself
        return text
    if text is None or (isinstance(text, str) and not text.strip()):
        return {}
    if not isinstance(text, str):
        return UnreadableArguments(text, "no JSON text")
    try:
        value = loads(text, replace_surrogates=True)
    except SteelyardError as error:
        return UnreadableArguments(text, shortened(str(error)))
    if not isinstance(value, dict):
        return UnreadableArguments(value, f"a {type(value).__name__}, not an object")
    return value
