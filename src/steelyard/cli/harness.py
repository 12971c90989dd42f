"""Verbs of the harness that run trials: run, replay."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import options
from steelyard.cli.experiments import Folder, experiment_folder
from steelyard.cli.output import Result, check_format, emit, rows, to_json, write
from steelyard.cli.progress import Update, progress_bar
from steelyard.errors import StudyError

if TYPE_CHECKING:
    from steelyard.harness.progress import Progress, RunReport
    from steelyard.harness.study import RunnableStudy

SHOWN_MISSING = 10

Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Threads for arms that wait for a model (default 8), processes for arms that compute "
        "(default 1). The tables do not depend on it.",
    ),
]
ExecutorName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto, serial, threads, processes, or dask://host:port for many machines.",
    ),
]
Database = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The run's database. Default: build/runs/STUDY.duckdb."),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="Run at most so many trials, then stop.")
]
Export = Annotated[
    bool,
    typer.Option("--export", help="Afterwards write the tables to data/ and list them there."),
]
Times = Annotated[
    bool, typer.Option("--times", help="Export wall times too; they differ from run to run.")
]


def run(
    study: Folder,
    workers: Workers = None,
    executor: ExecutorName = "auto",
    database: Database = None,
    limit: Limit = None,
    export: Export = False,
    times: Times = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Run what is missing of a study; exit 1 if trials are missing afterwards.

    The run can be ended at any moment, in any way; the same command goes on where it stopped.
    """
    check_format(as_json, as_csv)
    settings = {"workers": workers, "executor": executor, "limit": limit}
    report = _run("run", study, database, settings, (export, times), (as_json, as_csv))
    if report.missing and limit is None:
        raise typer.Exit(1)


def replay(
    study: Folder,
    workers: Workers = None,
    executor: ExecutorName = "auto",
    database: Database = None,
    export: Export = False,
    times: Times = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Run a study from its recorded responses, without a network; exit 1 if any are lacking.

    Trials without a recording stay missing, and are listed.
    """
    check_format(as_json, as_csv)
    settings = {"workers": workers, "executor": executor}
    report = _run("replay", study, database, settings, (export, times), (as_json, as_csv))
    if report.missing:
        raise typer.Exit(1)


def _run(
    verb: str,
    study: Path,
    database: Path | None,
    settings: dict[str, Any],
    export: tuple[bool, bool],
    formats: tuple[bool, bool],
) -> RunReport:
    from steelyard.harness.runner import run_study
    from steelyard.harness.study import load_study

    loaded = load_study(experiment_folder(study))
    home = _home(loaded)
    suffix = ".replay" if verb == "replay" else ""
    target = database or home / "build" / "runs" / f"{loaded.id}{suffix}.duckdb"
    models = loaded.models(offline=verb == "replay")
    try:
        with progress_bar(loaded.id, remaining=True) as bar:
            shown = _drawn_on(bar)
            report = run_study(loaded, target, models=models, on_progress=shown, **settings)
    finally:
        if models is not None:
            models.close()
    account = getattr(models, "account", None)
    _show(verb, report, formats, account() if callable(account) else "")
    _say_missing(verb, study, report)
    if export[0]:
        _export(loaded, target, home, times=export[1])
    if report.progress.stopping == "interrupted":
        raise typer.Exit(130)
    return report


def _home(study: RunnableStudy) -> Path:
    """Return the project of a study, else the folder above ``experiments/``."""
    from steelyard.store import find_root

    folder = study.folder or Path.cwd()
    try:
        return find_root(folder)
    except StudyError:
        return folder.parent.parent


def _export(study: RunnableStudy, database: Path, home: Path, *, times: bool) -> None:
    from steelyard.harness.export import export_run
    from steelyard.store import write_manifest

    source = study.declaration.data.source
    for file in export_run(database, home / "data" / source, times=times):
        print(f"wrote data/{source}/{file.name}", file=sys.stderr)
    write_manifest(home / "data", source)


def _show(verb: str, report: RunReport, formats: tuple[bool, bool], account: str) -> None:
    import pandas as pd

    names = ["arm", "planned", "completed", "failed", "missing", "cost_usd"]
    frame = pd.DataFrame(report.arms, columns=names)
    done = report.progress
    rate = done.ran / done.seconds if done.seconds else 0.0
    caption = (
        f"{done.ran} trials in {done.seconds:.1f} s ({rate:.0f} per second)"
        + (f", {done.without_result} of them without a result" if done.without_result else "")
        + (f", {done.cost_usd:.4f} USD" if done.cost_usd else "")
        + (f"; {account}" if account else "")
        + (". Resumed." if report.resumed else ".")
    )
    as_json, as_csv = formats
    if as_json:
        missing = [{"trial_id": name, "reason": reason} for name, reason in report.missing]
        content = {"verb": verb, "study": report.study, "rows": rows(frame), "missing": missing}
        write(to_json({**content, "stopped": done.stopping}))
        return
    emit(Result(verb, frame, None, caption, report.study), as_csv=as_csv)


def _say_missing(verb: str, study: Path, report: RunReport) -> None:
    """List trials that were tried and have no result, and say how to go on."""
    if report.damaged_log is not None:
        print(
            "the write-ahead log could not be read; the trials in it were run again, and it was "
            f"set aside as {report.damaged_log.name}",
            file=sys.stderr,
        )
    tried = [(name, reason) for name, reason in report.missing if reason is not None]
    for name, reason in tried[:SHOWN_MISSING]:
        print(f"missing: {name}: {reason}", file=sys.stderr)
    if len(tried) > SHOWN_MISSING:
        print(f"missing: and {len(tried) - SHOWN_MISSING} more; --json lists all", file=sys.stderr)
    if report.missing and report.progress.stopping:
        print(
            f"stopped: {report.progress.stopping}. {len(report.missing)} trials are still missing; "
            f"`steelyard {verb} {study}` goes on where it stopped.",
            file=sys.stderr,
        )


def _drawn_on(bar: Update | None) -> Callable[[Progress], None] | None:
    """Return what draws how far a run is; None without a bar."""
    if bar is None:
        return None

    def draw(progress: Progress) -> None:
        done = progress.completed + progress.failed
        bar(total=progress.total, completed=done, note=note(progress))

    return draw


def note(progress: Progress) -> str:
    """Return rate, cost and failures of a run in a few words."""
    rate = progress.ran / progress.seconds if progress.seconds else 0.0
    parts = [f"{rate:.1f}/s", f"{progress.failed} failed"]
    if progress.cost_usd:
        parts.insert(1, f"{progress.cost_usd:.4f} USD")
    if progress.without_result:
        parts.append(f"{progress.without_result} without a result")
    if progress.stopping:
        parts.append("finishing the trials in flight (Ctrl-C again ends at once)")
    return ", ".join(parts)
