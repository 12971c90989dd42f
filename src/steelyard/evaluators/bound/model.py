"""What every schema of this room shares: unknown fields are refused, errors name the place.

The schemas coerce as BOUND's do: a number may come as text (``"0.5"``) or as a truth value. NaN
fails every range; infinity passes a range that is open above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from steelyard.errors import InputError, printable
from steelyard.trials.schema_faults import fault_reason


class ModelError(InputError):
    """Data that break a schema.

    Parameters
    ----------
    model : str
        The schema's name.
    faults : sequence of tuple
        Per fault the place in dotted form (empty for the object as a whole), the rule's label
        and the sentence.
    where : str, optional
        File or path that the data came from.

    Attributes
    ----------
    model : str
    fields : list of tuple of str
        Place and rule of each fault, in the order of the schema's fields, unknown ones last.
    """

    def __init__(self, model: str, faults: Sequence[tuple[str, str, str]], where: str = "") -> None:
        self.model = model
        self.fields = [(place, rule) for place, rule, _ in faults]
        start = f"{where}: " if where else ""
        said = "; ".join(sentence for _, _, sentence in faults)
        super().__init__(f"{start}{model}: {said}")


class EvidenceError(InputError):
    """Well-formed signals or evidence that no score follows from."""


class Model(BaseModel):
    """Base of the schemas."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def read(cls, data: Any, where: str = "") -> Self:
        """Validate data.

        Parameters
        ----------
        data : mapping
            Field names to values.
        where : str, optional
            Named in the message.

        Returns
        -------
        Model

        Raises
        ------
        ModelError
            The message names every broken field, its value and what is accepted.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise refused(error, where) from None


def refused(error: ValidationError, where: str = "") -> ModelError:
    """Return pydantic's error as one of ours."""
    faults = [_fault(fault) for fault in error.errors(include_url=False)]
    return ModelError(error.title, faults, where)


def refuse_infinite(model: Model, where: str = "", within: str = "") -> None:
    """Refuse infinite numbers, which the schemas take where a range is open above.

    Parameters
    ----------
    model : Model
    where : str, optional
        Named in the message.
    within : str, optional
        The only field to look into; all of them when absent.

    Raises
    ------
    ModelError
        The message names every infinite field.
    """
    faults = [
        (place, "finite_number", f"{printable(place)} is {value}; accepted: a finite number")
        for place, value in _numbers(model.model_dump(), "")
        if not math.isfinite(value) and f"{place}.".startswith(f"{within}." if within else "")
    ]
    if faults:
        raise ModelError(type(model).__name__, faults, where)


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, float):
        yield place, value
    elif isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from _numbers(part, f"{place}.{name}" if place else str(name))


def _fault(fault: Mapping[str, Any]) -> tuple[str, str, str]:
    place = ".".join(str(part) for part in fault["loc"])
    rule = str(fault["type"])
    named = printable(place)  # an unknown field has whatever name the file gave it
    if rule == "missing":
        return place, rule, f"{named} is missing"
    if rule == "extra_forbidden":
        return place, rule, f"{named} is not a field of it"
    message = fault_reason(fault)
    if not place:
        return place, rule, message
    return place, rule, f"{named} is {_shown(fault['input'])}: {message}"


def _shown(value: Any, width: int = 60) -> str:
    try:
        text = ascii(value)
    except ValueError:  # an integer with more digits than Python writes
        return "a value of too many digits"
    return text if len(text) <= width else text[: width - 4] + " ..."


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("the text is blank")
    return text


def _fits_a_double(count: int) -> int:
    try:
        float(count)
    except OverflowError:
        raise ValueError("larger than any double") from None
    return count


Text = Annotated[str, AfterValidator(_not_blank)]
Count = Annotated[int, Field(ge=0), AfterValidator(_fits_a_double)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]


def capped(value: float, limit: float) -> float:
    """Return value / limit, at most 1; with a limit of 0 or less, 1 for any positive value.

    Infinity over infinity is NaN, which no score accepts.
    """
    if limit <= 0:
        return 1.0 if value > 0 else 0.0
    ratio = value / limit
    return ratio if math.isnan(ratio) else min(ratio, 1.0)
