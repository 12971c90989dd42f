"""One aligner in one process: reads requests, one JSON object a line, and answers each.

A process of its own gives every aligner a memory high-water mark of its own.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from tools import ALIGNERS, FEWEST_EDITS, Aligner
from workloads import Workload, make

STATUS = Path("/proc/self/status")


def peak_mebibytes() -> float:
    """Return the largest resident size since the last reset."""
    line = next(x for x in STATUS.read_text().splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def reset_peak() -> float:
    """Start a new high-water mark at the present resident size, and return that."""
    # Memory that was freed but not given back would hide what is allocated in it next.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return peak_mebibytes()


class Bench:
    """An aligner, and the workload it was last asked for."""

    def __init__(self, name: str) -> None:
        self.aligners: dict[int, Aligner] = {gap: ALIGNERS[name](gap) for gap in (FEWEST_EDITS, -3)}
        self.aligner = self.aligners[FEWEST_EDITS]
        self.workload: Workload | None = None
        self.prepared: Any = None
        self.named: Any = None

    def load(self, name: str) -> Workload:
        """Make the workload in both forms unless it is there already."""
        if self.workload is None or self.workload.name != name:
            self.prepared = self.named = None
            self.workload = make(name)
            self.prepared = self.aligner.prepare(self.workload)
            sequences = self.workload.sequences
            self.named = (
                [sequences[place] for place in self.workload.references],
                [sequences[place] for place in self.workload.candidates],
            )
        return self.workload

    def run(self, form: str) -> tuple[dict[str, float], Any]:
        """Align everything once; return seconds of the processor and of the clock, and results."""
        gc.collect()
        begin = time.process_time(), time.perf_counter()
        if form == "prepared":
            results = self.aligner.align(self.prepared)
        else:
            results = self.aligner.align_names(*self.named)
        seconds = {
            "processor": time.process_time() - begin[0],
            "clock": time.perf_counter() - begin[1],
        }
        return seconds, results

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request: check and memory, or one timing."""
        workload = self.load(request["workload"])
        self.aligner = self.aligners[request["gap"]]
        if reason := self.aligner.skips(workload, request["form"]):
            return {"skipped": reason}
        if request["ask"] == "time":
            seconds, _ = self.run(request["form"])
            return seconds
        before = reset_peak()
        _, results = self.run(request["form"])
        peak = peak_mebibytes() - before
        return {"score": self.aligner.score(results), "peak_mebibytes": peak}


def main() -> None:
    """Serve requests until the input ends."""
    bench = Bench(sys.argv[1])
    print(json.dumps({"version": bench.aligner.version}), flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
