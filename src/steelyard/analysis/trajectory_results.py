"""What the trajectory analyses return: counts with their intervals, groups, divergences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from steelyard.analysis.proportion import Proportion, prefixed

CONSISTENCY_QUESTIONS = ("structural", "self_consistency", "argument", "outcome")
EQUIVALENCE_QUESTIONS = ("outcome", "path", "argument", "incumbent_self_consistency")


@dataclass(frozen=True)
class Consistency:
    """How consistent one arm is.

    Attributes
    ----------
    arm : str
    compatibility : str or None
        ``"plumbline"`` when the published definitions were used.
    missing_policy : str
    intended, scored, excluded : int
        Trials.
    structural : Proportion
        Trials that took their task's reference path.
    self_consistency : Proportion
        Baseline trials that did.
    argument : Proportion
        Among the trials on the reference path, those whose arguments agree with the reference
        (differences of severity ``low`` aside).
    outcome : Proportion
        Trials whose terminal state equals the most frequent one of their task's baseline.
    by_perturbation, by_task : pandas.DataFrame
        The structural proportion in groups.
    references : dict of str to str
        Task to the text of its reference path.
    divergences : pandas.DataFrame
        See :func:`steelyard.analysis.divergence.group_divergences`.
    """

    arm: str
    compatibility: str | None
    missing_policy: str
    intended: int
    scored: int
    excluded: int
    structural: Proportion
    self_consistency: Proportion
    argument: Proportion
    outcome: Proportion
    by_perturbation: pd.DataFrame = field(repr=False)
    by_task: pd.DataFrame = field(repr=False)
    references: dict[str, str] = field(repr=False)
    divergences: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per question, with its counts and intervals."""
        rows = [
            {"arm": self.arm, "question": name, **getattr(self, name).to_row()}
            for name in CONSISTENCY_QUESTIONS
        ]
        return pd.DataFrame(rows)

    def to_row(self) -> dict[str, Any]:
        """Return the answers as one row: what was asked, then each question's counts and limits."""
        return {
            "arm": self.arm,
            "compatibility": self.compatibility,
            "missing_policy": self.missing_policy,
            "intended": self.intended,
            "scored": self.scored,
            "excluded": self.excluded,
            **prefixed({name: getattr(self, name) for name in CONSISTENCY_QUESTIONS}),
        }


@dataclass(frozen=True)
class Equivalence:
    """How far a replacement does what the incumbent does.

    Attributes
    ----------
    incumbent, replacement : str
        The arms.
    compatibility : str or None
        ``"plumbline"`` when the published definitions were used.
    missing_policy : str
    intended, excluded : int
        Trials of the replacement, and those of them that never ran or failed.
    pairs, unpaired : int
        Scored trials of the replacement with and without a reference.
    outcome, path, argument : Proportion
        Pairs that agree. Outcome: both states were read and are equal. Argument: among the pairs
        on one path, those without a difference of a severity above ``low``.
    incumbent_self_consistency : Proportion
        Trials of the incumbent on the most frequent path of their own condition. A condition
        with one trial says nothing about repeats and is left out, except with the published
        definition, where it counts as consistent.
    by_perturbation, by_task : pandas.DataFrame
        The outcome proportion in groups.
    path_by_perturbation : pandas.DataFrame
        The path proportion by perturbation.
    bound, worst_perturbation : float, str or None
        The lowest lower limit of the outcome proportion over perturbations, and where it is.
    clustered_bound : float
        The same of the task-clustered limits.
    plumbline_bound, plumbline_worst : float, str or None
        Plumbline's retirement bound: the lower limit where the point estimate is lowest.
    verdict, path_verdict : str
        ``equivalent``, ``different`` or ``inconclusive`` at ``target``, for outcomes and for
        paths (:func:`steelyard.analysis.equivalence_verdicts.bounded_verdict`).
    plumbline_verdict : str
        Plumbline's, see :func:`steelyard.analysis.equivalence_verdicts.published_verdict`.
    target : float
        The rate of agreement that counts as equivalence.
    divergences : pandas.DataFrame
        See :func:`steelyard.analysis.divergence.group_divergences`.
    """

    incumbent: str
    replacement: str
    compatibility: str | None
    missing_policy: str
    intended: int
    excluded: int
    pairs: int
    unpaired: int
    outcome: Proportion
    path: Proportion
    argument: Proportion
    incumbent_self_consistency: Proportion
    by_perturbation: pd.DataFrame = field(repr=False)
    by_task: pd.DataFrame = field(repr=False)
    path_by_perturbation: pd.DataFrame = field(repr=False)
    bound: float
    worst_perturbation: str | None
    clustered_bound: float
    plumbline_bound: float
    plumbline_worst: str | None
    verdict: str
    path_verdict: str
    plumbline_verdict: str
    target: float
    divergences: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per question, with its counts and intervals."""
        sides = {"incumbent": self.incumbent, "replacement": self.replacement}
        rows = [
            {**sides, "question": name, **getattr(self, name).to_row()}
            for name in EQUIVALENCE_QUESTIONS
        ]
        return pd.DataFrame(rows)

    def to_row(self) -> dict[str, Any]:
        """Return the answers as one row; the tables by group and the divergences are left out."""
        skipped = {
            *EQUIVALENCE_QUESTIONS,
            "by_perturbation",
            "by_task",
            "path_by_perturbation",
            "divergences",
        }
        plain = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in skipped
        }
        return {**plain, **prefixed({name: getattr(self, name) for name in EQUIVALENCE_QUESTIONS})}
