"""Kill runs that buy answers from a model, and count what was bought twice.

A part of ``reliability.py``. The model is a server on this machine that speaks OpenAI's protocol
and answers from a script; it knows from each request which trial asks and which turn it is. After
every kill the recordings on the disk are read: whatever is in them must never be asked for again.
"""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import Popen

from copied_study import copy_study
from killing import killed, run_to_the_end, start, tables

from steelyard.harness.models.journal import SpendJournal
from steelyard.harness.models.recordings import MERGED, Recordings

HERE = Path(__file__).resolve().parent
DELAY = 0.01
TRIALS_PER_REPEAT = 50
KEY = "local-server-wants-none"

sys.path.insert(0, str(HERE.parents[1] / "tests" / "harness"))
from model_server import Conversation, ModelServer, Reply, served  # noqa: E402


@dataclass
class RecordedFigures:
    """What was found."""

    kills: int = 0
    runs: int = 0
    trials: int = 0
    answers: int = 0
    asked: int = 0
    recorded_at_kill: list[int] = field(default_factory=list)
    bought_twice: int = 0
    lost_under_way: int = 0
    differing: int = 0
    differing_recordings: int = 0
    differing_replays: int = 0
    below_account: int = 0


def three_calls(said: Conversation) -> Reply:
    """The script: echo 0, 1 and 2, then say so."""
    turn = len(said.results)
    return Reply("", [("echo", {"value": turn})]) if turn < 3 else Reply("three calls were made")


def prepare(folder: Path, trials: int) -> Path:
    """Copy the study with as many repeats as give the number of trials."""
    repeats = f"repeats = {max(1, trials // TRIALS_PER_REPEAT)}"
    return copy_study("recorded_agent", folder, {"repeats = 4": repeats})


class Measurement:
    """One series of runs, one after the other, against one server."""

    def __init__(self, server: ModelServer, folder: Path, trials: int) -> None:
        self.server = server
        self.folder = folder
        self.trials = trials
        self.figures = RecordedFigures()
        os.environ["OPENAI_BASE_URL"] = server.url + "/v1"
        os.environ["RECORDED_AGENT_KEY"] = KEY
        self.study = prepare(folder / "unbroken", trials)
        run_to_the_end(self._begin("run"))
        self.expected = self._tables("run")
        self.recorded = (self.study / "recordings" / MERGED).read_bytes()
        self.figures.trials = trials
        self.figures.answers = len(Recordings(self.study / "recordings"))

    def run(self, number: int, kills: int, generator: random.Random) -> None:
        """Begin a run, kill it until the number of kills is reached, and let it end."""
        figures = self.figures
        self.study = prepare(self.folder / f"run{number}", self.trials)
        self.server.requests.clear()
        self.server.answers.clear()
        bought: set[tuple[str, int]] = set()
        while figures.kills < kills:
            process = self._begin("run")
            if not self._killed(process, generator):
                run_to_the_end(process)
                break
            figures.kills += 1
            self._count(bought)
            bought = self._on_disk()
            figures.recorded_at_kill.append(len(bought))
        else:
            run_to_the_end(self._begin("run"))
        self._count(bought)
        self._compare()

    def _killed(self, process: Popen[bytes], generator: random.Random) -> bool:
        """Kill a run within some moments of a request drawn at random; False if it had ended."""
        wanted = generator.randint(1, self.figures.answers)
        moments = generator.uniform(0, 4 * DELAY)
        while len(self.server.requests) < wanted and process.poll() is None:
            time.sleep(DELAY / 10)
        return killed(process, moments)

    def _begin(self, verb: str) -> Popen[bytes]:
        return start(self.study, self.study.parent / f"{verb}.duckdb", 8, verb)

    def _on_disk(self) -> set[tuple[str, int]]:
        recordings = Recordings(self.study / "recordings")
        found = map(recordings.find, recordings.keys())
        return {(record["trial"], record["turn"]) for record in found if record is not None}

    def _count(self, bought: set[tuple[str, int]]) -> None:
        """Count requests since the last kill for what had been recorded by then."""
        time.sleep(3 * DELAY)  # the server finishes with those whose client is gone
        asked = [_asked_for(request["body"]) for request in self.server.requests]
        self.figures.asked += len(asked)
        self.figures.bought_twice += sum(one in bought for one in asked)
        self.server.requests.clear()

    def _compare(self) -> None:
        figures = self.figures
        figures.runs += 1
        figures.lost_under_way += len(self.server.answers) - figures.answers
        figures.differing += self._tables("run") != self.expected
        recordings = self.study / "recordings" / MERGED
        figures.differing_recordings += recordings.read_bytes() != self.recorded
        journal = SpendJournal(self.study / "spend.journal", None)
        figures.below_account += journal.spent_usd < _cost(self.server) - 1e-9
        journal.close()
        run_to_the_end(self._begin("replay"))
        figures.differing_replays += self._tables("replay") != self.expected

    def _tables(self, verb: str) -> dict[str, bytes]:
        database = self.study.parent / f"{verb}.duckdb"
        target = self.study.parent / f"tables_{verb}"
        return tables(database, target)


def _asked_for(body: dict) -> tuple[str, int]:
    messages = body["messages"]
    return messages[0]["content"], sum(m["role"] == "assistant" for m in messages)


def _cost(server: ModelServer) -> float:
    """Return what all answers cost, those included that reached nobody."""
    usage = [answer["usage"] for answer in server.answers]
    return sum(u["prompt_tokens"] + 5.0 * u["completion_tokens"] for u in usage) / 1e6


def measure(kills: int, trials: int, seed: int, folder: Path) -> RecordedFigures:
    """Kill runs until the number of kills is reached; finish and compare every run."""
    generator = random.Random(seed)  # noqa: S311 - reproducible, not secret
    with served(three_calls) as server:
        server.delay = DELAY
        measurement = Measurement(server, folder, trials)
        number = 0
        while measurement.figures.kills < kills:
            measurement.run(number, kills, generator)
            number += 1
    return measurement.figures


REPORT = """
## Recorded responses

A run of {trials} trials whose agent buys {answers} answers from a model was ended by SIGKILL, at
random moments after a request drawn at random, and begun again until it was complete; eight threads
ask at a time. The model is a server on this machine that speaks OpenAI's protocol and answers from
a script: **no model was asked**. It counts what it is asked for. After every kill the recordings on
the disk were read; a request for any of them afterwards is an answer bought twice. Every run that
was complete was then replayed from its recordings.

| figure | value |
|---|---:|
| kills | {kills} |
| runs brought to their end | {runs} |
| requests | {asked} |
| recorded answers after a kill: least, median, most | {least}, {median}, {most} |
| **recorded answers bought twice** | **{bought_twice}** |
| answers under way at a kill, which reached nobody and were asked for again | {lost_under_way} |
| **runs whose tables differ from the unbroken run's** | **{differing}** |
| **runs whose merged recordings differ from the unbroken run's** | **{differing_recordings}** |
| **replays whose tables differ from the unbroken run's** | **{differing_replays}** |
| **runs whose spend journal is below what the server answered** | **{below_account}** |
"""


def report(figures: RecordedFigures) -> str:
    """Return the part of the report."""
    kept = sorted(figures.recorded_at_kill)
    spread = {"least": kept[0], "median": kept[len(kept) // 2], "most": kept[-1]}
    return REPORT.format(**asdict(figures), **spread)


def faults(figures: RecordedFigures) -> int:
    """Return how much there is that must not be."""
    differing = figures.differing + figures.differing_recordings + figures.differing_replays
    return figures.bought_twice + differing + figures.below_account
