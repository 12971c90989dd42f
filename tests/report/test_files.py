import pytest

from steelyard.errors import StoreError
from steelyard.report.files import write_files


def test_writes_what_differs_and_removes_what_is_stale(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "old.csv").write_bytes(b"old")
    (tmp_path / "notes.txt").write_bytes(b"mine")
    files = {"report.md": b"# A\n", "tables/a.csv": b"x\n"}
    assert write_files(tmp_path, files, ("report.md", "tables/*")) == [
        "report.md",
        "tables/a.csv",
        "tables/old.csv",
    ]
    assert not (tmp_path / "tables" / "old.csv").exists()
    assert (tmp_path / "notes.txt").read_bytes() == b"mine"
    before = (tmp_path / "report.md").stat().st_mtime_ns
    assert write_files(tmp_path, files, ("report.md", "tables/*")) == []
    assert (tmp_path / "report.md").stat().st_mtime_ns == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt", "report.md", "tables"]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "report.md").mkdir()
    with pytest.raises(StoreError, match=r"cannot write report\.md: a folder stands"):
        write_files(tmp_path, {"report.md": b"x"})


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "tables").write_bytes(b"")
    with pytest.raises(StoreError, match=r"cannot write a\.csv"):
        write_files(tmp_path, {"tables/a.csv": b"x"})


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(StoreError, match="No space left"):
        write_files(tmp_path, {"a.md": b"new"})
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]
    assert (tmp_path / "a.md").read_bytes() == b"old"
