"""To Parquet and back without a change; damaged files are refused."""

from __future__ import annotations

import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from steelyard.errors import DataError, StoreError
from steelyard.store.connect import connect
from steelyard.store.export import read_parquet, write_parquet
from steelyard.store.schema import TABLES
from steelyard.store.tables import StudyTables


@pytest.fixture
def exported(small_study, tmp_path):
    tables = small_study(
        [
            {"success": 1, "steps": [{"name": "x", "arguments": {}}, {"name": "y"}]},
            {"success": None, "status": "missing"},
            {"success": math.nan, "state": {"paid": True}},
        ]
    )
    write_parquet(tables.connection, tmp_path / "out")
    return tables


def test_every_table_survives(exported, tmp_path):
    path = tmp_path / "again.duckdb"
    read_parquet(tmp_path / "out", path, "digest").close()
    with connect(path) as connection:
        again = StudyTables(connection, "small")
        for table in TABLES:
            pd.testing.assert_frame_equal(exported.frame(table), again.frame(table))
        counts = connection.execute("SELECT count(*), count(value) FROM measures").fetchall()
        assert counts == [(3, 2)]  # NULL and NaN are still two things


def test_equal_data_gives_equal_files(exported, tmp_path):
    write_parquet(exported.connection, tmp_path / "second")
    for table in TABLES:
        first = (tmp_path / "out" / f"{table}.parquet").read_bytes()
        assert first == (tmp_path / "second" / f"{table}.parquet").read_bytes()


def test_the_committed_studies_survive(database, tmp_path):
    write_parquet(database, tmp_path)
    with read_parquet(tmp_path) as again:
        for table in TABLES:
            query = f"SELECT count(*), sum(hash({table})::HUGEINT) FROM {table}"
            assert again.sql(query).fetchall() == database.sql(query).fetchall()


def test_damaged_foreign_and_absent_files_are_refused(exported, tmp_path):
    file = tmp_path / "out" / "trials.parquet"
    whole = pq.read_table(file)

    def refused(said):
        target = tmp_path / "broken.duckdb"
        with pytest.raises(DataError, match=said):
            read_parquet(tmp_path / "out", target)
        assert not target.exists()

    renamed = whole.rename_columns(["x", *whole.schema.names[1:]])
    pq.write_table(renamed.replace_schema_metadata(whole.schema.metadata), file)
    refused(r"trials\.parquet: columns \['x', 'trial_id'")
    pq.write_table(whole.replace_schema_metadata({}), file)
    refused(r"trials\.parquet: schema version none; this steelyard reads version 1")
    pq.write_table(pa.concat_tables([whole, whole]), file)
    refused(r"trials\.parquet: the table cannot take its rows: .*[Dd]uplicate key")
    file.write_bytes(file.read_bytes()[:-40])
    refused(r"trials\.parquet: not a readable Parquet file")
    file.unlink()
    refused(r"trials\.parquet: there is no such file")


def test_a_folder_that_cannot_be_written(exported, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file: cannot be written: File exists"):
        write_parquet(exported.connection, tmp_path / "file")
