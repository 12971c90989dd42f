"""A run becomes evidence that the loader reads back, listed in the manifest."""

from __future__ import annotations

import gzip

import pytest

from steelyard.errors import StoreError, StudyError
from steelyard.harness.export import FILES, export_run
from steelyard.harness.runner import run_study
from steelyard.store import build_database, connect, write_manifest
from steelyard.store.manifest import read_manifest, verify

ARMS = {
    "steady": {"entry": "toy:steady"},
    "hasty": {"entry": "toy:Impatient", "parameters": {"crash_in": "t1"}},
}


@pytest.fixture
def project(toy):
    """A project with one study, not run yet."""
    study = toy(arms=ARMS, variants=2)
    return study, study.folder.parents[1]


def test_the_loader_reads_back_what_was_run(project, tmp_path):
    study, root = project
    database = tmp_path / "run.duckdb"
    run_study(study, database)
    export_run(database, root / "data" / "toy_study", times=True)
    write_manifest(root / "data", "toy_study")
    build_database(root, tmp_path / "built.duckdb")
    run, built = connect(database), connect(tmp_path / "built.duckdb")
    for table in (*FILES, "studies"):
        query = f"SELECT * FROM {table} ORDER BY ALL"
        assert built.execute(query).fetchall() == run.execute(query).fetchall(), table
    run.close()
    built.close()


def test_awkward_texts_survive(project, tmp_path):
    study, root = project
    nasty = 'line\nbreak\r\n"quote", comma\ttab \\N é 😀'

    def awkward(setup):
        setup.message(nasty)
        raise ValueError(nasty)

    study.arms["steady"].__dict__["run"] = awkward
    database = tmp_path / "run.duckdb"
    run_study(study, database)
    export_run(database, root / "data" / "toy_study")
    write_manifest(root / "data")
    build_database(root, tmp_path / "built.duckdb")
    run, built = connect(database), connect(tmp_path / "built.duckdb")
    query = "SELECT trial_id, error FROM trials ORDER BY ALL"
    assert built.execute(query).fetchall() == run.execute(query).fetchall()
    assert nasty in built.execute(query).fetchall()[-1][1]
    query = "SELECT trial_id, output FROM steps ORDER BY ALL"
    assert built.execute(query).fetchall() == run.execute(query).fetchall()
    run.close()
    built.close()


def test_wall_times_only_when_asked_for(project, tmp_path):
    study, _ = project
    for name in ("a", "b"):
        run_study(study, tmp_path / f"{name}.duckdb")
        export_run(tmp_path / f"{name}.duckdb", tmp_path / name)
        export_run(tmp_path / f"{name}.duckdb", tmp_path / f"{name}_times", times=True)
    for file in sorted((tmp_path / "a").iterdir()):
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
    assert (tmp_path / "a_times" / "trials.csv").read_bytes() != (
        tmp_path / "b_times" / "trials.csv"
    ).read_bytes()


def test_a_file_that_is_described_as_packed_is_packed(project, tmp_path):
    study, root = project
    folder = root / "data" / "toy_study"
    run_study(study, tmp_path / "run.duckdb")
    export_run(tmp_path / "run.duckdb", folder)
    plain = (folder / "measures.csv").read_bytes()
    description = folder / "columns.toml"
    description.write_text(description.read_text().replace("measures.csv", "measures.csv.gz"))
    (folder / "measures.csv").unlink()
    export_run(tmp_path / "run.duckdb", folder)
    assert not (folder / "measures.csv").exists()
    assert gzip.decompress((folder / "measures.csv.gz").read_bytes()) == plain
    write_manifest(root / "data", "toy_study")
    build_database(root, tmp_path / "built.duckdb")  # and the loader reads it


def test_a_description_that_was_added_to_is_kept(project, tmp_path):
    study, _ = project
    run_study(study, tmp_path / "run.duckdb")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "columns.toml").write_text("# ours\n")
    export_run(tmp_path / "run.duckdb", tmp_path / "data")
    assert (tmp_path / "data" / "columns.toml").read_text() == "# ours\n"


def test_a_run_in_progress_is_not_exported(project, tmp_path):
    with pytest.raises(StoreError, match="there is no such database"):
        export_run(tmp_path / "none.duckdb", tmp_path)


def test_only_the_runs_own_files_are_listed_anew(project, tmp_path):
    study, root = project
    other = root / "data" / "other" / "x.csv"
    other.parent.mkdir()
    other.write_text("a\n1\n")
    write_manifest(root / "data")
    other.write_text("a\n2\n")
    run_study(study, tmp_path / "run.duckdb")
    export_run(tmp_path / "run.duckdb", root / "data" / "toy_study")
    write_manifest(root / "data", "toy_study")
    assert len(read_manifest(root / "data").files) == len(FILES) + 1
    verify(root / "data", ["toy_study"])
    with pytest.raises(Exception, match=r"other/x\.csv: changed"):
        verify(root / "data")


def test_a_study_without_evidence_is_left_out_of_the_build(project, tmp_path):
    _, root = project
    assert build_database(root, tmp_path / "built.duckdb").rows == {}
    with pytest.raises(StudyError, match="steelyard run experiments/toy_study --export"):
        build_database(root, tmp_path / "other.duckdb", ["toy_study"])
