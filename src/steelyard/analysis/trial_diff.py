"""Two trials side by side: their steps aligned, and where the arguments of aligned calls differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from steelyard.errors import InputError
from steelyard.stats.alignment import align
from steelyard.trials.argument_schema import ArgumentDifference, ArgumentSchema
from steelyard.trials.arguments import compare_arguments
from steelyard.trials.model import Step, Trial
from steelyard.trials.tokens import arguments_text

SIDES = ("reference", "candidate")


def align_trials(
    reference: Trial,
    candidate: Trial,
    schemas: Mapping[str, ArgumentSchema] | None = None,
) -> pd.DataFrame:
    """Align the control steps of two trials and compare the arguments of those that match.

    Parameters
    ----------
    reference, candidate : Trial
        Two trials, of one study or of two. Their tool calls and decisions are aligned by kind and
        name, failed ones included (:func:`steelyard.stats.alignment.align`).
    schemas : mapping of str to ArgumentSchema, optional
        How the arguments of a tool are compared; exactly without one
        (:func:`steelyard.trials.arguments.compare_arguments`).

    Returns
    -------
    pandas.DataFrame
        One row per operation of the edit script, in its order:

        - ``operation``: ``match``, ``substitute``, ``skipped`` (only the reference has the step)
          or ``extra`` (only the candidate has it);
        - for each side ``…_index`` (position among its control steps), ``…_kind``, ``…_name``,
          ``…_arguments`` (canonical JSON, ``?`` where they were not recorded) and ``…_error``;
          missing where the side has no step;
        - ``differences``: for a match, each argument that differs as ``name: reference,
          candidate``, separated by ``"; "``; empty when none does.

    Raises
    ------
    InputError
        Trials too long to align.
    """
    steps = (reference.control_steps, candidate.control_steps)
    try:
        alignment = align(reference.full_path, candidate.full_path)
    except InputError as error:
        raise InputError(
            f"trials {reference.label} ({len(steps[0]):,} steps) and {candidate.label} "
            f"({len(steps[1]):,} steps) cannot be aligned: {error}"
        ) from None
    rows = []
    for operation, i, j in alignment.script:
        places = (None if operation == "extra" else i, j)
        pair = [None if k is None else side[k] for side, k in zip(steps, places, strict=True)]
        row: dict[str, Any] = {"operation": operation}
        for side, place, step in zip(SIDES, places, pair, strict=True):
            row |= _side(side, place, step)
        row["differences"] = _differences(operation, pair, schemas or {})
        rows.append(row)
    frame = pd.DataFrame(rows, columns=_columns())
    return frame.astype({f"{side}_index": "Int64" for side in SIDES})


def _columns() -> list[str]:
    parts = ("index", "kind", "name", "arguments", "error")
    return ["operation", *(f"{s}_{part}" for s in SIDES for part in parts), "differences"]


def _side(side: str, place: int | None, step: Step | None) -> dict[str, Any]:
    if step is None:
        return dict.fromkeys(f"{side}_{p}" for p in ("index", "kind", "name", "arguments", "error"))
    return {
        f"{side}_index": place,
        f"{side}_kind": step.kind,
        f"{side}_name": step.name,
        f"{side}_arguments": arguments_text(step.arguments),
        f"{side}_error": step.error,
    }


def _differences(
    operation: str, pair: list[Step | None], schemas: Mapping[str, ArgumentSchema]
) -> str:
    expected, got = pair
    if operation != "match" or expected is None or got is None:
        return ""
    found = compare_arguments(
        expected.arguments, got.arguments, schemas.get(got.name), tool=got.name
    )
    return "; ".join(_words(difference) for difference in found)


def _words(difference: ArgumentDifference) -> str:
    if difference.policy == "unknown":
        return "arguments not recorded"
    sides = [
        "(absent)" if difference.absent == name else repr(value)
        for name, value in (("expected", difference.expected), ("got", difference.got))
    ]
    return f"{difference.field or 'arguments'}: {', '.join(sides)}"
