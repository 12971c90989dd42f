"""Recordings: durable, checked line by line, shared between processes, merged to the same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading

import pytest

from steelyard.errors import StoreError
from steelyard.harness.models import merging
from steelyard.harness.models.keys import recording_key
from steelyard.harness.models.recordings import Recordings

ANSWER = {"trial": "a/t/b/0/0", "turn": 0, "response": {"text": "é😀" * 40, "tool_calls": []}}


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def answer(number: int) -> dict:
    return {**ANSWER, "turn": number}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "study" / "recordings"


def recorded(folder, numbers) -> Recordings:
    recordings = Recordings(folder)
    for number in numbers:
        recordings.record(key(number), answer(number))
    return recordings


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*"))


def test_what_was_recorded_is_found_by_every_reader(folder):
    assert len(Recordings(folder)) == 0
    assert not folder.exists()
    one = recorded(folder, [1, 2])
    two = Recordings(folder)
    assert two.find(key(2)) == one.find(key(2)) == answer(2)
    one.record(key(3), answer(3))
    assert two.find(key(3)) is None
    two.refresh()
    assert two.find(key(3)) == answer(3)


def test_merged_bytes_depend_on_the_recordings_alone(folder, tmp_path):
    one, two = recorded(folder, [5, 3]), recorded(folder, [4, 1])
    one.record(key(2), answer(2))
    one.close()
    assert len(names(folder)) == 2  # the other is still in use
    two.close()
    assert names(folder) == ["responses.txt"]
    other = tmp_path / "other"
    recorded(other, [2, 1]).close()
    recorded(other, [1, 3, 4, 5]).close()
    assert (other / "responses.txt").read_bytes() == (folder / "responses.txt").read_bytes()
    assert Recordings(folder).keys() == sorted(map(key, range(1, 6)))


def test_a_reader_finds_what_was_merged_under_its_hands(folder):
    one, two = recorded(folder, [1, 2]), recorded(folder, [3])
    reader = Recordings(folder)
    one.close()
    two.close()
    assert [reader.find(key(number)) for number in (1, 2, 3)] == [answer(n) for n in (1, 2, 3)]
    late = recorded(folder, range(10, 30))
    late.close()
    assert reader.find(key(2)) == answer(2)
    reader.refresh()
    assert reader.find(key(17)) == answer(17)
    assert len(reader) == 23


def test_a_process_that_recorded_nothing_leaves_nothing(folder):
    recordings = Recordings(folder)
    recordings.prepare()
    assert len(names(folder)) == 1
    recordings.close()
    recordings.close()
    assert names(folder) == []


@pytest.mark.parametrize("merged", [False, True])
def test_a_damaged_recording_is_named_and_the_others_stay_usable(folder, merged):
    recordings = recorded(folder, [1, 2, 3])
    if merged:
        recordings.close()
    (path,) = folder.glob("[!.]*.txt")
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:100] + bytes([lines[2][100] ^ 1]) + lines[2][101:]
    path.write_bytes(b"\n".join(lines))
    hurt = lines[2][9:73].decode()
    again = Recordings(folder)
    assert [str(damage) for damage in again.damages] == [
        f"{path.name}:3: the recording {hurt[:16]} does not agree with its checksum"
    ]
    assert again.find(hurt) is None
    kept = [number for number in (1, 2, 3) if key(number) != hurt]
    assert [again.find(key(number)) for number in kept] == [answer(number) for number in kept]
    more = recorded(folder, [9])
    more.close()  # nothing is dropped by merging
    assert Recordings(folder).damages == again.damages
    assert {key(n) for n in [*kept, 9]} == set(Recordings(folder).keys())


def test_a_recording_that_its_writer_could_not_finish_is_named_then_dropped(folder):
    recordings = recorded(folder, [1, 2])
    (path,) = folder.glob("part-*")
    whole = path.read_bytes()
    recordings._part = None  # as if its process were gone, with its file still open
    for cut in (len(whole) - 1, len(whole) - 30, len(whole) - len(whole.splitlines()[-1])):
        path.write_bytes(whole[:cut])
        again = Recordings(folder)
        assert again.keys() == [key(1)]
        assert [damage.cut for damage in again.damages] == [True]
        assert f"{path.name}:3: " in str(again.damages[0])
    cut_again = Recordings(folder)
    path.write_bytes(whole)
    cut_again.refresh()  # it was being written, not cut
    assert cut_again.damages == []
    assert len(cut_again) == 2


def test_a_file_that_was_just_begun_is_empty(folder):
    folder.mkdir(parents=True)
    for content in (b"", b"3f"):
        (folder / "part-0.txt").write_bytes(content)
        assert len(Recordings(folder)) == 0
        assert Recordings(folder).damages == []


@pytest.mark.parametrize("content", [b"hello\n", b"\x00\xff\n\n", b"version https://git-lfs\n"])
def test_another_file_in_its_place_is_refused_by_name(folder, content):
    folder.mkdir(parents=True)
    (folder / "responses.txt").write_bytes(content)
    with pytest.raises(StoreError, match=r"responses.txt: the first line"):
        Recordings(folder)


def test_a_folder_in_its_place_and_a_folder_that_refuses_are_errors(folder, tmp_path):
    (folder / "responses.txt").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"responses.txt: cannot be read"):
        Recordings(folder)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        Recordings(tmp_path / "file").prepare()


def test_a_full_disk_records_nothing_by_halves(folder, monkeypatch):
    recordings = recorded(folder, [1])
    (path,) = folder.glob("part-*")
    before, write = path.read_bytes(), os.write

    def half(descriptor, data):
        if len(data) > 60:
            return write(descriptor, data[:60])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(StoreError, match="No space left"):
            recordings.record(key(2), answer(2))
    assert path.read_bytes() == before
    recordings.record(key(2), answer(2))
    assert Recordings(folder).keys() == sorted([key(1), key(2)])


def test_a_merge_that_fails_leaves_everything(folder, monkeypatch):
    recordings = recorded(folder, [1])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(merging.os, "fsync", full)
    with pytest.raises(StoreError, match="cannot be merged: No space left"):
        recordings.close()
    assert Recordings(folder).keys() == [key(1)]
    assert [path.name[:5] for path in folder.iterdir()] == ["part-"]


def test_one_key_is_claimed_by_one_thread_and_one_process_at_a_time(folder):
    recordings = recorded(folder, [0])
    code = """
