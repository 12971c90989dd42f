"""The options of the verbs of ``steelyard handoff`` that start agents, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Command = Annotated[
    str,
    typer.Option(
        metavar="COMMAND",
        help="The agent: a program and its arguments. No shell reads it. Of your environment it "
        "gets PATH, HOME, the locale and the variables that choose a model, and no key: it must "
        "have logged in.",
    ),
]
OtherCommand = Annotated[
    str | None, typer.Option(metavar="COMMAND", help="Its command for importing, if another.")
]
Adapter = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The product: claude-code, codex, opencode, cursor or gemini-cli. Needed to start it.",
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="executable if the program is the agent itself, launcher if it forwards to one. "
        "Needed to start it.",
    ),
]
Name = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Its name in the report; the adapter's if not.")
]
Scenario = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Only this scenario; may be repeated.")
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.1, max=86_400, help="For each role.")
]
Unsafe = Annotated[
    bool,
    typer.Option(
        "--unsafe-manual",
        help="Start the agent. It runs with your rights; nothing here is a sandbox, and it may "
        "cost money. Without this nothing is started.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Start nothing: check the scenarios and print what would be run."
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the report there instead of printing it. It holds each scenario once: the "
        "first trial of it that this call ran.",
    ),
]
Database = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Add the trials to the study handoff_manual in this DuckDB file, each when it is "
        "finished; it is made if it does not exist. Trials with a result there are not run again. "
        "Another version, file, command line, model or time limit of an agent is another arm, as "
        "are other scenarios.",
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=1000,
        help="Trials of each scenario in the database. More than one needs --database: a report "
        "with repeats would be no evidence for the adapter matrix.",
    ),
]
