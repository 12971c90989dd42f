"""What the verbs that start agents show: a bar while they run, a report, and what was kept."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from steelyard.cli.progress import Update, progress_bar
from steelyard.errors import InputError, StoreError, printable, shown_file

if TYPE_CHECKING:
    from steelyard.harness.handoff.manual import ManualRun
    from steelyard.harness.handoff.manual_trials import Tally

SHOWN_MISSING = 10


def check_targets(report: Path | None, database: Path | None, repeats: int) -> None:
    """Refuse what could not be written, before an agent has cost anything."""
    from steelyard.harness.handoff.tables import check_database

    if repeats > 1 and database is None:
        raise InputError(
            f"--repeats {repeats} needs --database FILE: a report holds each scenario once"
        )
    check_report(report)
    if database is not None:
        if report is not None and report.resolve() == database.resolve():
            raise InputError(f"{shown_file(report)}: report and database are two files")
        if not database.absolute().parent.is_dir():
            raise InputError(f"{database.name}: the folder to write it in does not exist")
        check_database(database)


def check_report(report: Path | None) -> None:
    """Refuse a place where no report can be written, or where something else than a file stands.

    A report replaces what stands in its place: a device or a pipe would be gone.
    """
    if report is None:
        return
    place = _place(report)
    if not place.parent.is_dir():
        raise InputError(f"{report.name}: the folder to write it in does not exist")
    if place.exists() and not place.is_file():
        raise InputError(
            f"{shown_file(report)}: is no regular file, so a report cannot be written there; "
            "without --report it is printed"
        )
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise InputError(f"{shown_file(report)}: must not be written to")


def _place(report: Path) -> Path:
    """Return where a report is written: a link stays, and leads to it."""
    return Path(os.path.realpath(report))


@contextmanager
def watched(database: Path | None) -> Iterator[Callable[[Tally], None]]:
    """Show how far a run is, on a terminal; when it is broken off, say what was kept."""
    seen: list[Tally] = []
    with _terminated_like_interrupted():
        try:
            with progress_bar("asking the agent who it is") as bar:

                def show(tally: Tally) -> None:
                    seen[:] = [tally]
                    if bar is not None:
                        _draw(bar, tally)

                yield show
        except KeyboardInterrupt:
            _say(f"interrupted; {_kept(seen[0] if seen else None, database)}")
            sys.exit(130)


def finish(run: ManualRun, report: Path | None, database: Path | None) -> None:
    """Print or write the report, say what became of the trials, and exit."""
    tally, is_delivered = run.tally, True
    if run.problem is None and not (tally.ran or tally.blocked):
        why = "no trial was finished" if tally.stopped else "nothing was left to run"
        _say(why + ("" if report is None else f"; {shown_file(report)} was not written"))
    else:
        is_delivered = _delivered(run.report, report)
    if run.problem is not None:
        _say(f"nothing was run: {run.problem}")
    elif "provenance" in run.report and run.report["provenance"] is None:
        _say("the sources are in no commit; the report is no evidence")
    if tally.stopped is not None:
        _say(f"stopped: {tally.stopped}")
    if database is not None and run.problem is None:
        _summary(tally, database)
    sys.exit((0 if run.success else 1) if is_delivered else 2)


def _delivered(document: dict[str, Any], report: Path | None) -> bool:
    """Return whether a report could be written; if not, print it, since its trials were run."""
    try:
        deliver(document, report)
    except StoreError as error:
        deliver(document, None)
        _say(f"{error}; the report is printed instead")
        return False
    return True


def deliver(document: dict[str, Any], report: Path | None) -> None:
    """Print a report, or write it whole or not at all. Only ASCII: an agent chose parts of it.

    Raises
    ------
    StoreError
        It cannot be written; what stood in its place is left as it was.
    """
    from steelyard.harness.handoff.storable import storable

    shown = storable(document, surrogates=True)
    text = json.dumps(shown, indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    if report is None:
        sys.stdout.write(text)
        return
    place = _place(report)
    temporary = place.with_name(f".steelyard-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with temporary.open("x", encoding="ascii") as file:
            file.write(text)
        temporary.replace(place)
    except OSError as error:
        raise StoreError(f"{shown_file(report)}: cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _summary(tally: Tally, database: Path) -> None:
    ran = tally.ran + len(tally.blocked)
    _say(
        f"{shown_file(database)}: {tally.passed} of {_trials(tally.requested)} passed, "
        f"{tally.failed} failed, {tally.missing} without a result; {ran} run now"
    )
    for arm in tally.arms:
        _say(f"arm: {arm}")
    for trial, reason in list(tally.blocked.items())[:SHOWN_MISSING]:
        _say(f"without a result: {trial}: environment blocked: {reason}")
    if len(tally.blocked) > SHOWN_MISSING:
        _say(f"without a result: and {len(tally.blocked) - SHOWN_MISSING} more")
    if tally.stopped is not None:
        _say("the same command begins another arm, since the agent is another one")
    elif tally.missing:
        _say("the same command runs what has no result")
    file = shlex.quote(shown_file(database))
    _say(f"`steelyard handoff gates {file}` shows what each gate let pass")


def _kept(tally: Tally | None, database: Path | None) -> str:
    if database is None:
        return "nothing was kept; with --database each trial is, when it is finished"
    if tally is None or not tally.kept:
        return "no trial was finished"
    return (
        f"{shown_file(database)} holds {tally.passed + tally.failed} of "
        f"{_trials(tally.requested)}; the same command runs the others"
    )


def _trials(number: int) -> str:
    return f"{number:,} trial" if number == 1 else f"{number:,} trials"


def _say(text: str) -> None:
    print("steelyard:", printable(text), file=sys.stderr)


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Take SIGTERM and a terminal that has gone as Ctrl-C, so that no agent is left behind."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _draw(bar: Update, tally: Tally) -> None:
    note = f"{tally.failed} failed"
    if tally.blocked:
        note += f", {len(tally.blocked)} without a result"
    bar(
        total=tally.requested,
        completed=tally.passed + tally.failed + len(tally.blocked),
        description=tally.current or "handoff",
        note=note,
    )
