"""How busy the machine was while a benchmark ran."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any


def load_now() -> dict[str, Any]:
    """Return what a row of figures says about the machine: its processors and its load."""
    return {"processors": os.cpu_count(), "load": os.getloadavg()[0]}


def load_said(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say in lines of their own how busy the machine was at the first and the last row."""
    if "load" not in rows[0]:
        return "How busy the machine was is not recorded."
    first, last = (float(rows[place]["load"]) for place in (0, -1))
    said = (
        f"The machine had {rows[0]['processors']} processors and a load average of {first:.1f} at "
        f"the first figure and {last:.1f} at the last; the benchmark alone makes 1 to 2. Other "
        "work lengthens the wall time more than the processor time."
    )
    return textwrap.fill(said, 100)
