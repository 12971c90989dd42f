"""A changed, absent or unlisted evidence file is refused by name and digest."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys

import pytest

from made_up import SMALL_TRIALS
from steelyard.errors import DataError, ManifestError, StudyError
from steelyard.store.__main__ import main
from steelyard.store.build import build_database
from steelyard.store.manifest import read_manifest, verify, write_manifest


def digest(content):
    return hashlib.sha256(content).hexdigest()


def test_the_committed_evidence_is_what_the_manifest_says(root):
    manifest = verify(root / "data")
    assert manifest.files["plumbline/published.csv"].rows == 1238
    assert manifest.files["autogpt_benchmarks/trials.csv.gz"].rows == 25869


def test_writing_the_committed_manifest_again_changes_nothing(root, tmp_path):
    data = tmp_path / "data"
    for name in read_manifest(root / "data").files:
        target = data / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((root / "data" / name).read_bytes())
    write_manifest(data)
    written = (data / "manifest.toml").read_bytes()
    assert written == (root / "data" / "manifest.toml").read_bytes()


def test_a_changed_file_is_refused_with_both_digests(small_project):
    project = small_project()
    changed = SMALL_TRIALS.replace("0,0,1", "0,0,0", 1)
    small_project(trials=changed, manifest=False)
    with pytest.raises(ManifestError) as caught:
        build_database(project)
    message = str(caught.value)
    assert message.startswith("data/made_up/trials.csv: changed: expected SHA-256 ")
    assert digest(SMALL_TRIALS.encode()) in message
    assert digest(changed.encode()) in message
    assert not (project / "build").exists()


def test_crlf_line_ends_are_recognised(small_project):
    project = small_project()
    small_project(trials=SMALL_TRIALS.replace("\n", "\r\n"), manifest=False)
    with pytest.raises(ManifestError, match="only the line ends differ"):
        verify(project / "data")


def test_unlisted_absent_and_replaced_files_are_named_together(small_project):
    project = small_project(files={"extra.csv": "a\n1\n", "more.csv.gz": gzip.compress(b"a\n")})
    source = project / "data" / "made_up"
    (source / "extra.csv").unlink()
    (source / "new.csv").write_text("a\n1\n")
    (source / "trials.csv").unlink()
    (source / "trials.csv").mkdir()
    (source / "notes.md").write_text("documents are not listed")
    with pytest.raises(ManifestError) as caught:
        verify(project / "data")
    assert [line.split(";")[0] for line in str(caught.value).splitlines()] == [
        "data/made_up/extra.csv: listed in the manifest, but absent",
        "data/made_up/new.csv: not in the manifest",
        "data/made_up/trials.csv: a directory stands where a file is expected",
    ]
    assert verify(project / "data", ["another_source"]).files


def test_no_manifest_or_a_broken_one(small_project):
    project = small_project()
    manifest = project / "data" / "manifest.toml"
    manifest.write_text('[files."made_up/trials.csv"]\nbytes = 1\nrows = 1\nsha256 = "abc"\n')
    with pytest.raises(StudyError, match=r"data/manifest\.toml:4: files\.made_up/trials\.csv\.sha"):
        verify(project / "data")
    manifest.unlink()
    with pytest.raises(ManifestError, match=r"data/manifest\.toml is absent"):
        verify(project / "data")


def test_the_command_writes_the_manifest(small_project, capsys, monkeypatch):
    project = small_project(trials=SMALL_TRIALS + "b,t1,fault,0,1,1\n")
    (project / "data" / "manifest.toml").unlink()
    assert main([str(project)]) == 0
    assert capsys.readouterr().out == "data/manifest.toml: 1 files\n"
    assert verify(project / "data").files["made_up/trials.csv"].rows == 4
    monkeypatch.chdir(project)
    assert main([]) == 0
    (project / "data" / "made_up" / "trials.csv").write_text("a,b\n1\n")
    assert main([]) == 2
    assert "trials.csv:2: 1 fields" in capsys.readouterr().err
    with pytest.raises(DataError):
        write_manifest(project / "data")


def test_the_module_runs(small_project):
    command = [sys.executable, "-m", "steelyard.store", str(small_project())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "data/manifest.toml: 1 files\n"
    assert done.stderr == ""
