"""Verbs over all tables: studies, sql."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit

SQL_ROWS = 100
"""Rows of a query that the readable table shows; JSON and CSV hold all."""


def studies(
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """List the studies, with what became of their trials."""
    check_format(as_json, as_csv)
    from steelyard.report.tables import column
    from steelyard.study import open_connection, run_query

    frame = run_query(
        open_connection(root=root, database=database),
        """
        SELECT s.study, s.title, s.origin, s.model, s.licence, s.source,
               count(DISTINCT t.arm) AS arms, count(DISTINCT t.task) AS tasks,
               count(DISTINCT t.perturbation) AS perturbations, count(t.trial_id) AS trials,
               count(*) FILTER (t.status = 'completed') AS completed,
               count(*) FILTER (t.status = 'failed') AS failed,
               count(*) FILTER (t.status = 'missing') AS missing
        FROM studies s LEFT JOIN trials t USING (study)
        GROUP BY ALL ORDER BY s.study
        """,
    )
    counts = ("arms", "tasks", "trials", "completed", "failed", "missing")
    shown = [column("study", "study"), column("title", "title")]
    shown += [column(name, name, kind="count") for name in counts]
    caption = "failed: ran and ended in an error. missing: never ran."
    emit(Result("studies", frame, shown, caption), as_json=as_json, as_csv=as_csv)


def sql(
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="One SELECT. Without it, the tables are listed."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY",
            help="Let the tables hold this study's rows alone.",
            autocompletion=options.complete_study,
        ),
    ] = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Ask the tables in SQL, read-only."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.study import open_connection, run_query

    if query is None:
        emit(_schema(), as_json=as_json, as_csv=as_csv)
        return
    if study is None:
        frame = run_query(open_connection(root=root, database=database), query)
    else:
        frame = open_study(study, root=root, database=database).sql(query)
    caption = f"{len(frame):,} {'row' if len(frame) == 1 else 'rows'}"
    if len(frame) > SQL_ROWS and not (as_json or as_csv):
        caption = f"The first {SQL_ROWS} of {caption}; all: --json or --csv"
        frame = frame.head(SQL_ROWS)
    emit(Result("sql", frame, None, f"{caption}.", study), as_json=as_json, as_csv=as_csv)


def _schema() -> Result:
    """List every table and column with its meaning."""
    import pandas as pd

    from steelyard.report.tables import default_columns
    from steelyard.store.schema import TABLES

    rows = [
        {"table": table.name, "column": column.name, "type": column.type, "meaning": column.meaning}
        for table in TABLES.values()
        for column in table.columns
    ]
    frame = pd.DataFrame(rows)
    caption = "NULL means unknown or not measured, never zero or empty."
    return Result("sql", frame, default_columns(frame), caption)
