"""Snapshots of a disposable root."""

from __future__ import annotations

import os

import pytest

from deep_folders import nest
from steelyard.evaluators.handoff.snapshot import (
    changed_paths,
    classify_export_writes,
    root_changes,
    shown_path,
    take_snapshot,
)


def test_folders_count_unless_the_published_way_is_asked_for(tmp_path):
    before = take_snapshot(tmp_path)
    published = take_snapshot(tmp_path, directories=False)
    (tmp_path / "empty").mkdir()
    assert changed_paths(before, take_snapshot(tmp_path)) == ["empty/"]
    assert changed_paths(published, take_snapshot(tmp_path, directories=False)) == []
    before = take_snapshot(tmp_path)
    (tmp_path / "empty").chmod(0o700)
    assert changed_paths(before, take_snapshot(tmp_path)) == ["empty/"]


def test_a_link_is_an_entry_and_is_not_followed(tmp_path):
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "out").symlink_to("/")
    assert sorted(take_snapshot(tmp_path)) == ["loop", "out"]
    before = take_snapshot(tmp_path)
    (tmp_path / "out").unlink()
    (tmp_path / "out").symlink_to("/bin")
    assert changed_paths(before, take_snapshot(tmp_path)) == ["out"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_an_entry(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0)
    assert take_snapshot(tmp_path)["secret"][-1] == "unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root enters everything")
def test_what_can_be_listed_but_not_entered_is_an_entry(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("x")
    (tmp_path / "a").chmod(0o444)
    assert take_snapshot(tmp_path)["a/x"] == ("unreadable",)
    (tmp_path / "a").chmod(0o755)


def test_only_what_can_be_the_same_is_read_again(tmp_path):
    for name in ("same", "edited", "longer"):
        (tmp_path / name).write_text(name)
    before = take_snapshot(tmp_path)
    (tmp_path / "edited").write_text("EDITED")
    (tmp_path / "longer").write_text("much longer")
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(1 << 42)  # nobody could read it
    after = take_snapshot(tmp_path, since=before)
    assert changed_paths(before, after) == ["edited", "huge", "longer"]
    assert {name for name, found in after.items() if found[-1] == "not read"} == {"huge", "longer"}


def test_a_folder_that_is_gone_or_a_link_by_now_holds_nothing(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "x").write_text("x")
    before = take_snapshot(tmp_path / "root")
    (tmp_path / "root").rename(tmp_path / "moved")
    assert changed_paths(before, take_snapshot(tmp_path / "root")) == ["x"]
    (tmp_path / "root").symlink_to("moved")
    assert changed_paths(before, take_snapshot(tmp_path / "root")) == ["x"]


def test_a_path_longer_than_a_path_can_be_is_cut(tmp_path):
    nest(tmp_path)
    assert 10 < len(take_snapshot(tmp_path)) < 30


def test_names_that_are_not_text_and_pipes_are_entries(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"odd\xff")).write_text("x")
    snapshot = take_snapshot(tmp_path)
    assert len(snapshot) == 2
    assert all(shown_path(name).isascii() for name in snapshot)


def test_content_of_equal_size_and_time_is_seen(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    os.utime(path, (1, 1))
    before = take_snapshot(tmp_path)
    path.write_text("two")
    os.utime(path, (1, 1))
    assert changed_paths(before, take_snapshot(tmp_path)) == ["a"]


def test_scratch_is_free_but_the_folder_itself_counts(tmp_path):
    scratch = tmp_path / "guard/sandbox/runtime-home/tmp"
    scratch.mkdir(parents=True)
    (tmp_path / "guard/sandbox/workspace").mkdir()
    before = take_snapshot(tmp_path)
    (scratch / "lock").write_text("x")
    (scratch / "deeper").mkdir()
    assert root_changes(before, take_snapshot(tmp_path)).paths == []
    scratch.chmod(0o700)
    changes = root_changes(before, take_snapshot(tmp_path))
    assert changes.paths == ["../runtime-home/tmp/"]
    assert changes.boundary_escape
    assert not changes.git_write


def test_a_write_is_allowed_below_the_bundle_only():
    paths = ["repo/.waybill/", "repo/.waybillx", "repo/.waybill/../x", "report/x", "repo"]
    allowed, unexpected = classify_export_writes(paths)
    assert allowed == [".waybill/"]
    assert unexpected == [
        ".waybill/../x",
        ".waybillx",
        "outside-repository/repo",
        "outside-repository/report/x",
    ]


@pytest.mark.parametrize("name", ["\x1b[2J", "a b", "x" * 241, "\u202e", "a\n"])
def test_no_name_reaches_a_report_raw(name):
    assert shown_path(name).startswith("redacted-path-sha256:")
