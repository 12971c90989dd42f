"""The store: DuckDB tables of trials, built from committed evidence that is verified first."""

from __future__ import annotations

from steelyard.store.build import BuildReport, build_database, open_database
from steelyard.store.connect import connect, create
from steelyard.store.declaration import Declaration, read_declarations
from steelyard.store.manifest import verify, write_manifest
from steelyard.store.project import find_root, named_root
from steelyard.store.rows import add_rows, add_study
from steelyard.store.tables import StudyTables, study_names

__all__ = [
    "BuildReport",
    "Declaration",
    "StudyTables",
    "add_rows",
    "add_study",
    "build_database",
    "connect",
    "create",
    "find_root",
    "named_root",
    "open_database",
    "read_declarations",
    "study_names",
    "verify",
    "write_manifest",
]
