"""A bar on standard error that shows how far a run is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Update = Callable[..., Any]
"""Takes ``total``, ``completed``, ``note`` and ``description``, whichever are new."""


@contextmanager
def progress_bar(description: str, *, remaining: bool = False) -> Iterator[Update | None]:
    """Yield what updates the bar; None where standard error is no terminal, and nothing is shown.

    Parameters
    ----------
    description : str
        Stands before the bar.
    remaining : bool, default False
        Whether the time behind it is the time that is left, and not the time that has passed.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from steelyard.cli.output import console

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn() if remaining else TimeElapsedColumn(),
    ]
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(description, total=None, note=""))
