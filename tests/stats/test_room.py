"""What holds for the stats room as a whole."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard import stats

MODULES = sorted(p.stem for p in Path(stats.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    path = "steelyard.stats" if name == "__init__" else f"steelyard.stats.{name}"
    assert doctest.testmod(importlib.import_module(path)).failed == 0


def test_importing_the_room_loads_no_heavy_library() -> None:
    code = (
        "import sys, steelyard.stats\n"
        "print([m for m in ('scipy.special', 'scipy.stats', 'pandas', 'matplotlib', 'duckdb')"
        " if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def public(kind) -> list[str]:
    return [name for name in stats.__all__ if kind(getattr(stats, name))]


@pytest.mark.parametrize("name", public(inspect.isfunction))
def test_public_functions_have_examples(name: str) -> None:
    text = inspect.getdoc(getattr(stats, name)) or ""
    assert ">>>" in text


@pytest.mark.parametrize("name", public(dataclasses.is_dataclass))
def test_results_are_frozen_and_document_every_field(name: str) -> None:
    result = getattr(stats, name)
    assert result.__dataclass_params__.frozen
    text = inspect.getdoc(result) or ""
    if "As in" not in text and "as arrays" not in text:
        for field in dataclasses.fields(result):
            assert field.name in text, field.name


def test_names_are_listed_once_and_exist() -> None:
    assert len(set(stats.__all__)) == len(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)
