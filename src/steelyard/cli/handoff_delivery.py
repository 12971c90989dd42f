"""What the verbs that start agents show: a bar while they run, a report, and what was kept."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError, printable, shown_file

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
    for path in (report, database):
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"{path.name}: the folder to write it in does not exist")
    if report is not None:
        if report.is_dir() or not os.access(report.absolute().parent, os.W_OK):
            raise InputError(f"{shown_file(report)}: a report cannot be written there")
        if database is not None and report.resolve() == database.resolve():
            raise InputError(f"{shown_file(report)}: report and database are two files")
    if database is not None:
        check_database(database)


@contextmanager
def watched(database: Path | None) -> Iterator[Callable[[Tally], None]]:
    """Show how far a run is, on a terminal; when it is broken off, say what was kept."""
    seen: list[Tally] = []
    with _terminated_like_interrupted():
        try:
            with _bar() as draw:

                def show(tally: Tally) -> None:
                    seen[:] = [tally]
                    draw(tally)

                yield show
        except KeyboardInterrupt:
            _say(f"interrupted; {_kept(seen[0] if seen else None, database)}")
            sys.exit(130)


def finish(run: ManualRun, report: Path | None, database: Path | None) -> None:
    """Print or write the report, say what became of the trials, and exit."""
    tally = run.tally
    if report is not None and run.problem is None and not (tally.ran or tally.blocked):
        why = "no trial was finished" if tally.stopped else "nothing was left to run"
        _say(f"{why}; {shown_file(report)} was not written")
    else:
        deliver(run.report, report)
    if run.problem is not None:
        _say(f"nothing was run: {run.problem}")
    elif "provenance" in run.report and run.report["provenance"] is None:
        _say("the sources are in no commit; the report is no evidence")
    if tally.stopped is not None:
        _say(f"stopped: {tally.stopped}")
    if database is not None and run.problem is None:
        _summary(tally, database)
    sys.exit(0 if run.success else 1)


def deliver(document: dict[str, Any], report: Path | None) -> None:
    """Print a report, or write it whole or not at all. Only ASCII: an agent chose parts of it."""
    from steelyard.harness.handoff.storable import storable

    shown = storable(document, surrogates=True)
    text = json.dumps(shown, indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    if report is None:
        sys.stdout.write(text)
        return
    temporary = report.with_name(f".{report.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="ascii")
        temporary.replace(report)
    finally:
        temporary.unlink(missing_ok=True)


def _summary(tally: Tally, database: Path) -> None:
    ran = tally.ran + len(tally.blocked)
    _say(
        f"{shown_file(database)}: {tally.passed} of {_trials(tally.requested)} passed, "
        f"{tally.failed} failed, {tally.missing} without a result; {ran} run now"
    )
    for trial, reason in list(tally.blocked.items())[:SHOWN_MISSING]:
        _say(f"without a result: {trial}: environment blocked: {reason}")
    if len(tally.blocked) > SHOWN_MISSING:
        _say(f"without a result: and {len(tally.blocked) - SHOWN_MISSING} more")
    if tally.missing:
        _say("the same command runs what has no result")
    _say(f"`steelyard handoff gates {shown_file(database)}` shows what each gate let pass")


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


@contextmanager
def _bar() -> Iterator[Callable[[Tally], None]]:
    if not sys.stderr.isatty():
        yield lambda _tally: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from steelyard.cli.output import console

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking the agent who it is", total=None, note="")

        def draw(tally: Tally) -> None:
            done = tally.passed + tally.failed + len(tally.blocked)
            note = f"{tally.failed} failed"
            if tally.blocked:
                note += f", {len(tally.blocked)} without a result"
            bar.update(
                task,
                total=tally.requested,
                completed=done,
                description=tally.current or "handoff",
                note=note,
            )

        yield draw
