"""A study in a notebook or script: its tables as DataFrames, SQL over them, and its analyses."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from types import MethodType
from typing import Generic, TypeVar

import duckdb
import pandas as pd

from steelyard import analysis
from steelyard.errors import InputError
from steelyard.store import StudyTables, connect, named_root, open_database
from steelyard.store.schema import TABLES

R = TypeVar("R")


class _OverTables(Generic[R]):
    """An analysis as a method: the study's tables become its first argument.

    The method keeps the function's documentation and the rest of its signature.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        self._function = function

    def __get__(self, study: Study | None, owner: type) -> Callable[..., R]:
        if study is None:
            return self._function
        return MethodType(self._function, study.tables)


class Study:
    """One study of a project, read-only.

    Parameters
    ----------
    tables : StudyTables
        The study's tables; :func:`steelyard.open` finds them by the study's id.

    Notes
    -----
    The analyses (``rates``, ``compare``, ``certify``, ``audit`` and so on) are the functions of
    :mod:`steelyard.analysis`, without their first argument.

    Examples
    --------
    >>> import steelyard
    >>> study = steelyard.open("plumbline_retry")
    >>> study.sql("SELECT count(*) AS trials FROM trials")
       trials
    0     768
    """

    def __init__(self, tables: StudyTables) -> None:
        self.tables = tables
        self._scoped: duckdb.DuckDBPyConnection | None = None

    rates = _OverTables(analysis.rates)
    compare = _OverTables(analysis.compare)
    pairwise = _OverTables(analysis.pairwise)
    certify = _OverTables(analysis.certify)
    manipulation = _OverTables(analysis.manipulation)
    reliability = _OverTables(analysis.reliability)
    seeds = _OverTables(analysis.seeds)
    repeat_agreement = _OverTables(analysis.repeat_agreement)
    audit = _OverTables(analysis.audit)
    conformance = _OverTables(analysis.conformance)
    consistency = _OverTables(analysis.consistency)
    equivalence = _OverTables(analysis.equivalence)
    attest = _OverTables(analysis.attest)
    consensus = _OverTables(analysis.consensus)
    aligned_steps = _OverTables(analysis.aligned_steps)
    similarity = _OverTables(analysis.similarity)
    similarity_test = _OverTables(analysis.similarity_test)
    behaviour_shift = _OverTables(analysis.behaviour_shift)
    step_rates = _OverTables(analysis.step_rates)
    first_divergence = _OverTables(analysis.first_divergence)
    stop_points = _OverTables(analysis.stop_points)
    stopping_summary = _OverTables(analysis.stopping_summary)
    stopping_sweep = _OverTables(analysis.stopping_sweep)
    weight_sensitivity = _OverTables(analysis.weight_sensitivity)
    calibrated_threshold = _OverTables(analysis.calibrated_threshold)
    compare_policies = _OverTables(analysis.compare_policies)

    @property
    def name(self) -> str:
        """The study's id."""
        return self.tables.study

    @property
    def title(self) -> str:
        """The study in one line, as declared."""
        return self.tables.design.study.title

    @property
    def question(self) -> str:
        """What the study set out to answer, as declared."""
        return self.tables.design.study.question

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms in their declared order."""
        return self.tables.design.design.arms

    @property
    def perturbations(self) -> tuple[str, ...]:
        """The perturbations in their declared order, the baseline first."""
        return self.tables.design.design.perturbations

    @property
    def trials(self) -> pd.DataFrame:
        """One row per trial: where it stands in the design and how it ended."""
        return self.frame("trials")

    @property
    def steps(self) -> pd.DataFrame:
        """One row per step of a trial, in order; empty where the steps were not published."""
        return self.frame("steps")

    @property
    def measures(self) -> pd.DataFrame:
        """One row per trial and measure. NaN means not measured; no row, not applicable."""
        return self.frame("measures")

    @property
    def violations(self) -> pd.DataFrame:
        """One row per rule that a trial broke."""
        return self.frame("violations")

    @property
    def claims(self) -> pd.DataFrame:
        """One row per number that the study's authors printed."""
        return self.frame("claims")

    @property
    def states(self) -> pd.DataFrame:
        """One row per trial: the terminal state of the system of record, as JSON."""
        return self.frame("states")

    @property
    def divergences(self) -> pd.DataFrame:
        """One row per published difference between a trial and its counterpart."""
        return self.frame("divergences")

    def frame(self, table: str) -> pd.DataFrame:
        """Return one of the study's tables; :meth:`StudyTables.frame` documents it."""
        return self.tables.frame(table)

    def sql(self, query: str) -> pd.DataFrame:
        """Ask the study's tables in SQL.

        Parameters
        ----------
        query : str
            One ``SELECT`` in DuckDB's dialect. ``trials``, ``steps``, ``measures`` and the other
            tables of :mod:`steelyard.store.schema` hold the rows of this study alone.

        Returns
        -------
        pandas.DataFrame
            What the query gives, in the order it gives it.

        Raises
        ------
        InputError
            If it is anything but one ``SELECT``, or DuckDB refuses it.
        """
        return run_query(self._own_rows(), query)

    def _own_rows(self) -> duckdb.DuckDBPyConnection:
        """Return a connection in which each table is a view of this study's rows."""
        if self._scoped is None:
            self._scoped = self.tables.connection.cursor()
            catalog = self._scoped.sql("SELECT current_database()").fetchall()[0][0]
            study = self.name.replace("'", "''")
            for table in TABLES.values():
                self._scoped.execute(
                    f"CREATE TEMP VIEW {table.name} AS "
                    f"SELECT * FROM \"{catalog}\".main.{table.name} WHERE study = '{study}'"
                )
        return self._scoped

    def _counts(self) -> dict[str, int]:
        """Count what the design has and what became of its trials."""
        trials = self.frame("trials")
        counts = {f"{column}s": int(trials[column].nunique()) for column in ("arm", "task")}
        counts["perturbations"] = int(trials["perturbation"].nunique())
        counts["trials"] = len(trials)
        for status in ("completed", "failed", "missing"):
            counts[status] = int(trials["status"].eq(status).sum())
        return counts

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self._counts().items())
        return f"Study({self.name!r}: {counts})"

    def _repr_html_(self) -> str:
        """Show title, question and counts in a notebook; every text is escaped."""
        counts = self._counts()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in counts)
        cells = "".join(f"<td>{count:,}</td>" for count in counts.values())
        return (
            f"<h3>{html.escape(self.title)} <code>{html.escape(self.name)}</code></h3>"
            f"<p>{html.escape(self.question)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
        )


