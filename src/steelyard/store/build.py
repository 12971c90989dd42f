"""Building the database from the committed evidence, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from steelyard.errors import StoreError, StudyError
from steelyard.store.connect import connect, create, digest_of
from steelyard.store.declaration import Declaration, choose, read_declarations
from steelyard.store.load import load_study
from steelyard.store.manifest import MANIFEST, verify
from steelyard.store.schema import SCHEMA_VERSION
from steelyard.store.source import Source

DATABASE = Path("build") / "steelyard.duckdb"
"""Where the database stands, below the project's root. It can be deleted at any time."""


@dataclass(frozen=True)
class BuildReport:
    """What a build wrote.

    Attributes
    ----------
    path : pathlib.Path
        The database file.
    data_digest : str
        SHA-256 over everything the content depends on.
    rows : dict of str to dict of str to int
        Study, table, number of rows.
    """

    path: Path
    data_digest: str
    rows: dict[str, dict[str, int]] = field(default_factory=dict)


def build_database(
    root: str | Path, path: str | Path | None = None, studies: Iterable[str] | None = None
) -> BuildReport:
    """Verify the evidence and load it into a new database file.

    The database is written beside its destination and renamed when it is complete, so that an
    earlier one stays usable until then, a failure changes nothing, and two builds at once each
    leave a whole file.

    Parameters
    ----------
    root : str or pathlib.Path
        The project's root; see `find_root`.
    path : str or pathlib.Path, optional
        The file to write; ``build/steelyard.duckdb`` below the root when absent.
    studies : iterable of str, optional
        Which studies; all that have evidence when absent (a study that the harness runs has none
        before it is exported).

    Returns
    -------
    BuildReport

    Raises
    ------
    ManifestError
        If the evidence is not what the manifest says.
    DataError, StudyError
        If a file or a declaration cannot be read as declared.
    UnknownNameError
        If a study is not declared.
    StoreError
        If the file cannot be written.
    """
    root = Path(root)
    target = Path(path) if path is not None else root / DATABASE
    declarations = read_declarations(root)
    loadable = {name: d for name, d in declarations.items() if not _not_exported(root, d)}
    chosen = [_loadable(root, choose(declarations, name)) for name in studies or loadable]
    verify(root / "data", sorted({declaration.data.source for declaration in chosen}))
    digest = data_digest(root)
    unfinished = _beside(target)
    try:
        rows = _fill(unfinished, root, chosen, declarations, digest)
        # A writer that was killed leaves a log which belongs to the file we replace, not to ours.
        target.with_name(target.name + ".wal").unlink(missing_ok=True)
        unfinished.replace(target)
    except duckdb.Error as error:
        raise StoreError(f"{target.name}: cannot be written: {error}") from None
    except OSError as error:
        raise StoreError(f"{target.name}: cannot be replaced: {error.strerror}") from None
    finally:
        for leftover in (unfinished, unfinished.with_name(unfinished.name + ".wal")):
            with suppress(OSError):
                leftover.unlink()
    return BuildReport(target, digest, rows)


def open_database(root: str | Path, *, rebuild: bool = False) -> duckdb.DuckDBPyConnection:
    """Open the project's database read-only, building it first where it is absent or outdated.

    Parameters
    ----------
    root : str or pathlib.Path
        The project's root.
    rebuild : bool, default False
        Build it even if it is up to date.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The evidence has been compared with the manifest, and the database was built from it.

    Raises
    ------
    SteelyardError
        As `build_database` and `connect`.
    """
    root = Path(root)
    verify(root / "data")
    digest = data_digest(root)
    target = root / DATABASE
    if not rebuild:
        connection = _open_if_current(target, digest)
        if connection is not None:
            return connection
    build_database(root, target)
    connection = connect(target)
    if digest_of(connection) != digest:
        # DuckDB gives one process one instance per path: it still holds the file we replaced.
        connection.close()
        raise StoreError(
            f"{target.name}: this process still has an earlier database open under that name; "
            "close its connections and open it again"
        )
    return connection


def data_digest(root: Path) -> str:
    """Return a SHA-256 over all that a database's content depends on.

    Parameters
    ----------
    root : pathlib.Path
        The project's root.

    Returns
    -------
    str
        64 hexadecimal digits over the schema version, the manifest (and through it the
        evidence), every ``columns.toml`` and ``study.toml``, and the source of this room, so
        that a database made by another loader counts as outdated.
    """
    files = [
        root / "data" / MANIFEST,
        *sorted((root / "data").glob("*/columns.toml")),
        *sorted((root / "experiments").glob("*/study.toml")),
        *sorted(Path(__file__).parent.glob("*.py")),
    ]
    digest = hashlib.sha256(str(SCHEMA_VERSION).encode())
    for file in files:
        name = f"{file.parent.name}/{file.name}"
        content = hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        digest.update(f"\n{name} {content}".encode())
    return digest.hexdigest()


def _not_exported(root: Path, declaration: Declaration) -> bool:
    """Tell whether a study that the harness runs has no evidence below ``data/`` so far."""
    return declaration.run is not None and not (root / "data" / declaration.data.source).is_dir()


def _loadable(root: Path, declaration: Declaration) -> Declaration:
    if _not_exported(root, declaration):
        raise StudyError(
            f"study {declaration.id}: data/{declaration.data.source} does not exist; "
            f"`steelyard run experiments/{declaration.id} --export` makes it"
        )
    return declaration


def _open_if_current(target: Path, digest: str) -> duckdb.DuckDBPyConnection | None:
    if not target.is_file():
        return None
    try:
        connection = connect(target)
    except StoreError as error:
        if "schema version" in str(error):
            return None
        raise
    if digest_of(connection) == digest:
        return connection
    connection.close()
    return None


def _beside(target: Path) -> Path:
    """Return a name in the same folder that no other build uses."""
    if target.is_dir():
        raise StoreError(f"{target.name}: a directory stands where a database file is expected")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{target.parent.name}: cannot be created: {error.strerror}") from None
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}")


def _fill(
    path: Path,
    root: Path,
    chosen: list[Declaration],
    declarations: dict[str, Declaration],
    digest: str,
) -> dict[str, dict[str, int]]:
    connection = create(path, digest)
    try:
        sources: dict[str, Source] = {}
        rows = {}
        for declaration in chosen:
            name = declaration.data.source
            if name not in sources:
                sources[name] = Source(root / "data" / name)
                sources[name].check_owners(
                    other.data.study for other in declarations.values() if other.data.source == name
                )
            rows[declaration.id] = load_study(connection, sources[name], declaration)
    finally:
        connection.close()
    return rows
