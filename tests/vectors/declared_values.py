"""Texts and in-memory values that CAT's vectors declare: the rules of their README, one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SINGLE = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "bytes": b"x",
    "set": {1},
    "object": object(),
    "lone_surrogate": "\ud800",
    "negative_zero": -0.0,
}


def text_of(value: Any) -> str:
    """Return a text of the vectors, which may be declared in parts."""
    if isinstance(value, str):
        return value
    if "repeat" in value:
        return str(value["repeat"] * value["times"])
    return "".join(map(text_of, value["concat"]))


def bytes_of(value: Any) -> bytes:
    """Return the bytes of a document: a text in UTF-8, or what stands there in hexadecimal."""
    if isinstance(value, Mapping) and "hex" in value:
        return bytes.fromhex(value["hex"])
    if isinstance(value, Mapping) and "concat" in value:
        return b"".join(map(bytes_of, value["concat"]))
    # A lone surrogate has no UTF-8. Written as if it had, it is the fault that readers must refuse.
    return text_of(value).encode("utf-8", "surrogatepass")


def object_of(value: Any) -> Any:
    """Return an in-memory value, in which tags stand for what JSON cannot hold."""
    if isinstance(value, list):
        return [object_of(member) for member in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and next(iter(value)) in TAGS:
        ((tag, declared),) = value.items()
        return TAGS[tag](declared)
    return {name: object_of(member) for name, member in value.items()}


def _nested(declared: Mapping[str, Any]) -> Any:
    value = object_of(declared["leaf"])
    for _ in range(declared["times"]):
        value = [value] if declared["kind"] == "array" else {"k": value}
    return value


TAGS: dict[str, Callable[[Any], Any]] = {
    "$py": SINGLE.__getitem__,
    "$tuple": lambda members: tuple(map(object_of, members)),
    "$intkey": lambda value: {1: object_of(value)},
    "$nest": _nested,
    "$fill": lambda declared: [object_of(declared["item"])] * declared["times"],
    "$long": lambda declared: declared["repeat"] * declared["times"],
}
