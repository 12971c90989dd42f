"""Time the contract room: the exhaustive order check, validation, loading, and a sampled check.

    .venv/bin/python experiments/benchmarks/contract.py --rounds 9 \
        --report reports/benchmarks/contract.md

Every workload is run once without being counted, then ``--rounds`` times. What is timed is the
library call alone, in one process: wall time (fastest and median run) and processor time (least).
On a machine that does other things as well, the last is what the call itself costs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.analysis.order_drift import drift_in_sample, drift_over_all_orders
from steelyard.evaluators.contract import check_order, evaluate, load_json, validate_policy

FIELDS = 200
"""Members of the response."""


@dataclass(frozen=True)
class Workload:
    """One line of the report."""

    name: str
    goal: str
    call: Callable[[], Any]


def policy(count: int) -> dict[str, Any]:
    """Return a policy of ``count`` rules, of all five kinds in turn."""
    kinds: list[dict[str, Any]] = [
        {"kind": "equals", "value": "v"},
        {"kind": "one_of", "values": ["u", "v", "w"]},
        {"kind": "required_field"},
        {"kind": "false"},
        {"kind": "empty_list"},
    ]
    rules = [{"rule_id": f"r{i}", "path": f"f{i}", **kinds[i % 5]} for i in range(count)]
    return {"schema_version": "1.0", "policy_id": "benchmark", "rules": rules}


def response() -> dict[str, Any]:
    """Return a response of 200 fields that passes some rules and fails others."""
    values: list[Any] = ["v", "v", None, False, []]
    return {f"f{i}": values[i % 5] for i in range(FIELDS)}


def workloads() -> list[Workload]:
    """Return what is timed."""
    seven, twelve, full, answer = policy(7), policy(12), policy(256), response()
    text = json.dumps(full).encode()
    large = json.dumps([{f"k{j}": j for j in range(10)} for _ in range(9_000)]).encode()
    return [
        Workload(
            "exhaustive check, 7 rules, 5,040 orders x 3, response of 200 fields",
            "< 1 s",
            lambda: check_order(seven, answer),
        ),
        Workload(
            "the same, interleaved and attributed to pairs",
            "",
            lambda: drift_over_all_orders(seven, answer).to_report(),
        ),
        Workload(
            "the same plain check of a Python hook that validates at every call",
            "",
            lambda: check_order(seven, answer, evaluate),
        ),
        Workload(
            "sampled check, 12 rules, 299 orders x 3 (bound 1 %)",
            "",
            lambda: drift_in_sample(twelve, answer, bound=0.01).to_report(),
        ),
        Workload("validation of 256 rules", "< 20 ms", lambda: validate_policy(full)),
        Workload("loading the text of 256 rules", "", lambda: load_json(text)),
        Workload(
            f"loading {len(large) / 1e6:.1f} MB of JSON, 99,001 values",
            "",
            lambda: load_json(large),
        ),
        Workload("one evaluation, 256 rules", "", lambda: evaluate(full, answer)),
    ]


def timed(call: Callable[[], Any], rounds: int) -> tuple[float, float, float]:
    """Return the fastest and the median wall time and the least processor time, in ms."""
    call()
    wall, processor = [], []
    for _ in range(rounds):
        began = time.perf_counter(), time.process_time()
        call()
        wall.append(1e3 * (time.perf_counter() - began[0]))
        processor.append(1e3 * (time.process_time() - began[1]))
    return min(wall), statistics.median(wall), min(processor)


def report(lines: list[str], rounds: int) -> str:
    """Return the report."""
    header = (
        f"Written by `experiments/benchmarks/contract.py --rounds {rounds}`: Python "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} processors, one process. Recorded measurements: they differ from run "
        "to run."
    )
    note = (
        "The built-in evaluator is called for every order and repeat, and each of its results is "
        "checked against the hook contract, as those of any other evaluator. It reads only and "
        "therefore gets no copies of its own; a hook gets fresh copies of policy and response at "
        "every call. An evaluation and a validation include the check of all limits."
    )
    table = [
        "| workload | fastest, ms | median, ms | processor time, ms | goal |",
        "|---|---:|---:|---:|---|",
        *lines,
    ]
    return "\n".join(["# Speed of the contract room", "", header, "", *table, "", note, ""])


def main() -> None:
    """Run the workloads, print the table, and write it where that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    lines = []
    for workload in workloads():
        figures = " | ".join(f"{ms:.1f}" for ms in timed(workload.call, arguments.rounds))
        lines.append(f"| {workload.name} | {figures} | {workload.goal} |")
        print(lines[-1], flush=True)
    if arguments.report:
        arguments.report.write_text(report(lines, arguments.rounds), encoding="utf-8")


if __name__ == "__main__":
    main()
