"""The spend journal: what several runs together may spend, whatever becomes of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from steelyard.errors import InputError, StoreError
from steelyard.harness.models.journal import SpendJournal
from steelyard.harness.protocols import StopRunError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study" / "spend.journal"


def test_a_reservation_counts_in_full_until_it_is_settled(path):
    journal = SpendJournal(path, 1.0)
    first = journal.reserve("a", 0.7)
    assert journal.spent_usd == 0.7
    with pytest.raises(StopRunError, match=r"cap of 1 USD .* 0\.000000 USD are spent, 0\.7"):
        SpendJournal(path, 1.0, patience_seconds=0).reserve("b", 0.4)
    journal.settle(first, 0.1)
    journal.settle(first, 0.9)  # a second time is none
    assert journal.spent_usd == 0.1
    journal.settle(journal.reserve("b", 0.9), None)
    assert journal.spent_usd == 1.0
    with pytest.raises(StopRunError, match=r"1\.000000 USD are spent, 0\.000000 USD reserved"):
        journal.reserve("c", 1e-9)


def test_the_sum_is_exact_and_the_cap_can_be_spent_to_the_last(path):
    journal = SpendJournal(path, 0.3)
    for _ in range(3):
        journal.settle(journal.reserve("a", 0.1), 0.1)
    assert journal.spent_usd == 0.3


def test_two_runs_see_each_other_in_both_directions(path):
    one, two = SpendJournal(path, 1.0, 0), SpendJournal(path, 1.0, 0)
    held = one.reserve("a", 0.6)
    other = two.reserve("b", 0.4)
    with pytest.raises(StopRunError):
        one.reserve("c", 0.1)
    two.settle(other, 0.0)
    one.settle(one.reserve("c", 0.4), 0.4)
    one.settle(held, 0.6)
    with pytest.raises(StopRunError):
        two.reserve("d", 0.1)


def test_a_request_under_way_is_waited_for_when_only_its_reservation_is_in_the_way(path):
    journal, other = SpendJournal(path, 1.0, 30.0), SpendJournal(path, 1.0)
    held = other.reserve("a", 0.9)
    settled = threading.Timer(0.2, other.settle, (held, 0.05))
    settled.start()
    journal.settle(journal.reserve("b", 0.9), 0.2)
    settled.join()
    assert journal.spent_usd == pytest.approx(0.25)


def test_reservations_of_a_run_that_was_killed_stay_in_force(path):
    code = """
import os, sys
from pathlib import Path
from steelyard.harness.models.journal import SpendJournal
journal = SpendJournal(Path(sys.argv[1]), 1.0)
journal.settle(journal.reserve("a", 0.3), 0.2)
journal.reserve("b", 0.5)
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code, path], check=False, timeout=60)
    journal = SpendJournal(path, 1.0, 30.0)
    assert journal.spent_usd == 0.7
    with pytest.raises(StopRunError):  # at once: nobody is left to settle it
        journal.reserve("c", 0.4)
    journal.settle_recorded("b", 0.1)  # its answer was found among the recordings
    journal.settle_recorded("b", 0.1)
    journal.settle_recorded("a", 0.1)
    assert journal.spent_usd == pytest.approx(0.3)


def test_only_the_last_request_of_an_owner_is_settled_by_its_recording(path):
    journal = SpendJournal(path, 1.0)
    journal.reserve("a", 0.1)
    journal.reserve("a", 0.1)
    journal.settle_recorded("a", 0.02)
    journal.settle_recorded("a", 0.02)
    assert journal.spent_usd == pytest.approx(0.12)


def test_a_last_line_that_was_cut_off_is_tolerated(path):
    journal = SpendJournal(path, 1.0)
    journal.settle(journal.reserve("a", 0.3), 0.3)
    journal.reserve("b", 0.2)
    journal.close()
    whole = path.read_bytes()
    for cut in range(len(whole.rpartition(b"\n")[0].rpartition(b"\n")[0]) + 2, len(whole)):
        path.write_bytes(whole[:cut])
        again = SpendJournal(path, 1.0)
        assert again.spent_usd == 0.3
        again.settle(again.reserve("c", 0.1), 0.1)
        again.close()
        assert SpendJournal(path, 1.0).spent_usd == pytest.approx(0.4)


def test_a_damaged_line_is_refused_since_what_it_stood_for_is_unknown(path):
    journal = SpendJournal(path, 1.0)
    journal.settle(journal.reserve("a", 0.3), 0.3)
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match=r"spend.journal: the entry at byte 0 is damaged"):
        SpendJournal(path, 1.0)


def test_a_journal_that_shrinks_during_a_run_ends_it(path):
    journal = SpendJournal(path, 1.0)
    journal.reserve("a", 0.3)
    path.write_bytes(b"")
    with pytest.raises(StopRunError, match="cut or replaced"):
        journal.reserve("b", 0.3)


def test_without_a_cap_the_account_is_kept_and_nothing_refused(path):
    journal = SpendJournal(path)
    journal.settle(journal.reserve("a", 5.0), 1e6)
    assert SpendJournal(path, 2e6).spent_usd == 1e6


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf"), True, "1"])
def test_amounts_are_numbers_from_0(path, amount):
    with pytest.raises(InputError, match="an amount is"):
        SpendJournal(path, 1.0).reserve("a", amount)


def test_a_full_disk_ends_the_run_and_leaves_whole_lines(path, monkeypatch):
    journal = SpendJournal(path, 1.0)
    journal.reserve("a", 0.3)
    before, write = path.read_bytes(), os.write

    def half(descriptor, data):
        if len(data) > 40:
            return write(descriptor, data[:40])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(StopRunError, match="No space left"):
        journal.reserve("b", 0.3)
    assert path.read_bytes() == before


def test_processes_together_never_exceed_the_cap(path):
    code = """
import sys
from pathlib import Path
from steelyard.harness.models.journal import SpendJournal
from steelyard.harness.protocols import StopRunError
journal, count = SpendJournal(Path(sys.argv[1]), 0.05, 60.0), 0
try:
    while True:
        journal.settle(journal.reserve("a", 0.004), 0.001)
        count += 1
except StopRunError:
    print(count)
"""
    command = [sys.executable, "-c", code, path]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    made = sum(int(run.communicate(timeout=100)[0]) for run in runs)
    # Each stops when less than 0.004 is left.
    assert made == 47
    assert SpendJournal(path, 0.05).spent_usd == pytest.approx(0.047)
