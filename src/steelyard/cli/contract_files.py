"""The documents of ``steelyard contract``: where they are read from and written to."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.output import to_json
from steelyard.evaluators.contract import (
    CommandError,
    InvalidJsonError,
    OutputError,
    load_json,
    load_json_file,
)

if TYPE_CHECKING:
    from steelyard.analysis.order_drift import OrderDrift

STDIN = "-"

RUN_TABLES = {"order_runs", "order_rule_runs"}
"""The tables of a file of runs."""

ROLES = ("policy", "response")
"""What the inputs of a call are, in their order."""

PLAYGROUND_DOCUMENTS: list[dict[str, Any]] = [
    {
        "schema_version": "1.0",
        "policy_id": "playground",
        "rules": [{"rule_id": "decision-present", "kind": "required_field", "path": "decision"}],
    },
    {"decision": "demo"},
]
"""The policy and the response that the playground begins with if it is given none."""


@dataclass(frozen=True)
class Documents:
    """The inputs and the output of one call, checked before anything is read.

    Parameters
    ----------
    inputs : sequence of str
        Paths; ``-`` is standard input, at most once.
    output : str, optional
        A file to write instead of standard output; none of the inputs.

    Raises
    ------
    CommandError
        If two inputs are ``-``, or the output is no name for a file, or an input.
    """

    inputs: Sequence[str]
    output: str | None = None

    def __post_init__(self) -> None:
        if list(self.inputs).count(STDIN) > 1:
            raise CommandError("only one input can be read from standard input")
        if self.output is not None:
            check_destination(self.output, self.inputs)

    def read(self, index: int) -> Any:
        """Return the JSON value of an input; an error says which of the inputs it is about."""
        path = self.inputs[index]
        try:
            return load_json(sys.stdin.buffer) if path == STDIN else load_json_file(path)
        except InvalidJsonError as error:
            raise InvalidJsonError(f"{ROLES[index]}: {error.message}") from None

    def deliver(self, document: Any, **about: Any) -> None:
        """Print a document; or write it to the output, and print that this was done.

        Raises
        ------
        OutputError
            If it cannot be written, or standard output is closed or full.
        """
        if self.output is not None:
            write_file(self.output, to_json(document).encode())
            document = {"output_written": True, **about}
        _print(to_json(document).encode())


def _print(content: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # a reader who has gone wants no message either
        raise
    except OSError as error:
        raise OutputError(f"the result cannot be printed: {error.strerror}") from None


def check_destination(output: str, others: Sequence[str], option: str = "--output") -> None:
    """Refuse an output that no file should be called, or that is another file of the call.

    Raises
    ------
    CommandError
    """
    if output == STDIN or _is_blank(output) or _is_blank(output.rpartition(os.sep)[2]):
        raise CommandError(f"{option} needs the name of a file")
    if any(_is_one_file(output, path) for path in others if path != STDIN):
        raise CommandError(f"{option} is one of the other files")


def check_replaceable_runs(name: str) -> None:
    """Refuse a file of runs that is there already, unless it is one that `write_runs` made.

    Raises
    ------
    OutputError
    """
    try:
        target = Path(os.path.realpath(name))
        if not target.exists() or (target.is_file() and _tables(target) == RUN_TABLES):
            return
    except (OSError, ValueError):
        return  # not a possible name: writing says so
    raise OutputError(
        "the file of --runs exists and was not written by this verb; it is left as it is"
    )


def _tables(path: Path) -> set[str]:
    """Return the names of a DuckDB file's tables; none if it is no such file."""
    import duckdb

    try:
        with duckdb.connect(path, read_only=True) as connection:
            found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    except duckdb.Error:
        return set()
    return {name for (name,) in found}


def write_file(name: str, content: bytes) -> None:
    """Replace a file by new content at once; a new file is readable by its owner only.

    Raises
    ------
    OutputError
        If it cannot be written. What was there is left as it was.
    """
    try:
        target = Path(os.path.realpath(name))
        mode = _mode(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".steelyard-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), mode)
            Path(temporary).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise OutputError(
            f"the output file cannot be written: {reason or 'not a possible name'}"
        ) from None


def write_runs(drift: OrderDrift, name: str) -> None:
    """Write every call of a check into a new DuckDB file: ``order_runs`` and ``order_rule_runs``.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.duckdb"
        tables = {"order_runs": drift.runs(), "order_rule_runs": drift.rule_runs()}
        with duckdb.connect(path) as connection:
            for table, frame in tables.items():
                connection.register("incoming", frame)
                connection.execute(f"CREATE TABLE {table} AS FROM incoming")
                connection.unregister("incoming")
        write_file(name, path.read_bytes())


def _is_blank(name: str) -> bool:
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in name)


def _is_one_file(output: str, path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        if Path(output).samefile(path):  # also through another hard link
            return True
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(output) == os.path.realpath(path)
    return False


def _mode(target: Path) -> int:
    """Return the permissions the file is to have; refuse what is no regular file."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "what stands there is not a regular file")
    return stat.S_IMODE(found.st_mode)
