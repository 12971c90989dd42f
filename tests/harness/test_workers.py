"""What a worker process does, seen from within one process."""

from __future__ import annotations

import signal
import threading
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from steelyard.errors import StudyError
from steelyard.harness import processes
from steelyard.harness.dask_cluster import _loaded, _run_chunk
from steelyard.harness.plan import make_variants, plan_trials
from steelyard.harness.processes import Processes


@pytest.fixture
def planned(toy):
    study = toy(repeats=5)
    return study, list(plan_trials(study, make_variants(study)))


@pytest.fixture(autouse=True)
def _interrupts_as_before():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def serve(study, digest, chunks):
    """Run a worker's body here, while a thread plays the run's part; return what it was sent."""
    ours, theirs = Pipe()
    position = SimpleNamespace(value=-1)
    received = []

    def play():
        received.append(ours.recv())
        for chunk in chunks:
            ours.send(chunk)
            count = 0
            while count < len(chunk):
                results, seconds = ours.recv()
                assert seconds >= 0
                received.extend(results)
                count += len(results)
        ours.close()

    player = threading.Thread(target=play)
    player.start()
    processes._work(theirs, position, study.folder, digest)
    player.join()
    return received, position.value


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_a_worker_answers_every_trial_and_ends_with_its_pipe(planned, seconds, monkeypatch):
    monkeypatch.setattr(processes, "SEND_SECONDS", seconds)
    study, trials = planned
    (ready, *finished), position = serve(study, study.digest, [trials[:7], trials[7:10]])
    assert ready is None
    assert [trial.key for trial in finished] == [trial.key for trial in trials[:10]]
    assert {trial.status for trial in finished} == {"completed"}
    assert position == 2
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_worker_that_cannot_load_the_study_says_why(planned):
    study, _ = planned
    (message,), _ = serve(study, "another digest", [])
    assert message.startswith("StudyError: toy_study/study.toml differs")


def test_a_worker_that_dies_before_it_is_ready_ends_the_run(planned, monkeypatch):
    study, trials = planned
    monkeypatch.setattr(processes, "_work", print)  # a body that ends at once
    with pytest.raises(StudyError, match=r"before it had loaded the study; .*__main__"):
        list(Processes(study, 1).run(iter(trials)))


def test_trials_on_a_cluster_find_the_study_in_the_workers_own_checkout(planned, monkeypatch):
    study, trials = planned
    root = study.folder.parents[1]
    monkeypatch.setenv("STEELYARD_HOME", str(root))
    _loaded.cache_clear()
    finished = _run_chunk("/elsewhere/experiments/toy_study", study.digest, trials[:3])
    assert [trial.key for trial in finished] == [trial.key for trial in trials[:3]]
    assert _loaded(str(study.folder), study.digest).folder == study.folder
