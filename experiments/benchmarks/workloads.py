"""The inputs of the alignment benchmark: pairs of sequences of tool names."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
STEPS = ROOT / "data" / "plumbline" / "steps.csv"
SEED = 0
TOOLS = 10


@dataclass(frozen=True)
class Workload:
    """Sequences of tokens, and which of them are paired."""

    name: str
    title: str
    sequences: list[list[str]]
    references: list[int]
    candidates: list[int]

    @cached_property
    def code_of(self) -> dict[str, int]:
        """Number the tokens in sorted order."""
        tokens = sorted({token for sequence in self.sequences for token in sequence})
        return {token: code for code, token in enumerate(tokens)}

    @cached_property
    def codes(self) -> list[list[int]]:
        """The sequences as integers."""
        return [[self.code_of[token] for token in sequence] for sequence in self.sequences]

    def letters(self) -> list[str]:
        """The sequences as text, one Latin-1 letter a token."""
        # Neither the gap sign nor the wildcard of any tool; not the control characters.
        alphabet = [chr(c) for c in (*range(48, 127), *range(161, 256))]
        if len(self.code_of) > len(alphabet):
            raise ValueError(f"{len(self.code_of)} tokens, {len(alphabet)} letters")
        return ["".join([alphabet[code] for code in sequence]) for sequence in self.codes]


def random_pairs(name: str, title: str, count: int, length: int) -> Workload:
    """Pairs of sequences of one length, each token one of ten with equal chance."""
    names = [f"tool_{number}" for number in range(TOOLS)]
    drawn = np.random.default_rng(SEED).integers(0, TOOLS, (2 * count, length))
    sequences = [[names[token] for token in row] for row in drawn.tolist()]
    places = list(range(2 * count))
    return Workload(name, title, sequences, places[:count], places[count:])


def real_paths(count: int) -> list[list[str]]:
    """Distinct paths of real agents: every complete one, and the longest of their beginnings.

    A token is the kind, name and arguments of a step. Ties in length go by the text.
    """
    steps: dict[str, list[str]] = {}
    with STEPS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            token = f"{row['kind']} {row['name']} {row['arguments']}"
            steps.setdefault(row["trial_id"], []).append(token)
    complete = {tuple(path) for path in steps.values()}
    begun = {path[:end] for path in complete for end in range(1, len(path))} - complete
    longest = sorted(begun, key=lambda path: (-len(path), path))
    return [list(path) for path in [*sorted(complete), *longest][:count]]


def pairs_of_real_paths(name: str, title: str, count: int, distinct: int) -> Workload:
    """Pairs drawn with replacement from a few distinct paths."""
    paths = real_paths(distinct)
    drawn = np.random.default_rng(SEED).integers(0, len(paths), (2, count))
    return Workload(name, title, paths, drawn[0].tolist(), drawn[1].tolist())


def make_titles() -> dict[str, str]:
    """Return what each workload is."""
    return {
        "short": "100,000 random pairs of 12 tokens",
        "paths": "100,000 pairs of 200 real paths",
        "long": "200 random pairs of 400 tokens",
        "longest": "one random pair of 5,000 tokens",
    }


NAMES = tuple(make_titles())


def make(name: str) -> Workload:
    """Make one of the four workloads."""
    title = make_titles()[name]
    if name == "paths":
        return pairs_of_real_paths(name, title, 100_000, 200)
    count, length = {"short": (100_000, 12), "long": (200, 400), "longest": (1, 5000)}[name]
    return random_pairs(name, title, count, length)
