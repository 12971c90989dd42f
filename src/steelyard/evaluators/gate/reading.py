"""Strict reading of contexts and cases from JSON or plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import DataError
from steelyard.evaluators.gate.compatibility import DEFAULT, Compatibility
from steelyard.evaluators.gate.context import Proposal, ReasoningContext
from steelyard.evaluators.gate.errors import GateInputError, printable
from steelyard.trials import strict_json
from steelyard.trials.schema_faults import fault_reason

MAX_DOCUMENT = 50_000_000
"""Characters of one document."""

MAX_NESTING = 40
"""Nesting of a document."""

_SHOWN_FAULTS = 3
_CASE_FIELDS = ("case", "context", "allowed_tools", "proposal")

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a batch.

    Attributes
    ----------
    case : str
        Its name.
    context : ReasoningContext
        What is judged.
    allowed_tools : tuple of str or None
        What the host allows; None if it does not say.
    proposal : Proposal, optional
        An untrusted proposal about the context.
    """

    case: str
    context: ReasoningContext
    allowed_tools: tuple[str, ...] | None = None
    proposal: Proposal | None = None


def validated(
    model: type[Model], data: Any, *, where: str = "", compatibility: Compatibility = DEFAULT
) -> Model:
    """Return a model made from plain data.

    Parameters
    ----------
    model : type
        A schema of this room.
    data : object
        What was given.
    where : str, optional
        Named in messages.
    compatibility : Compatibility
        Whether the published, lenient reading is wanted.

    Raises
    ------
    GateInputError
        With the path of the first faulty fields and what is wrong with each.
    """
    try:
        return model.model_validate(data, context=compatibility)
    except ValidationError as error:
        raise _refusal(error, where or model.__name__) from None
    except RecursionError:
        raise GateInputError(f"{where or model.__name__}: nested too deeply") from None


def _refusal(error: ValidationError, where: str) -> GateInputError:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    fields = tuple((printable(".".join(map(str, f["loc"]))), str(f["type"])) for f in faults)
    shown = [
        f"{path or 'the whole'}: {fault_reason(fault)}"
        for (path, _), fault in zip(fields, faults[:_SHOWN_FAULTS], strict=False)
    ]
    more = len(faults) - len(shown)
    tail = f"; and {more} more" if more > 0 else ""
    return GateInputError(f"{where}: {'; '.join(shown)}{tail}"[:2_000], fields)


def read_context(
    data: Mapping[str, Any] | str | bytes,
    *,
    path: str = "context",
    compatibility: Compatibility = DEFAULT,
) -> ReasoningContext:
    """Read a context.

    Parameters
    ----------
    data : mapping, str or bytes
        The schema of `ReasoningContext`, as plain data or as JSON text. ``facts`` and ``specs``
        are shorthands: ``{key: value}`` and ``{key: specification without its key}``.
    path : str, optional
        Named in messages.
    compatibility : Compatibility
        Whether the published, lenient reading is wanted.

    Returns
    -------
    ReasoningContext
        Immutable.

    Raises
    ------
    GateInputError, DataError
        With the place and what is wrong there.
    """
    if isinstance(data, str | bytes):
        data = parsed(data, path)
    return validated(
        ReasoningContext, _written_out(data, path), where=path, compatibility=compatibility
    )


def parsed(text: str | bytes, path: str) -> Any:
    """Return a JSON text as plain data; raise for one that is too large or too deep."""
    if len(text) > MAX_DOCUMENT:
        raise DataError(f"{path}: larger than {MAX_DOCUMENT} characters")
    return strict_json.loads(text, path=path, max_depth=MAX_NESTING)


def _written_out(data: Any, path: str) -> dict[str, Any]:
    """Return the fields of a context with its shorthands written out."""
    if not isinstance(data, Mapping):
        raise GateInputError(f"{path}: a context is an object, not {_kind(data)}")
    fields = dict(data)
    for short, long in (("facts", "structured_facts"), ("specs", "fact_specs")):
        if short not in fields:
            continue
        members = fields.pop(short)
        if long in fields:
            raise GateInputError(f"{path}: {short} and {long} exclude each other")
        if not isinstance(members, Mapping):
            raise GateInputError(f"{path}: {short} is an object of keys and values")
        fields[long] = {key: _with_key(key, member, short) for key, member in members.items()}
    return fields


def _kind(value: Any) -> str:
    """Return what a value is called in JSON."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true or false"
    names: dict[type, str] = {list: "a list", str: "a text", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")


def _with_key(key: str, member: Any, short: str) -> Any:
    if short == "facts":
        return {"key": key, "value": member}
    return {"key": key, **member} if isinstance(member, Mapping) else member


def read_case(
    data: Any, name: str, *, path: str = "case", compatibility: Compatibility = DEFAULT
) -> Case:
    """Read one case: a context, or an object that holds one with its allowed tools.

    Parameters
    ----------
    data : object
        A context, or ``{"case", "context", "allowed_tools", "proposal"}`` of which only
        ``context`` is needed.
    name : str
        Name of a case that gives none.
    path : str, optional
        Named in messages.
    compatibility : Compatibility
        Whether the published, lenient reading is wanted.

    Raises
    ------
    GateInputError
        With the place and what is wrong there.
    """
    if not isinstance(data, Mapping):  # a text within JSON is not read as JSON once more
        raise GateInputError(f"{path}: a context is an object, not {_kind(data)}")
    if "context" not in data:
        return Case(name, read_context(data, path=path, compatibility=compatibility))
    if unknown := sorted(set(map(str, data)) - set(_CASE_FIELDS)):
        known = ", ".join(_CASE_FIELDS)
        raise GateInputError(f"{path}: unknown field {unknown[0]!r}; a case has {known}")
    if not isinstance(data["context"], Mapping):
        raise GateInputError(f"{path}: context must be an object")
    given = data.get("case", name)
    if not isinstance(given, str) or not given:
        raise GateInputError(f"{path}: case must be a text that is not empty")
    tools = data.get("allowed_tools")
    if tools is not None and not (
        isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)
    ):
        raise GateInputError(f"{path}: allowed_tools must be a list of texts")
    proposal = data.get("proposal")
    return Case(
        given,
        read_context(data["context"], path=path, compatibility=compatibility),
        None if tools is None else tuple(tools),
        None
        if proposal is None
        else validated(Proposal, proposal, where=f"{path}: proposal", compatibility=compatibility),
    )


def read_cases(
    text: str, *, path: str = "cases", compatibility: Compatibility = DEFAULT
) -> Iterator[Case]:
    """Read JSON Lines, one case a line; empty lines are skipped.

    Parameters
    ----------
    text : str
        The lines.
    path : str, optional
        Named in messages.
    compatibility : Compatibility
        Whether the published, lenient reading is wanted.

    Yields
    ------
    Case
        Named by its line where it gives no name.

    Raises
    ------
    GateInputError, DataError
        With the line; a name that occurs twice is an error.
    """
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        case = read_case(parsed(line, where), str(number), path=where, compatibility=compatibility)
        if case.case in seen:
            raise GateInputError(f"{where}: two cases are named {case.case!r}")
        seen.add(case.case)
        yield case
