"""One study in an interpreter of its own: ``python -m steelyard.report.worker ROOT STUDY WHAT``.

Writes the pickled result of `steelyard.report.compute.compute_study` to standard output. Not for
people; `steelyard reproduce` starts it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.report.compute import compute_study


def main(arguments: list[str]) -> int:
    """Compute the study named by the arguments; return the exit code."""
    root, study, what = arguments
    try:
        computed = compute_study(Path(root), study, reports=what == "reports")
    except SteelyardError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.buffer.write(pickle.dumps(computed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
