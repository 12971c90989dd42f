"""What is wrong with a value that breaks a pydantic schema, in the words of our other messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ACCEPTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number, not NaN or an infinity",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object with named members",
    "mapping_type": "an object with named members",
    "model_type": "an object with named members",
    "model_attributes_type": "an object with named members",
}
_LIMITS = {
    "greater_than": "more than {}",
    "greater_than_equal": "{} or more",
    "less_than": "less than {}",
    "less_than_equal": "{} or less",
}
_SHOULD_BE = re.compile(r"^(Input|Value|String|Number) should (be|match) ")
_SHOULD_HAVE = re.compile(r"^(Input|Value|String|List|Tuple|Dictionary|Set) should have ")


def fault_reason(fault: Mapping[str, Any]) -> str:
    """Say what is accepted where a value was refused.

    Parameters
    ----------
    fault : mapping
        One of ``ValidationError.errors()``; ``type`` and ``msg`` are read.

    Returns
    -------
    str
        For example ``"accepted is a whole number"``; the text of our own validators as it stands.
    """
    kind, message = str(fault["type"]), str(fault["msg"])
    if kind in _ACCEPTED:
        return f"accepted is {_ACCEPTED[kind]}"
    if kind in _LIMITS:
        return f"accepted is {_LIMITS[kind].format(message.rsplit(' ', 1)[1])}"
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "unknown key"
    if kind in ("value_error", "assertion_error"):
        return message.partition(" error, ")[2] or message
    shown = _SHOULD_BE.sub("accepted is ", message)
    return _SHOULD_HAVE.sub("accepted is a value with ", shown)
