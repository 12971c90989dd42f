"""The base of every schema: one strict reading, and the published lenient one on request.

A schema is validated with a `Compatibility` as pydantic's validation context; without one the
strict reading holds, also for a direct call of the class.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from steelyard.evaluators.gate.compatibility import DEFAULT, Compatibility
from steelyard.evaluators.gate.limits import check_plain, check_text


def compatibility_of(info: ValidationInfo) -> Compatibility:
    """Return the compatibility that a validation runs under."""
    return info.context if isinstance(info.context, Compatibility) else DEFAULT


def _plain(value: Any, info: ValidationInfo) -> Any:
    return check_plain(value, finite=not compatibility_of(info).nonfinite_facts)


def _finite(value: float, info: ValidationInfo) -> float:
    if not math.isfinite(value) and not compatibility_of(info).nonfinite_facts:
        raise PydanticCustomError("finite_number", "neither NaN nor an infinity is accepted")
    return value


def _no_boolean(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, bool) and not compatibility_of(info).lenient_schemas:
        raise PydanticCustomError("boolean", "a number is needed, not a boolean")
    return value


Text = Annotated[str, AfterValidator(check_text)]
"""A text that is short enough and holds no lone surrogate."""

Plain = Annotated[Any, AfterValidator(_plain)]
"""Any JSON value of bounded depth and size."""

Number = Annotated[float, AfterValidator(_finite), BeforeValidator(_no_boolean)]
"""A finite number."""

Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_no_boolean)]
"""A number within 0 and 1."""


class Record(BaseModel):
    """A part of a context: immutable, without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    always_strict: ClassVar[bool] = False
    """Whether the published gate refuses unknown fields here as well."""

    published_defaults: ClassVar[dict[str, Any]] = {}
    """Defaults that the published gate has and ours has not."""

    @model_validator(mode="before")
    @classmethod
    def _read_as_published(cls, data: Any, info: ValidationInfo) -> Any:
        """Drop unknown fields and put in defaults as the published gate does, if asked."""
        if not isinstance(data, dict) or not compatibility_of(info).lenient_schemas:
            return data
        if not cls.always_strict:
            data = {name: value for name, value in data.items() if name in cls.model_fields}
        return {**cls.published_defaults, **data}


def check_unique(names: list[str], what: str) -> None:
    """Raise if two parts of a context share a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise PydanticCustomError("value_error", f"two {what} have the id {name[:80]!r}")
        seen.add(name)
