"""An interpreter that computes studies: ``python -m steelyard.report.worker ROOT WHAT``.

Reads one study's id per line from standard input and answers each with a pickled result of
`steelyard.report.compute.compute_study`, or None where the study cannot be computed. Not for
people; `steelyard reproduce` starts it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.report.compute import Computed, compute_study


def main(root: str, what: str) -> None:
    """Answer one line after another, until there are no more."""
    for line in sys.stdin:
        computed: Computed | None = None
        try:
            computed = compute_study(Path(root), line.strip(), reports=what == "reports")
        except SteelyardError as error:
            sys.stderr.write(f"{error}\n")
        sys.stdout.buffer.write(pickle.dumps(computed))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
