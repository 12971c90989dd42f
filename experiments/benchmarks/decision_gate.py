"""What a decision costs: the gate against prismthinker on the same contexts, and a large batch.

    ../steelyard-benchmarks/bin/python experiments/benchmarks/decision_gate.py --rounds 7 \
        --report reports/benchmarks/decision_gate.md

Each tool runs in a process of its own, which reads and validates the contexts before any clock
runs. The tools take turns within each round, so that a busy machine is busy for all of them.
prismthinker runs with evaluators in threads, its fastest mode; forking, its default, is slower.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from decision_gate_contexts import at_random, from_vectors
from decision_gate_report import Figures, Workload, report
from load import load_now

WORKLOADS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "reference vectors": from_vectors,
    "random contexts": lambda: at_random(500),
}
TOOLS = ("ours", "ours_published", "prismthinker")
PATIENT = {"head_timeout_ms": 60_000, "pool_budget_ms": 60_000, "counterfactual_timeout_ms": 60_000}
BATCH = 10_000

Decide = Callable[[], str]


def contexts() -> list[dict[str, Any]]:
    """Return the contexts of both workloads."""
    return [case for cases in WORKLOADS.values() for case in cases()]


def ours(published: bool) -> list[Decide]:
    """Return a decision of ours for each context, ready to be made."""
    from steelyard.evaluators.gate import DEFAULT, PUBLISHED, Gate, read_context

    gate = Gate(compatibility=PUBLISHED if published else DEFAULT)

    def prepared(case: dict[str, Any]) -> Decide:
        # Contexts of the vectors fit the lenient schemas only; both gates get the same ones.
        context = read_context(case["context"], compatibility=PUBLISHED)
        tools = case["allowed_tools"]
        return lambda: gate.decide(context, tools).directive.value

    return [prepared(case) for case in contexts()]


def prismthinker() -> list[Decide]:
    """Return a decision of prismthinker for each context, as its README says."""
    from prismthinker import EngineConfig, PrismThinker, ReasoningContext
    from prismthinker.adapters.chorusgraph import to_chorusgraph

    engine = PrismThinker(EngineConfig(isolate_heads=False, **PATIENT))

    def prepared(case: dict[str, Any]) -> Decide:
        fields = dict(case["context"])
        facts, specs = fields.pop("facts", {}), fields.pop("specs", {})
        fields["structured_facts"] = {k: {"key": k, "value": v} for k, v in facts.items()}
        fields["fact_specs"] = {k: {"key": k, **spec} for k, spec in specs.items()}
        context = ReasoningContext.model_validate(fields)
        tools = case["allowed_tools"]

        def decide() -> str:
            graph = engine.evaluate(context)
            return str(to_chorusgraph(graph, allowed_tools=tools).directive.value)

        return decide

    return [guarded(prepared(case)) for case in contexts()]


def guarded(decide: Decide) -> Decide:
    """Return a decision that says when it failed."""

    def attempt() -> str:
        try:
            return decide()
        except Exception as error:
            return f"{type(error).__name__}"

    return attempt


PREPARE: dict[str, Callable[[], list[Decide]]] = {
    "ours": lambda: ours(published=False),
    "ours_published": lambda: ours(published=True),
    "prismthinker": prismthinker,
}


def work(name: str) -> None:
    """Serve rounds: for each line of input make every decision once and print what it took."""
    decisions = PREPARE[name]()
    for _ in sys.stdin:
        wall, processor, directives = [], [], []
        for decide in decisions:
            begin = time.perf_counter(), time.process_time()
            directives.append(decide())
            wall.append(time.perf_counter() - begin[0])
            processor.append(time.process_time() - begin[1])
        answer = {"wall": wall, "processor": processor, "directives": directives}
        print(json.dumps(answer), flush=True)


def work_batch() -> None:
    """Read, decide and tabulate a batch, as JSON Lines in and a data frame out."""
    import pandas as pd

    from steelyard.evaluators.gate import PUBLISHED, Gate, decision_rows, read_cases

    given = [case for case in from_vectors() if finite(case)]
    lines = [
        json.dumps({"case": str(number), **given[number % len(given)]}) for number in range(BATCH)
    ]
    text, gate = "\n".join(lines), Gate()
    seconds: dict[str, float] = {}
    with clock(seconds, "read"):
        cases = list(read_cases(text, compatibility=PUBLISHED))
    with clock(seconds, "decide"):
        rows = list(decision_rows(gate, cases))
    with clock(seconds, "frame"):
        frame = pd.DataFrame(rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "rows": len(frame), "peak_mebibytes": peak}), flush=True)


def finite(case: dict[str, Any]) -> bool:
    """Return whether a case has a form in JSON."""
    try:
        json.dumps(case, allow_nan=False)
    except ValueError:
        return False
    return True


@contextmanager
def clock(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note the processor time of a block."""
    begin = time.process_time()
    yield
    seconds[name] = time.process_time() - begin


def measured(rounds: int) -> Figures:
    """Let the tools take turns; the first round warms up and is not counted."""
    workers = {name: started("--worker", name) for name in TOOLS}
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in TOOLS}
    try:
        for _ in range(rounds + 1):
            for name, worker in workers.items():
                answers[name].append(asked(worker))
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()
    medians = {
        measure: {
            name: [
                statistics.median(times)
                for times in zip(*(one[measure] for one in answers[name][1:]), strict=True)
            ]
            for name in TOOLS
        }
        for measure in ("wall", "processor")
    }
    directives = {name: answers[name][0]["directives"] for name in TOOLS}
    return Figures(medians["wall"], medians["processor"], directives)


def workloads() -> list[Workload]:
    """Return where each workload's contexts stand in the list of all."""
    found, start = [], 0
    for title, cases in WORKLOADS.items():
        end = start + len(cases())
        found.append(Workload(title, start, end))
        start = end
    return found


def started(*arguments: str) -> subprocess.Popen[str]:
    """Start this program as a worker."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603


def asked(worker: subprocess.Popen[str]) -> dict[str, Any]:
    """Ask a worker for one round."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    answer: dict[str, Any] = json.loads(worker.stdout.readline())
    return answer


def batch() -> dict[str, Any]:
    """Run the batch in a process of its own."""
    worker = started("--worker", "batch")
    out, _ = worker.communicate()
    if worker.returncode:
        raise SystemExit("the batch failed")
    found: dict[str, Any] = json.loads(out)
    return found


def main() -> None:
    """Measure and write the report, or serve as a worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--worker", choices=[*TOOLS, "batch"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker == "batch":
        work_batch()
    elif options.worker:
        work(options.worker)
    else:
        before = load_now()
        figures, taken = measured(options.rounds), batch()
        loads = [before, load_now()]
        text = report(figures, workloads(), taken, options.rounds, loads)
        if options.report is None:
            print(text)
        else:
            options.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
