"""What the result dataclasses of the stats room share: a number travels with its estimand."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

SMALLEST_P = math.ulp(0.0)
"""The least positive double: what a p-value too small for a double is reported as, never 0."""


class Result:
    """Base of the frozen result dataclasses."""

    def to_row(self) -> dict[str, Any]:
        """Return the fields in their order, as one row of a table."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
        }
