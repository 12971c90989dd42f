"""Replay reference vectors: ``python tests/vectors/run.py FOLDER_OR_FILE...``.

A vector file is ``{"system", "version", "cases": [{"id", "function", "input", "expected"}]}``.
Each case is handed to the adapter of its system and function, and what that returns is compared
with ``expected``. Folders are searched for ``*.json`` at any depth.

- One line for each case that fails, then ``N by design``, then ``N passed, M failed``. The exit
  code is 1 when one failed.
- A function without an adapter, a file that cannot be read and a folder without vectors fail.
- Numbers agree within the case's ``tolerance`` (absolute), or the file's, or else that of
  ``ROUNDING``, the rounding of the expected values of a system.
- ``{"$error": "Name", ...}`` is met by any ``SteelyardError`` whose attributes equal the other
  members. Another exception is a crash and fails.
- By design, and not run, are cases with a tag ``bug:...`` or ``limit:...`` and those listed in the
  file's ``known_defects``: they record behaviour that should not be copied.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a script, the folder `tests` is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vectors.compare import first_difference

Adapters = Mapping[tuple[str, str], Callable[[Any], Any]]

# Expected values of bound are the doubles themselves, those of prismthinker are rounded to six
# decimals (half a unit more at a rounding edge), all others keep at least nine.
ROUNDING = {"bound": 0.0, "prismthinker": 1.5e-6}
DEFAULT_ROUNDING = 1e-9


class VectorFileError(ValueError):
    """A file that is JSON but holds no vectors."""


@dataclass
class Replay:
    """How the cases of one or more files ended."""

    passed: int = 0
    by_design: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Replay) -> None:
        """Count the cases of another replay in."""
        self.passed += other.passed
        self.by_design += other.by_design
        self.failures += other.failures


def replay(paths: Iterable[Path], adapters: Adapters) -> Replay:
    """Replay every file of ``paths``, in the order of their names within a folder."""
    total = Replay()
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not files:
            total.failures.append(f"{path}: no vector files (*.json) in this folder")
        for file in files:
            total.add(replay_file(file, adapters))
    return total


def replay_file(path: Path, adapters: Adapters) -> Replay:
    """Replay one file. Whatever is wrong with it becomes a failure, never an exception."""
    result = Replay()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        cases = list(_checked_cases(document))
    except (OSError, ValueError, RecursionError) as error:
        result.failures.append(f"{path}: {error or type(error).__name__}")
        return result
    for case in cases:
        if _is_by_design(case, document):
            result.by_design += 1
        elif reason := _failure(case, document, adapters):
            result.failures.append(f"{path} {case['id']}: {reason}")
        else:
            result.passed += 1
    return result


def _checked_cases(document: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(document, dict) or not isinstance(document.get("system"), str):
        raise VectorFileError("not a vector file: it names no system")
    if not isinstance(document.get("cases"), list) or not document["cases"]:
        raise VectorFileError("not a vector file: it has no cases")
    for number, case in enumerate(document["cases"], start=1):
        members = case.keys() if isinstance(case, dict) else set()
        if lacking := sorted({"id", "function", "input", "expected"} - members):
            raise VectorFileError(f"case {number} lacks {', '.join(lacking)}")
        yield case


def _is_by_design(case: dict[str, Any], document: dict[str, Any]) -> bool:
    tagged = any(str(tag).startswith(("bug:", "limit:")) for tag in case.get("tags") or ())
    return tagged or case["id"] in (document.get("known_defects") or ())


def _failure(case: dict[str, Any], document: dict[str, Any], adapters: Adapters) -> str | None:
    from steelyard import SteelyardError

    system, function, expected = document["system"], case["function"], case["expected"]
    adapter = adapters.get((system, function))
    if adapter is None:
        return f"no adapter for {system} {function}"
    tolerance = case.get(
        "tolerance", document.get("tolerance", ROUNDING.get(system, DEFAULT_ROUNDING))
    )
    wants_error = isinstance(expected, dict) and "$error" in expected
    try:
        got = adapter(case["input"])
    except SteelyardError as error:
        if not wants_error:
            return f"raised {type(error).__name__}: {error}"
        named = {key: value for key, value in expected.items() if key != "$error"}
        carried = {key: getattr(error, key, None) for key in named}
        return first_difference(named, carried, tolerance, "error")
    except Exception as error:  # an adapter or what it calls crashed: report it, go on
        return f"crashed with {type(error).__name__}: {error}"
    if wants_error:
        return f"expected the error {expected['$error']}, got {got!r:.120}"
    return first_difference(expected, got, tolerance)


def main(arguments: list[str]) -> int:
    """Replay the named folders and files, print the result, return the exit code."""
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(__doc__)
        return 0 if arguments else 2
    from vectors.adapters import ADAPTERS

    sys.stdout.reconfigure(errors="backslashreplace")  # ids and values may hold any text
    result = replay(map(Path, arguments), ADAPTERS)
    for failure in result.failures:
        print("failed", " ".join(failure.splitlines()))
    print(f"{result.by_design} by design")
    print(f"{result.passed} passed, {len(result.failures)} failed")
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
