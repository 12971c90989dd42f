"""Tools as a model is offered them, from the methods that do the work.

The description is the method's first docstring line; the JSON schema of the arguments follows
from its annotations, so what is offered and what is called cannot drift apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from steelyard.harness.tools import Tool

# annotations are texts in modules with postponed evaluation
JSON_TYPES = {"str": "string", "float": "number", "bool": "boolean"}


def tools_of(owner: object, names: Iterable[str]) -> tuple[Tool, ...]:
    """Return the named methods of an object as tools, in that order."""
    kind = type(owner)
    return tuple(
        Tool(name, *_described(getattr(kind, name)), getattr(owner, name)) for name in names
    )


@cache
def _described(method: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """Return the description of a method and the JSON schema of its arguments."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    schema = {
        "type": "object",
        "properties": {one.name: {"type": JSON_TYPES[one.annotation]} for one in parameters},
        "required": [one.name for one in parameters if one.default is one.empty],
        "additionalProperties": False,
    }
    return (inspect.getdoc(method) or "").splitlines()[0], schema
