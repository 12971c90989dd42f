"""A refused value is answered with what is accepted, in our words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from steelyard.trials.schema_faults import fault_reason


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


class Inner(BaseModel):
    x: int = 0


class Schema(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = ""
    whole: Annotated[int, Field(ge=1, lt=10)] = 1
    share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0
    flag: bool = False
    names: tuple[str, ...] = ()
    table: dict[str, int] = Field(default_factory=dict)
    inner: Inner = Inner()
    word: Literal["a", "b"] = "a"
    even: Annotated[int, AfterValidator(_even)] = 0
    pattern: Annotated[str, Field(pattern="^x+$")] = "x"
    several: Annotated[list[int], Field(min_length=2)] = Field(default_factory=lambda: [1, 2])


class Needed(BaseModel):
    needed: int


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"text": 1}, "accepted is text"),
        ({"whole": "x"}, "accepted is a whole number"),
        ({"whole": 1.5}, "accepted is a whole number"),
        ({"whole": 0}, "accepted is 1 or more"),
        ({"whole": 10}, "accepted is less than 10"),
        ({"share": 0}, "accepted is more than 0"),
        ({"share": 2}, "accepted is 1 or less"),
        ({"share": float("nan")}, "accepted is a finite number, not NaN or an infinity"),
        ({"flag": "maybe"}, "accepted is true or false"),
        ({"names": 3}, "accepted is a list"),
        ({"table": 3}, "accepted is an object with named members"),
        ({"inner": 3}, "accepted is an object with named members"),
        ({"word": "c"}, "accepted is 'a' or 'b'"),
        ({"even": 3}, "3 is odd"),
        ({"other": 3}, "unknown key"),
    ],
)
def test_the_reason(given: dict[str, Any], reason: str):
    with pytest.raises(ValidationError) as caught:
        Schema.model_validate(given)
    assert fault_reason(caught.value.errors()[0]) == reason


def test_the_schema_library_does_not_speak():
    for model, given in ((Needed, {}), (Schema, {"pattern": "y"}), (Schema, {"several": [1]})):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(given)
        reason = fault_reason(caught.value.errors()[0])
        assert "should" not in reason
        assert reason.startswith(("is missing", "accepted is"))
