"""The adapters of every room: ``ADAPTERS[(system, function)]`` takes a case's input.

An adapter builds our objects from the input, calls one public function and writes its result as
the vectors write theirs. It computes nothing itself. The adapters of a room stand in a module
``adapters_<room>.py`` beside this one, in a dict of the same name; all of them are joined here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Adapter = Callable[[Any], Any]


def join_adapters() -> dict[tuple[str, str], Adapter]:
    """Join the adapters of all rooms; two rooms must not claim one function."""
    joined: dict[tuple[str, str], Adapter] = {}
    for path in sorted(Path(__file__).parent.glob("adapters_*.py")):
        adapters = import_module(f"vectors.{path.stem}").ADAPTERS
        if claimed := joined.keys() & adapters.keys():
            raise ValueError(f"{path.name} adapts {sorted(claimed)}, as another module does")
        joined.update(adapters)
    return joined


ADAPTERS = join_adapters()
