"""Reading a TOML file into a pydantic model, with errors that name file, line and field."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from steelyard.errors import InputError, StudyError
from steelyard.trials.schema_faults import fault_reason
from steelyard.trials.strict_json import MAX_DEPTH, canonical_dumps

_TOO_DEEP = f"lists and tables are nested too deeply; accepted: {MAX_DEPTH} levels"
_DIGITS = re.compile(r"\d[\d_]{500,}")
_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.\s*[^=]+)?=""")
_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*\.?""")


class Declared(BaseModel):
    """Base of everything that is declared in TOML: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _json_values(value: dict[str, Any]) -> dict[str, Any]:
    try:
        canonical_dumps(value)
    except InputError as error:
        raise ValueError(f"only JSON values can be parameters: {error}") from None
    return value


Parameters = Annotated[dict[str, Any], AfterValidator(_json_values)]
"""What a piece of code named in TOML is given: no dates, NaN or infinities."""

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model], shown_as: str = "") -> Model:
    """Read and validate one TOML file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    model : type of pydantic.BaseModel
        What it must hold.
    shown_as : str, optional
        How messages name the file; its own name when absent.

    Returns
    -------
    instance of ``model``

    Raises
    ------
    StudyError
        If the file is absent, a directory, not UTF-8, not TOML, or breaks the model. The
        message lists every broken field with its line.
    """
    name = shown_as or path.name
    text = _read_text(path, name)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise StudyError(f"{name}: {_TOO_DEEP}") from None
    except ValueError:  # the one other thing that tomllib's conversions refuse
        raise StudyError(
            f"{name}{_line_of_long_number(text)}: a number has too many digits"
        ) from None
    lines = text.splitlines()
    _refuse_extremes(name, lines, content)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        raise StudyError("\n".join(_fault(name, lines, fault) for fault in faults)) from None


def fault_at(path: Path, shown_as: str, location: Sequence[str | int], reason: str) -> StudyError:
    """Return the error for a value that the schema accepts and its user cannot.

    Parameters
    ----------
    path : pathlib.Path
        The file, which has been read before.
    shown_as : str
        How the message names it.
    location : sequence of str or int
        Keys and list positions from the top.
    reason : str
        What is wrong.
    """
    lines = _read_text(path, shown_as).splitlines()
    return StudyError(f"{shown_as}:{line_of(lines, location)}: {shown_path(location)}: {reason}")


def line_of(lines: Sequence[str], location: Sequence[str | int]) -> int:
    """Find the line that best explains where a value stands.

    Parameters
    ----------
    lines : sequence of str
        The TOML text.
    location : sequence of str or int
        Keys and list positions from the top, as pydantic reports them.

    Returns
    -------
    int
        1-based. Where the value stands inside an inline table or is absent, the line of the
        nearest enclosing key or header.
    """
    best, depth = 1, 0
    inside: list[str | int] = []
    counts: dict[tuple[str | int, ...], int] = {}
    for number, line in enumerate(lines, start=1):
        header = _HEADER.match(line)
        if header:
            inside = _header_location(header, counts)
            here = inside
        else:
            key = _KEY.match(line)
            if not key:
                continue
            here = [*inside, key.group(1).strip("\"'")]
        shared = _shared(here, location)
        if shared == len(here) and shared > depth:
            best, depth = number, shared
    return best


def _header_location(
    header: re.Match[str], counts: dict[tuple[str | int, ...], int]
) -> list[str | int]:
    """Return the location that a header opens; each [[header]] moves on by one."""
    location: list[str | int] = []
    names = [part.strip("\"'") for part in _PART.findall(header.group(2))]
    for index, name in enumerate(names):
        location.append(name)
        is_list = header.group(1) == "[[" and index == len(names) - 1
        if is_list:
            counts[tuple(location)] = counts.get(tuple(location), -1) + 1
        if tuple(location) in counts:
            location.append(counts[tuple(location)])
    return location


def _shared(here: Sequence[str | int], location: Sequence[str | int]) -> int:
    shared = 0
    for left, right in zip(here, location, strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _line_of_long_number(text: str) -> str:
    """Return ``:line`` of the first number that Python refuses for its length, or nothing."""
    limit = sys.get_int_max_str_digits()
    for found in _DIGITS.finditer(text):
        if len(found.group().replace("_", "")) > limit:
            return f":{text.count(chr(10), 0, found.start()) + 1}"
    return ""


def _refuse_extremes(name: str, lines: Sequence[str], content: dict[str, Any]) -> None:
    """Refuse what later steps could not even print.

    Dotted keys nest as deeply as they like, and hexadecimal integers have no limit to tomllib,
    although TOML gives an integer 64 bits.
    """
    pending: list[tuple[Any, tuple[str | int, ...]]] = [(content, ())]
    while pending:
        value, location = pending.pop()
        if len(location) > MAX_DEPTH:
            raise StudyError(f"{name}:{line_of(lines, location)}: {_TOO_DEEP}")
        if isinstance(value, dict):
            pending += [(member, (*location, key)) for key, member in value.items()]
        elif isinstance(value, list):
            pending += [(member, (*location, index)) for index, member in enumerate(value)]
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            where = f"{name}:{line_of(lines, location)}: {shown_path(location)}"
            raise StudyError(f"{where}: an integer of more than 64 bits")


def _read_text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise StudyError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise StudyError(f"{name}: a directory stands where a TOML file is expected") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{name}: not valid UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise StudyError(f"{name}: cannot be read: {error.strerror}") from None


def shown_faults(error: ValidationError) -> str:
    """Return every fault of a value that stands in no file, on one line."""
    return "; ".join(
        f"{shown_path(fault['loc'])}: {_reason(fault)}" if fault["loc"] else _reason(fault)
        for fault in error.errors(include_url=False)
    )


def _fault(name: str, lines: Sequence[str], fault: Mapping[str, Any]) -> str:
    if not fault["loc"]:  # the file as a whole: two of its parts contradict each other
        return f"{name}: {_reason(fault)}"
    return f"{name}:{line_of(lines, fault['loc'])}: {shown_path(fault['loc'])}: {_reason(fault)}"


def shown_path(location: Sequence[str | int]) -> str:
    """Return a location as messages write it: ``report.tables[0].ask``."""
    shown = ""
    for part in location:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else str(part)
    return shown


def _reason(fault: Mapping[str, Any]) -> str:
    message = fault_reason(fault)
    if fault["type"] in ("extra_forbidden", "missing"):
        return message
    given = fault.get("input")
    if isinstance(given, (str, int, float, bool)) and repr(given) not in message:
        return f"{message}; found {given!r}"
    return message