import sys, time
from pathlib import Path
from steelyard.harness.models.recordings import Recordings
recordings = Recordings(Path(sys.argv[1]))
with recordings.claim(sys.argv[2]):
    print("claimed", flush=True)
    sys.stdin.readline()
    recordings.record(sys.argv[2], {"from": "the other process"})
"""
    command = [sys.executable, "-c", code, folder, key(1)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "claimed\n"
        found = []

        def claim() -> None:
            with recordings.claim(key(1)):
                found.append(recordings.find(key(1)))

        threads = [threading.Thread(target=claim) for _ in range(2)]
        for thread in threads:
            thread.start()
        with recordings.claim(key(2)):  # another key is free
            assert found == []
        other.stdin.write("\n")
        other.stdin.flush()
        for thread in threads:
            thread.join()
        assert found == [{"from": "the other process"}] * 2


def test_the_key_holds_trial_turn_and_everything_that_decides_about_the_answer():
    content = {"model": "m", "messages": [{"role": "user", "content": "é"}], "temperature": None}
    keys = {
        recording_key("a/t/b/0/0", 0, content),
        recording_key("a/t/b/0/1", 0, content),
        recording_key("a/t/b/0/0", 1, content),
        recording_key("a/t/b/0/0", 0, {**content, "model": "n"}),
        recording_key("a/t/b/0/0", 0, {**content, "temperature": 0.0}),
        recording_key("a/t/b/0/0", 0, {**content, "options": {"seed": 1}}),
    }
    assert len(keys) == 6
    reordered = dict(reversed(content.items()))
    assert recording_key("a/t/b/0/0", 0, reordered) in keys
