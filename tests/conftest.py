"""Fixtures that every room's tests share: the real studies, and small made-up ones."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from made_up import SMALL_COLUMNS, SMALL_STUDY, SMALL_TRIALS, list_files
from steelyard.store.build import build_database
from steelyard.store.connect import connect, create
from steelyard.store.declaration import Declaration
from steelyard.store.rows import add_rows, add_study
from steelyard.store.tables import StudyTables

ROOT = Path(__file__).resolve().parents[1]
TRIAL_COLUMNS = {
    "arm",
    "task",
    "perturbation",
    "variant",
    "repeat",
    "status",
    "attempts",
    "perturbation_applied",
    "model",
    "seed",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "wall_ms",
    "error",
}


def pytest_configure() -> None:
    """Have interrupts heard: a shell that runs the tests behind it has all their programs deaf."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout: the folder that holds data/ and experiments/."""
    return ROOT


@pytest.fixture(scope="session")
def database_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of all committed studies, built once per test run."""
    path = tmp_path_factory.mktemp("database") / "steelyard.duckdb"
    build_database(ROOT, path)
    return path


@pytest.fixture(scope="session")
def database(database_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to all committed studies."""
    connection = connect(database_path)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def tables(database: duckdb.DuckDBPyConnection) -> Callable[[str], StudyTables]:
    """``tables("plumbline_retry")``: a committed study."""
    opened: dict[str, StudyTables] = {}

    def of(study: str) -> StudyTables:
        if study not in opened:
            opened[study] = StudyTables(database, study)
        return opened[study]

    return of


SmallStudy = Callable[..., StudyTables]


@pytest.fixture
def small_study() -> Iterator[SmallStudy]:
    """Build a study in memory from trials as dictionaries.

    ``small_study(trials, study="small", **sections)``. A trial holds ``arm`` and ``task`` (by
    default ``"a"`` and ``"t"``), any other column of the table ``trials`` (perturbation
    ``"baseline"``, variant ``"0"``, repeat counted up within its cell, status ``"completed"``),
    and optionally ``steps`` (list of dictionaries; step_index counted up, kind ``"tool_call"``),
    ``state`` (dictionary), ``violations`` (list of dictionaries), ``covariates`` (dictionary).
    Every other key is a measure: a number, or None for "not measured". ``claims`` and
    ``divergences`` are lists of rows. Sections of the declaration (``design``, ``measures``,
    ``missing``, ``scope``, ``comparisons``, ``rules``) replace the ones made from the trials;
    ``info`` is the section ``[study]``.
    With ``beside=tables`` the study goes into the database of another small study.
    """
    made: list[duckdb.DuckDBPyConnection] = []

    def build(
        trials: Sequence[Mapping[str, Any]],
        study: str = "small",
        *,
        claims: Sequence[Mapping[str, Any]] = (),
        divergences: Sequence[Mapping[str, Any]] = (),
        beside: StudyTables | None = None,
        **sections: Any,
    ) -> StudyTables:
        connection = create() if beside is None else beside.connection
        made.append(connection)
        rows = _rows(trials, study)
        add_study(connection, _declaration(study, rows, sections))
        for table, content in rows.items():
            add_rows(connection, table, content)
        add_rows(connection, "claims", [{"study": study, **CLAIM, **claim} for claim in claims])
        add_rows(connection, "divergences", [{"study": study, **row} for row in divergences])
        return StudyTables(connection, study)

    yield build
    for connection in made:
        connection.close()


CLAIM = {"arm": "all", "scope": "overall", "metric": "rate", "source": "made up"}


def _rows(trials: Sequence[Mapping[str, Any]], study: str) -> dict[str, list[dict[str, Any]]]:
    names = ("trials", "measures", "steps", "states", "violations", "covariates")
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    counted: dict[tuple[Any, ...], int] = {}
    for given in trials:
        trial = {"arm": "a", "task": "t", "perturbation": "baseline", "variant": "0"} | {
            name: value for name, value in given.items() if name in TRIAL_COLUMNS
        }
        cell = tuple(trial[name] for name in ("arm", "task", "perturbation", "variant"))
        trial.setdefault("repeat", counted.get(cell, 0))
        counted[cell] = counted.get(cell, 0) + 1
        trial.setdefault("status", "completed")
        parts = [str(part).replace("%", "%25").replace("/", "%2F") for part in cell]
        key = {"study": study, "trial_id": "/".join([*parts, str(trial["repeat"])])}
        rows["trials"].append({**key, **trial})
        for index, step in enumerate(given.get("steps", ())):
            rows["steps"].append({**key, "step_index": index, "kind": "tool_call", **step})
        if given.get("state") is not None:
            rows["states"].append({**key, "state": given["state"]})
        rows["violations"] += [
            {**key, "severity": "high", **v} for v in given.get("violations", ())
        ]
        rows["covariates"] += [
            {**key, "name": name, "value": value}
            for name, value in given.get("covariates", {}).items()
        ]
        other = TRIAL_COLUMNS | {"steps", "state", "violations", "covariates"}
        rows["measures"] += [
            {**key, "measure": name, "value": value}
            for name, value in given.items()
            if name not in other
        ]
    return rows


def _declaration(
    study: str, rows: Mapping[str, Sequence[Mapping[str, Any]]], sections: Mapping[str, Any]
) -> Declaration:
    trials = rows["trials"]
    measures = list(dict.fromkeys(row["measure"] for row in rows["measures"])) or ["success"]
    perturbations = dict.fromkeys(str(row["perturbation"]) for row in trials)
    content: dict[str, Any] = {
        "study": {
            "id": study,
            "title": "A small study",
            "question": "Does it work?",
            "origin": "run",
            "source": "made up for a test",
            "licence": "MIT",
        },
        "data": {"source": "made_up"},
        "design": {
            "arms": list(dict.fromkeys(str(row["arm"]) for row in trials)) or ["a"],
            "perturbations": sorted(perturbations, key=lambda name: name != "baseline")
            or ["baseline"],
        },
        "measures": {"primary": measures[0], "others": measures[1:]},
    }
    for given, section in sections.items():
        name = "study" if given == "info" else given
        is_table = isinstance(section, Mapping) and name not in ("rules", "scope")
        content[name] = {**content.get(name, {}), **section} if is_table else section
    return Declaration.of(**content)


@pytest.fixture
def small_project(tmp_path: Path) -> Callable[..., Path]:
    """Write a project of one source and one study to disk; returns its root.

    ``small_project(trials=..., columns=..., study=..., files={...}, manifest=True)``. Texts are
    written as they are; ``files`` are further files of the source, by name, text or bytes. With
    ``manifest=False`` the manifest is left as an earlier call wrote it.
    """

    def write(
        trials: str | bytes = SMALL_TRIALS,
        columns: str = SMALL_COLUMNS,
        study: str = SMALL_STUDY,
        files: Mapping[str, str | bytes] | None = None,
        *,
        manifest: bool = True,
    ) -> Path:
        project = tmp_path / "project"
        source, experiment = project / "data" / "made_up", project / "experiments" / "small"
        for folder in (source, experiment):
            folder.mkdir(parents=True, exist_ok=True)
        contents = {"trials.csv": trials, "columns.toml": columns, **(files or {})}
        for name, content in contents.items():
            raw = content.encode() if isinstance(content, str) else content
            (source / name).write_bytes(raw)
        (experiment / "study.toml").write_text(study, encoding="utf-8", newline="\n")
        if manifest:
            list_files(project / "data")
        return project

    return write
