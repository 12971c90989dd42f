"""Reading JSON documents: strictly, within limits, and without repeating what they hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from steelyard.errors import DataError
from steelyard.evaluators.contract.errors import InvalidJsonError
from steelyard.evaluators.contract.values import (
    MAX_BYTES,
    MAX_LEVELS,
    ValueProblemError,
    checked_copy,
)
from steelyard.trials import strict_json

_PLACE = re.compile(r"line \d+, column \d+: ")

# What `strict_json` says may quote the document. These parts of its sentences do not.
_REASONS = (
    ("occurs twice", "a member name occurs twice in one object"),
    ("nested deeper", f"nested deeper than {MAX_LEVELS} levels"),
    ("is too large", "a number is too large"),
    ("is not JSON", "NaN and Infinity are not JSON"),
    ("surrogate", "a lone surrogate is not text"),
)


def load_json(source: bytes | str | BinaryIO | TextIO) -> Any:
    """Read one JSON value.

    Parameters
    ----------
    source : bytes, str or open file
        At most 1,000,000 bytes of UTF-8; of a file no more than that is read. Text is measured in
        UTF-8 too.

    Returns
    -------
    object
        dict, list, str, int, float, bool or None.

    Raises
    ------
    InvalidJsonError
        For anything RFC 8259 does not allow, a byte order mark, a repeated member name, a number
        that a double cannot hold, an integer of more than 4,300 digits, more than 32 levels or
        100,000 values, and lone surrogates. The message has line and column where there is one.
    """
    text = _decoded(_read(source))
    try:
        value = strict_json.loads(text, max_depth=MAX_LEVELS)
    except DataError as error:
        raise InvalidJsonError(_without_content(str(error))) from None
    try:
        return checked_copy(value)
    except ValueProblemError as problem:
        raise InvalidJsonError(f"the document is not usable: {problem}") from None


def load_json_file(path: str | Path) -> Any:
    """Read the one JSON value of a file; see `load_json`.

    Raises
    ------
    InvalidJsonError
        Also if the file cannot be opened or read. The message does not name it.
    """
    try:
        with Path(path).open("rb") as file:
            return load_json(file)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidJsonError(f"the file cannot be read: {reason or 'no such file'}") from None


def _read(source: bytes | str | BinaryIO | TextIO) -> bytes | str:
    content: Any = source
    if not isinstance(source, (bytes, bytearray, str)):
        try:
            content = source.read(MAX_BYTES + 1)
        except UnicodeDecodeError:
            raise InvalidJsonError("the input is not valid UTF-8") from None
        except OSError as error:
            reason = f": {error.strerror}" if error.strerror else ""
            raise InvalidJsonError(f"the input cannot be read{reason}") from None
        except (ValueError, AttributeError):
            raise InvalidJsonError("the input cannot be read") from None
    if not isinstance(content, (bytes, bytearray, str)):
        raise InvalidJsonError("the input gives neither bytes nor text")
    return content if isinstance(content, str) else bytes(content)


def _decoded(content: bytes | str) -> str:
    if isinstance(content, str):
        try:
            content = content.encode()
        except UnicodeEncodeError:
            raise InvalidJsonError("the input cannot be read: it holds a lone surrogate") from None
    if len(content) > MAX_BYTES:
        raise InvalidJsonError(f"the input has more than {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidJsonError("the input is not valid UTF-8") from None
    if text.startswith("\ufeff"):
        raise InvalidJsonError("the input begins with a byte order mark; plain UTF-8 is accepted")
    return text


def _without_content(message: str) -> str:
    """Return the place and the kind of a fault, without what stands there."""
    found = _PLACE.match(message)
    place = found.group() if found else ""
    for sign, reason in _REASONS:
        if sign in message:
            return place + reason
    return f"{place}not valid JSON (RFC 8259)"
