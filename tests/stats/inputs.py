"""Outcomes of two public data sets, as counts small enough to stand here.

``data/tau_bench_airline`` and ``data/mle_bench_famou`` hold them trial by trial.
"""

from __future__ import annotations

# tau-bench, airline, gpt-4o with tool calling: successes of 4 trials on each of 50 tasks
TAU_AIRLINE = [
    *(0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 4, 2, 0, 2, 1, 1, 4, 0, 4, 3, 0, 0, 4),
    *(0, 2, 2, 0, 1, 2, 2, 0, 0, 3, 4, 4, 3, 4, 1, 3, 2, 4, 1, 2, 2, 2, 1, 4, 4),
]

# MLE-bench, Famou-Agent: any medal with seed 0, 1, 2, and how many tasks of the split have that
MLE_BENCH = {
    "low": {"111": 12, "000": 7, "110": 1, "011": 1, "100": 1},
    "medium": {"000": 20, "111": 8, "011": 3, "101": 3, "010": 2, "110": 2},
    "high": {"000": 10, "111": 5},
}


def tau_trials() -> tuple[list[int], list[str]]:
    """Outcomes and tasks of the 200 trials."""
    outcomes = [int(i < successes) for successes in TAU_AIRLINE for i in range(4)]
    tasks = [f"{task}" for task in range(len(TAU_AIRLINE)) for _ in range(4)]
    return outcomes, tasks


def mle_trials(*splits: str) -> tuple[list[int], list[str], list[int]]:
    """Outcomes, tasks and seeds of the trials of some splits."""
    outcomes: list[int] = []
    tasks: list[str] = []
    for split in splits:
        for pattern, count in MLE_BENCH[split].items():
            for task in range(count):
                outcomes += [int(digit) for digit in pattern]
                tasks += [f"{split} {pattern} {task}"] * 3
    return outcomes, tasks, [0, 1, 2] * (len(outcomes) // 3)