def run_query(connection: duckdb.DuckDBPyConnection, query: str) -> pd.DataFrame:
    """Run one ``SELECT`` and return its rows.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where to run it.
    query : str
        The statement.

    Returns
    -------
    pandas.DataFrame
        Its rows, in the order the query gives them.

    Raises
    ------
    InputError
        If the text is not exactly one ``SELECT`` (or ``EXPLAIN``), or DuckDB refuses it. Nothing
        else is run, so that a question can neither change a file nor load an extension.
    """
    if not isinstance(query, str):
        raise InputError(f"a query is the text of one SELECT; this is {type(query).__name__}")
    reading = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    try:
        kinds = [statement.type for statement in connection.extract_statements(query)]
        if len(kinds) != 1 or kinds[0] not in reading:
            found = ", ".join(kind.name for kind in kinds) or "nothing"
            raise InputError(f"a query is one SELECT; this is {found}")
        return connection.execute(query).df()
    except duckdb.PermissionException:
        raise InputError(
            "the query was refused: it reads the tables and no file; load a file beside it, with "
            "pandas or a DuckDB connection of your own"
        ) from None
    except duckdb.Error as error:
        raise InputError(f"the query was refused: {_without_excerpt(str(error))}") from None


def _without_excerpt(message: str) -> str:
    """Return DuckDB's message on one line, without the copy of the query below it."""
    lines = message.partition("\nLINE ")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.strip())


def open_study(
    study: str, *, root: str | Path | None = None, database: str | Path | None = None
) -> Study:
    """Open one study; this is :func:`steelyard.open`, which documents it."""
    return Study(StudyTables(open_connection(root=root, database=database), study))


def open_connection(
    *, root: str | Path | None = None, database: str | Path | None = None
) -> duckdb.DuckDBPyConnection:
    """Open the tables of all studies, read-only; parameters as for :func:`steelyard.open`."""
    if database is not None:
        return connect(Path(database), read_only=True)
    return open_database(named_root(root))
