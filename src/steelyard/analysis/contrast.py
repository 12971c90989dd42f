"""One row of a comparison: two groups of trials, their difference and its tests.

Independent trials, trials within tasks, and tasks are three views of one difference; each has its
own interval or test here, and none is used in place of another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from steelyard.stats import (
    clustered_difference,
    exact_permutation,
    miettinen_nurminen_interval,
    monte_carlo_permutation,
    newcombe_interval,
    sign_flip,
    smallest_margin,
    stratified_permutation,
    task_differences,
    verdict,
)

NAN: Final = float("nan")


@dataclass(frozen=True)
class Sides:
    """The counted trials of the two arms in one stratum.

    Attributes
    ----------
    reference, candidate : pandas.DataFrame
        Trials with a value, columns as :func:`steelyard.analysis.selection.select`.
    blocks : tuple of str
        The columns within which labels may be exchanged: the task, and the perturbation where
        the stratum pools several.
    """

    reference: pd.DataFrame
    candidate: pd.DataFrame
    blocks: tuple[str, ...]

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Successes and total of the reference, then of the candidate."""
        r, c = self.reference["value"], self.candidate["value"]
        return int(r.sum()), len(r), int(c.sum()), len(c)

    @property
    def both(self) -> bool:
        """Whether each side has a counted trial."""
        return len(self.reference) > 0 and len(self.candidate) > 0

    @cached_property
    def table(self) -> dict[tuple[str, ...], tuple[list[float], list[float]]]:
        """The outcomes of reference and candidate in every block that either ran, blocks sorted."""
        found: dict[tuple[str, ...], tuple[list[float], list[float]]] = {}
        for side, trials in enumerate((self.reference, self.candidate)):
            blocks = zip(*(trials[name].tolist() for name in self.blocks), strict=True)
            for block, value in zip(blocks, trials["value"].tolist(), strict=True):
                found.setdefault(block, ([], []))[side].append(value)
        return dict(sorted(found.items()))

    @cached_property
    def strata(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """((successes, total), (successes, total)) of reference and candidate, per block."""
        return [((int(sum(r)), len(r)), (int(sum(c)), len(c))) for r, c in self.table.values()]

    @cached_property
    def shared(self) -> tuple[list[float], list[str], list[float], list[str]]:
        """Block rates and tasks of the reference, then of the candidate, where both ran.

        Averaging block by block keeps the mix of perturbations of a task the same on both sides.
        """
        rows = [
            (sum(r) / len(r), sum(c) / len(c), block[0])
            for block, (r, c) in self.table.items()
            if r and c
        ]
        tasks = [row[2] for row in rows]
        return [row[0] for row in rows], tasks, [row[1] for row in rows], tasks

    def pairing(self) -> dict[str, Any]:
        """Return how far the two sides ran the same tasks."""
        r, c = set(self.reference["task"]), set(self.candidate["task"])
        if not r & c:
            pairing = "none"
        elif r == c:
            pairing = "by task"
        else:
            pairing = "partly by task"
        return {
            "pairing": pairing,
            "tasks_shared": len(r & c),
            "tasks_reference_only": len(r - c),
            "tasks_candidate_only": len(c - r),
        }


def independent(sides: Sides, confidence: float) -> dict[str, Any]:
    """Return the difference of the rates with both intervals for independent trials."""
    newcombe = newcombe_interval(*sides.counts, confidence)
    score = miettinen_nurminen_interval(*sides.counts, confidence)
    return {
        "difference": newcombe.estimate,
        "newcombe_low": newcombe.low,
        "newcombe_high": newcombe.high,
        "miettinen_nurminen_low": score.low,
        "miettinen_nurminen_high": score.high,
    }


def over_tasks(sides: Sides, confidence: float, margin: float | None) -> dict[str, Any]:
    """Return the mean difference over shared tasks, its interval, and the verdict it supports.

    With few tasks, of which one deviates a little, the t interval over tasks is narrower than
    the interval for independent trials, and too narrow. An equivalence is therefore granted only
    when both intervals at level 1 - 2 alpha lie within the margin.
    """
    inner = 2.0 * confidence - 1.0
    interval = clustered_difference(*sides.shared, confidence)
    tasks_inner = clustered_difference(*sides.shared, inner)
    trials_inner = miettinen_nurminen_interval(*sides.counts, inner)
    judged = verdict(interval, tasks_inner, margin)
    by_trials = smallest_margin(trials_inner)
    word, why = judged.verdict, judged.reason
    if word == "equivalent" and margin is not None and by_trials >= margin:
        word = "inconclusive"
        why = f"within ±{margin:g} over tasks, but not when trials are taken as independent"
    exists = not math.isnan(interval.low)
    by_tasks = smallest_margin(tasks_inner)
    return {
        "clustered_difference": interval.estimate,
        "clustered_low": interval.low if exists else -1.0,
        "clustered_high": interval.high if exists else 1.0,
        "margin": NAN if margin is None else margin,
        "smallest_margin": max(by_tasks, by_trials) if exists else NAN,
        "smallest_margin_over_tasks": by_tasks,
        "smallest_margin_independent": by_trials,
        "verdict": word,
        "reason": "; ".join(part for part in (interval.reason, why) if part),
    }


def permutation_tests(sides: Sides, monte_carlo: tuple[int, int] | None) -> dict[str, Any]:
    """Return the p-values; NaN where a test has nothing to exchange."""
    row: dict[str, Any] = {"p_exact": NAN, "p_stratified": NAN, "strata_used": 0}
    row |= {"p_sign_flip": NAN, "p_monte_carlo": NAN}
    if not sides.both:
        return row
    row["p_exact"] = exact_permutation(*sides.counts).p_value
    stratified = stratified_permutation(sides.strata)
    if stratified.strata_used:
        row["p_stratified"] = stratified.p_value
        row["strata_used"] = stratified.strata_used
        row["p_sign_flip"] = sign_flip(task_differences(*sides.shared).differences).p_value
    if monte_carlo is not None:
        draws, seed = monte_carlo
        reference, candidate = sides.reference["value"], sides.candidate["value"]
        row["p_monte_carlo"] = monte_carlo_permutation(
            reference.to_numpy(), candidate.to_numpy(), draws=draws, seed=seed
        ).p_value
    return row


def contrast(
    reference: pd.DataFrame,
    candidate: pd.DataFrame,
    *,
    blocks: tuple[str, ...],
    confidence: float,
    margin: float | None,
    monte_carlo: tuple[int, int] | None,
) -> dict[str, Any]:
    """Compare the trials of two arms in one stratum.

    Parameters
    ----------
    reference, candidate : pandas.DataFrame
        Trials as :func:`steelyard.analysis.selection.select` gives them; either may be empty.
    blocks : tuple of str
        See :class:`Sides`.
    confidence : float
        Level of the intervals.
    margin : float or None
        Margin of the equivalence test.
    monte_carlo : tuple of (int, int) or None
        Draws and seed of the Monte-Carlo test.

    Returns
    -------
    dict
        The columns of :func:`steelyard.analysis.compare` that describe one row.
    """
    sides = Sides(
        reference[reference["value"].notna()], candidate[candidate["value"].notna()], blocks
    )
    row = _denominators(reference, "reference") | _denominators(candidate, "candidate")
    row |= sides.pairing()
    row |= independent(sides, confidence)
    row |= over_tasks(sides, confidence, margin)
    row |= permutation_tests(sides, monte_carlo)
    row["reason"] = _reason(sides, row["reason"], pd.concat([reference, candidate]))
    return row


def _reason(sides: Sides, verdict_reason: str, trials: pd.DataFrame) -> str:
    """Say what the row cannot say, starting from what the verdict rests on."""
    empty = [
        f"the {name} has no counted trial here"
        for name, side in (("reference", sides.reference), ("candidate", sides.candidate))
        if side.empty
    ]
    parts = empty or [verdict_reason]
    unknown = int(trials["standing"].eq("applied_unknown").sum())
    if unknown:
        parts.append(f"{unknown} trials left out: unknown whether the perturbation happened")
    return "; ".join(parts)


def _denominators(trials: pd.DataFrame, side: str) -> dict[str, Any]:
    counted = trials["value"].dropna()
    return {
        f"{side}_intended": len(trials),
        f"{side}_scored": int(trials["standing"].eq("scored").sum()),
        f"{side}_excluded": len(trials) - len(counted),
        f"{side}_successes": int(counted.sum()),
        f"{side}_total": len(counted),
        f"{side}_rate": float(counted.mean()) if len(counted) else NAN,
    }
