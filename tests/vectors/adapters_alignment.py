"""Adapter of ``steelyard.stats.alignment``: the file ``align.json`` of ``plumbline``."""

from __future__ import annotations

from typing import Any

from steelyard.stats.alignment import align


def _tokens(sequence: list[Any]) -> list[Any]:
    """JSON has no tuples: a (kind, name) comes as a list."""
    return [tuple(token) if isinstance(token, list) else token for token in sequence]


def _align(given: dict[str, Any]) -> dict[str, Any]:
    alignment = align(_tokens(given["reference"]), _tokens(given["candidate"]))
    return {
        "ops": [list(operation) for operation in alignment.script],
        "first_divergence": alignment.first_divergence,
    }


ADAPTERS = {("plumbline", "align"): _align}
