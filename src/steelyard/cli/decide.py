"""The verb that puts a context, or a batch of them, to the decision gate."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.output import to_json, write
from steelyard.errors import DataError, InputError

if TYPE_CHECKING:
    from steelyard.evaluators.gate import Case, Gate

STANDARD_INPUT = "-"

LARGEST_FILE = 200_000_000
"""Bytes of one input."""

ContextFile = Annotated[
    str,
    typer.Argument(
        metavar="CONTEXT.json",
        help="A context, or a case that holds one; - for standard input. A file .jsonl holds one "
        "a line.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOOL",
        help="An action that may be carried out; may be repeated. A case's own allowed_tools come "
        "first. Without either nothing is executed.",
    ),
]
Now = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="When ages of evidence are measured, such as 2026-12-01T12:00:00Z, or 'clock'. "
        "Default: only stated ages are known.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A threshold, such as tau_base=0.3; may be repeated."
    ),
]


def decide(
    file: ContextFile,
    allow: Allow = None,
    now: Now = None,
    settings: Settings = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Read JSON Lines whatever the file is called.")
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Decide as PrismThinker 1.2.0 does, flaws and all.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the decision in words instead of JSON.")
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="Print the whole decision graph as JSON.")
    ] = False,
) -> None:
    """Ask the decision gate what is to become of a proposed action."""
    if explain and graph:
        raise InputError("--explain and --graph exclude each other; give one of them")
    gate = _gate(settings or [], published=published)
    moment = _moment(now)
    many = lines or file.endswith(".jsonl")
    cases = _cases(file, gate, many=many)
    texts = [
        _text(gate, _with_tools(case, allow), moment, (explain, graph, many)) for case in cases
    ]
    write("".join(texts))


def _gate(assignments: Sequence[str], *, published: bool) -> Gate:
    from steelyard.evaluators.gate import DEFAULT, PUBLISHED, Gate, GateSettings
    from steelyard.evaluators.gate.reading import validated

    fields: dict[str, Any] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator or name not in GateSettings.model_fields:
            known = ", ".join(GateSettings.model_fields)
            raise InputError(f"--set takes NAME=VALUE with a name of {known}; got {assignment!r}")
        fields[name] = value
    settings = validated(GateSettings, fields, where="--set")
    return Gate(settings, PUBLISHED if published else DEFAULT)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    if text == "clock":
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--now takes an ISO 8601 time or 'clock', not {text!r}") from None
    if moment.tzinfo is None:
        raise InputError(f"--now needs a time zone: {moment.isoformat()}Z is UTC")
    return moment


def _cases(file: str, gate: Gate, *, many: bool) -> list[Case]:
    from steelyard.evaluators.gate import read_case, read_cases
    from steelyard.evaluators.gate.reading import parsed

    name = "standard input" if file == STANDARD_INPUT else file
    text = _input(file, name)
    if many:
        cases = list(read_cases(text, path=name, compatibility=gate.compatibility))
        if not cases:
            raise DataError(f"{name}: there is no case in it; one a line is read")
        return cases
    data = parsed(text, name)
    return [read_case(data, "1", path=name, compatibility=gate.compatibility)]


def _input(file: str, name: str) -> str:
    if file == STANDARD_INPUT:
        raw = sys.stdin.buffer.read(LARGEST_FILE + 1)
    else:
        raw = _file_bytes(Path(file), name)
    if len(raw) > LARGEST_FILE:
        raise DataError(f"{name}: larger than {LARGEST_FILE} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start} is not UTF-8") from None


def _file_bytes(path: Path, name: str) -> bytes:
    """Return what a file holds, and one byte more than it may hold at most."""
    try:
        if path.is_dir():
            raise DataError(f"{name}: is a folder; give a file")
        if path.exists() and not path.is_file():
            raise DataError(f"{name}: is not a regular file; - reads standard input")
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except (FileNotFoundError, ValueError):  # ValueError: a name that no file can have
        raise DataError(f"{name}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror}") from None


def _with_tools(case: Case, allow: list[str] | None) -> Case:
    from dataclasses import replace

    if case.allowed_tools is not None or not allow:
        return case
    return replace(case, allowed_tools=tuple(allow))


def _text(gate: Gate, case: Case, now: datetime | None, forms: tuple[bool, bool, bool]) -> str:
    """Return what is printed for one case; in a batch JSON takes one line."""
    from steelyard.evaluators.gate import GateInputError, decide_case, explained
    from steelyard.evaluators.gate.errors import printable

    explain, graph, many = forms
    try:
        decision = decide_case(gate, case, now=now)
    except GateInputError as error:
        if not many:
            raise
        if explain:
            return f"Case {printable(case.case)}\nnot decided: {printable(str(error))}\n\n"
        return _line({"case": case.case, "status": "error", "error": str(error)})
    if explain:
        heading = f"Case {printable(case.case)}\n" if many else ""
        return heading + explained(decision) + ("\n" if many else "")
    document = decision.graph.to_dict() if graph else decision.envelope.to_dict()
    if many:
        return _line({"case": case.case, "status": "ok", **document})
    return to_json(document)


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False) + "\n"
