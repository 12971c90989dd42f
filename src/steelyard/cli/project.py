"""Verbs over the whole project: reproduce, report, data verify."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, console, emit, rows, to_json, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.report.reproduce import ReproduceResult

data = typer.Typer(
    help="Look after the committed evidence.", no_args_is_help=True, rich_markup_mode=None
)


def reproduce(
    study: options.StudyNames = None,
    reports: Annotated[
        bool, typer.Option("--reports/--no-reports", help="Whether to write below reports/.")
    ] = True,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    root: options.Root = None,
) -> None:
    """Recompute every published number, write the reports; exit 1 on a mismatch."""
    check_format(as_json, as_csv)
    from steelyard.report.reproduce import reproduce as run_reproduce
    from steelyard.store import named_root

    with _progress() as progress:
        result = run_reproduce(
            named_root(root), study or None, write_reports=reports, progress=progress
        )
    if as_json:
        write(to_json(_document(result)))
    else:
        emit(_summary(result, wrote=reports), as_csv=as_csv)
    for name, pin in result.failures():
        print(f"steelyard: {name}: {pin.id}: {pin.message}", file=sys.stderr)
    if not result.ok:
        raise typer.Exit(1)


def report(
    study: options.StudyNames = None,
    root: options.Root = None,
) -> None:
    """Write the reports, and list the files that changed."""
    from steelyard.report.reproduce import reproduce as run_reproduce
    from steelyard.store import named_root

    with _progress() as progress:
        result = run_reproduce(named_root(root), study or None, progress=progress)
    write("".join(f"reports/{name}\n" for name in result.written) or "nothing changed\n")


@data.callback()
def _data() -> None:
    """Make `data` a group although it has one verb."""


@data.command()
def verify(
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    root: options.Root = None,
) -> None:
    """Compare every evidence file with the manifest."""
    check_format(as_json, as_csv)
    import pandas as pd

    from steelyard.report.tables import column
    from steelyard.store import named_root
    from steelyard.store import verify as verify_files

    manifest = verify_files(named_root(root) / "data")
    frame = pd.DataFrame(
        {"file": name, "bytes": entry.bytes, "rows": entry.rows, "sha256": entry.sha256}
        for name, entry in manifest.files.items()
    )
    shown = [
        column("file", "file"),
        column("bytes", "bytes", kind="count"),
        column("rows", "rows", kind="count"),
    ]
    caption = f"{len(frame)} files are what the manifest says."
    emit(Result("data verify", frame, shown, caption), as_json=as_json, as_csv=as_csv)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show the current step on the terminal; into a file or pipe, nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with console(stderr=True).status("") as status:
        yield status.update


def _summary(result: ReproduceResult, *, wrote: bool) -> Result:
    """Count the published numbers per study and overall."""
    import pandas as pd

    from steelyard.report.tables import column

    counts = result.to_frame()
    names = [name for name in counts.columns if name != "study"]
    total = {"study": "all", **{name: int(counts[name].sum()) for name in names}}
    frame = counts if len(counts) == 1 else pd.concat([counts, pd.DataFrame([total])])
    shown = [column("study", "study")]
    shown += [column(name.replace("_", " "), name, kind="count") for name in names]
    caption = (
        "Pinned numbers: published ones, and those of our own studies.\n"
        "disputed: the evidence contradicts what was printed; both are pinned.\n"
        "not determinable: the committed tables do not hold what it was computed from."
    )
    if wrote:
        changed = len(result.written)
        caption += f"\nReports: {changed or 'no'} {'file' if changed == 1 else 'files'} changed."
    return Result("reproduce", frame, shown, caption)


def _document(result: ReproduceResult) -> dict[str, Any]:
    """Return what `reproduce --json` prints: counts, failures, and every number by study."""
    return {
        "verb": "reproduce",
        "ok": result.ok,
        "rows": rows(result.to_frame()),
        "written": list(result.written),
        "pins": {study.study: [pin.to_row() for pin in study.pins] for study in result.studies},
    }
