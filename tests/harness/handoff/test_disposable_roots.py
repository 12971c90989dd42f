"""Disposable roots are gone afterwards, whatever a hostile program has made of them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from deep_folders import nest
from steelyard.evaluators.handoff.snapshot import take_snapshot
from steelyard.harness.handoff.disposable_roots import RemovalError, disposable_root

NOBODY = 65534
IS_ROOT = os.geteuid() == 0


@pytest.fixture(params=["as ourselves", "without privileges"])
def place(request, monkeypatch):
    """Give a folder for temporary ones, where only the rights count that the modes give."""
    folder = Path(tempfile.mkdtemp(prefix="steelyard-test-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
    is_lowered = IS_ROOT and request.param == "without privileges"
    if not IS_ROOT and request.param == "without privileges":
        folder.rmdir()
        pytest.skip("these are our privileges anyway")
    if is_lowered:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        (folder / "temporary").mkdir()
        yield folder
    finally:
        if is_lowered:
            os.seteuid(0)
        shutil.rmtree(folder)


def lock(root):
    (root / "a" / "b" / "c").mkdir(parents=True)
    (root / "a" / "b" / "c" / "file").write_text("x")
    for name in ("a/b/c", "a/b", "a", "."):
        (root / name).chmod(0)


def list_but_not_enter(root):
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "file").write_text("x")
    (root / "a").chmod(0o444)


def odd_entries(root):
    (root / ("n" * 255)).mkdir()
    (root / os.fsdecode(b"\xff\xfe")).write_text("x")
    (root / "\x1b[31m\n").write_text("x")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    (root / "folder").mkdir()
    (root / "folder" / "slash").symlink_to("/")
    os.mkfifo(root / "folder" / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(root / "s"))
    with (root / "huge").open("wb") as stream:
        stream.truncate(1 << 40)


def move_away(root):
    (root / "file").write_text("x")
    root.rename(root.with_name("elsewhere"))


def put_a_link_in_its_place(root):
    move_away(root)
    root.symlink_to(root.parents[1] / "outside")


def put_a_folder_in_its_place(root):
    move_away(root)
    (root / "a" / "b").mkdir(parents=True)
    root.with_name("elsewhere").rename(root / "a" / "inner")
    root.chmod(0)


def rename_what_it_lies_in(root):
    move_away(root)
    root.parent.rename(root.parents[1] / "renamed")


HOSTILE = {
    "deep": lambda root: nest(root, 300, "d"),
    "deep with long names": nest,
    "locked": lock,
    "can be listed": list_but_not_enter,
    "odd": odd_entries,
    "moved": move_away,
    "link": put_a_link_in_its_place,
    "folder": put_a_folder_in_its_place,
    "parent": rename_what_it_lies_in,
}


@pytest.mark.parametrize("made", HOSTILE)
def test_nothing_is_left_and_nothing_else_is_touched(place, made, monkeypatch):
    outside = place / "outside"
    outside.mkdir(mode=0o750)
    (outside / "file").write_text("kept")
    (outside / "file").chmod(0o640)
    monkeypatch.chdir(place)
    with disposable_root() as root:
        os.link(outside / "file", root / "hard link")
        (root / "link").symlink_to(outside)
        before = take_snapshot(root)
        HOSTILE[made](root)
        after = take_snapshot(root, since=before)
        assert after != before
    left = {path.name for path in place.iterdir()}
    assert left <= {"outside", "temporary", "renamed"}
    assert [path for name in left - {"outside"} for path in (place / name).iterdir()] == []
    assert (outside / "file").read_text() == "kept"
    assert (outside.stat().st_mode & 0o777, (outside / "file").stat().st_mode & 0o777) == (
        0o750,
        0o640,
    )


@pytest.mark.parametrize("setting", [None, "relative", "with a space"])
def test_a_root_is_absolute_wherever_temporary_files_go(tmp_path, setting):
    """In another process: where temporary files go is decided once in each."""
    script = (
        "import os\n"
        "from steelyard.harness.handoff.disposable_roots import disposable_root\n"
        "with disposable_root() as root:\n"
        "    print(root)\n"
        "    os.chdir('/')\n"
        "    (root / 'x').mkdir()\n"
    )
    environment = {name: text for name, text in os.environ.items() if name != "TMPDIR"}
    if setting is not None:
        (tmp_path / setting).mkdir()
        environment["TMPDIR"] = setting
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    root = Path(done.stdout.rstrip("\n"))
    assert root.is_absolute()
    assert not root.exists()
    if setting is not None:
        assert root.parent == tmp_path / setting
        assert list(root.parent.iterdir()) == []


def test_what_cannot_be_removed_is_said_and_the_rest_is_gone(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    unlink = os.unlink

    def refuse(path, **options):
        if path == "immutable":
            raise PermissionError(1, "Operation not permitted")
        unlink(path, **options)

    removal = disposable_root()
    root = removal.__enter__()
    (root / "a").mkdir()
    (root / "a" / "immutable").write_text("x")
    (root / "a" / "b").mkdir()
    (root / "c").write_text("x")
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(RemovalError, match="could not be removed: Operation not permitted"):
        removal.__exit__(None, None, None)
    monkeypatch.undo()
    (left,) = tmp_path.rglob("*/*/*")
    assert left.name == "immutable"


@pytest.mark.skipif(not IS_ROOT or shutil.which("mount") is None, reason="only root mounts")
@pytest.mark.parametrize("over", ["folder", "."])
def test_what_is_mounted_there_is_not_emptied(monkeypatch, tmp_path, over):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("kept")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    removal = disposable_root()
    root = removal.__enter__()
    (root / "folder").mkdir()
    mount = ["mount", "--bind", tmp_path / "outside", root / over]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        removal.__exit__(None, None, None)
        pytest.skip("this system lets nobody mount")
    try:
        with pytest.raises(RemovalError, match="busy"):
            removal.__exit__(None, None, None)
        assert (tmp_path / "outside" / "file").read_text() == "kept"
    finally:
        subprocess.run(["umount", root / over], check=True)
