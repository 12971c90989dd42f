"""The adapters of every room: ``ADAPTERS[(system, function)]`` takes a case's input.

An adapter builds our objects from the input, calls one public function and writes its result as
the vectors write theirs. It computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {}
