"""Two arms against each other: the difference, exact tests, and what "no difference" would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.contrast import contrast
from steelyard.analysis.names import (
    TrialFilters,
    resolve_arm,
    resolve_by,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import benjamini_hochberg, family_size, holm

if TYPE_CHECKING:
    from steelyard.store.declaration import Comparison
    from steelyard.store.tables import StudyTables

ADJUSTMENTS: Final[dict[str, Callable[[Any], Any]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "none": np.asarray,
}


def compare(
    tables: StudyTables,
    reference: str,
    candidate: str,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("perturbation",),
    missing: str | None = None,
    population: str = "assigned",
    margin: float | None = None,
    adjust: str = "holm",
    confidence: float = 0.95,
    threshold: float | None = None,
    monte_carlo: tuple[int, int] | None = None,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Compare the success rates of two arms, stratum by stratum.

    The headline is ``p_stratified``: the exact permutation test that exchanges the arms' labels
    only among the trials of one task (and one perturbation, where a row pools several), so that
    hard and easy tasks are never traded against each other. ``p_exact`` ignores the tasks and is
    shown because published comparisons do.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference, candidate : str
        An arm of this study, or ``study_id:arm`` for an arm of another study in the same
        database. The difference is candidate - reference.
    measure : str, optional
        A 0/1 measure; this study's primary measure when absent.
    by : str or sequence of str
        Columns among ``perturbation``, ``task``, ``variant``, ``repeat`` that make the rows; an
        empty sequence gives one row that pools all trials.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        Missing policy, this study's when absent. Under ``bounds`` there are two rows per
        stratum: ``worst`` counts the candidate's unscored trials as failures and the reference's
        as successes, ``best`` the other way round.
    population : {"assigned", "applied"}
        As assigned, or only the trials whose perturbation is known to have happened.
    margin : float, optional
        The largest difference of rates that would count as "the same", strictly between 0 and 1.
        When absent, the margin of the study's declared comparison of these two arms and this
        measure holds, if there is one.
    adjust : {"holm", "benjamini_hochberg", "none"}
        Adjustment of ``p_stratified`` for the rows of this table.
    confidence : float
        Level of the intervals, above 0.5 and below 1; 1 - confidence is the level of each of the
        two one-sided tests of equivalence.
    threshold : float, optional
        Success means a value of at least this.
    monte_carlo : tuple of (int, int), optional
        Draws and seed of the Monte-Carlo permutation test, only to reproduce a published p-value;
        (20000, 11) are Plumbline's.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per stratum (and case) in which either arm has a trial, in the study's order:

        - the ``by`` columns; ``stratum``, their values in one text (``all`` without any);
          ``case``; ``measure``; ``missing_policy``; ``population``; ``reference``; ``candidate``;
        - for each side, as ``reference_…`` and ``candidate_…``: ``intended``, ``scored``,
          ``excluded`` (trials), ``successes``, ``total``, ``rate`` (NaN when total is 0);
        - ``pairing``: ``by task`` when both arms ran the same tasks, ``partly by task`` when only
          some tasks are shared, ``none`` when no task is; ``tasks_shared``,
          ``tasks_reference_only``, ``tasks_candidate_only``;
        - ``difference``: candidate rate - reference rate over all trials, with
          ``newcombe_low``/``_high`` and ``miettinen_nurminen_low``/``_high`` for independent
          trials; NaN and [-1, 1] when a side has no counted trial;
        - ``clustered_difference``: mean over shared tasks of the task's difference, with
          ``clustered_low``/``_high`` (t interval over tasks; [-1, 1] where it does not exist);
        - ``p_exact`` (exact permutation test, tasks ignored), ``p_stratified`` (within tasks) and
          ``strata_used``, ``p_sign_flip`` (over the shared tasks' differences); NaN where the
          test has nothing to permute;
        - ``p_adjusted``: adjusted ``p_stratified``; ``adjustment``; ``family_size``: how many
          p-values the adjustment ran over;
        - ``p_monte_carlo``: NaN unless asked for;
        - ``level``; ``margin`` (NaN when none is stated); ``smallest_margin``: the smallest margin
          at which this evidence would have shown equivalence, the larger of
          ``smallest_margin_over_tasks`` and ``smallest_margin_independent``; NaN where there is
          no interval over tasks;
        - ``verdict``: ``different``, ``equivalent`` or ``inconclusive``, from the interval over
          tasks (:func:`steelyard.stats.verdict`); equivalent only when the interval for
          independent trials lies within the margin as well; ``reason``: why, and what the row
          cannot say.

        ``p_stratified`` asks whether the arms differ on these very tasks; the verdict is about
        tasks like these. An arm that fails on three of eight tasks can have a small p and an
        inconclusive verdict.

    Raises
    ------
    UnknownNameError
        An arm, study, measure or filter value that does not exist.
    InputError
        A parameter outside its range, the same arm on both sides, or no trial at all.
    """
    columns = resolve_by(by)
    if "arm" in columns or "arm" in filters:
        raise InputError("compare takes its two arms from reference and candidate")
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence is {confidence}; accepted: above 0.5 and below 1")
    if adjust not in ADJUSTMENTS:
        raise InputError(f"adjust is {adjust!r}; accepted: {', '.join(ADJUSTMENTS)}")
    name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
    arms = [_resolve_side(tables, side) for side in (reference, candidate)]
    if arms[0][1] == arms[1][1] and arms[0][0].study == arms[1][0].study:
        raise InputError(f"reference and candidate are both {reference!r}; name two arms")
    sides = [
        select(
            place, name, policy, population, threshold=threshold, empty="return", arm=arm, **filters
        )
        for place, arm in arms
    ]
    if all(side.empty for side in sides):
        raise InputError(f"neither {reference!r} nor {candidate!r} has a trial with these filters")
    margins = _Margins.of(tables, name, reference, candidate, margin)
    rows = []
    for key, pair in _strata(sides, columns):
        stratum = dict(zip(columns, key, strict=True))
        stated = margins.of_stratum(stratum)
        for case, values in _cases(pair, policy):
            row = contrast(
                *values,
                blocks=_blocks(columns),
                confidence=confidence,
                margin=stated,
                monte_carlo=monte_carlo,
            )
            rows.append({**stratum, "stratum": _label(key), "case": case} | row)
    table = _adjusted(pd.DataFrame(rows), adjust).assign(
        measure=name,
        missing_policy=policy,
        population=population,
        reference=reference,
        candidate=candidate,
        level=confidence,
    )
    return sort_by_design(tables, table, columns)[[*columns, *_COLUMNS]]


_COLUMNS = (
    "stratum",
    "case",
    "measure",
    "missing_policy",
    "population",
    "reference",
    "candidate",
    *(
        f"{side}_{what}"
        for side in ("reference", "candidate")
        for what in ("intended", "scored", "excluded", "successes", "total", "rate")
    ),
    "pairing",
    "tasks_shared",
    "tasks_reference_only",
    "tasks_candidate_only",
    "difference",
    "newcombe_low",
    "newcombe_high",
    "miettinen_nurminen_low",
    "miettinen_nurminen_high",
    "clustered_difference",
    "clustered_low",
    "clustered_high",
    "p_exact",
    "p_stratified",
    "strata_used",
    "p_sign_flip",
    "p_adjusted",
    "adjustment",
    "family_size",
    "p_monte_carlo",
    "level",
    "margin",
    "smallest_margin",
    "smallest_margin_over_tasks",
    "smallest_margin_independent",
    "verdict",
    "reason",
)


@dataclass(frozen=True)
class _Margins:
    """The margin that counts as "the same", given by the caller or declared by the study."""

    everywhere: float | None
    declared: tuple[Comparison, ...]

    @classmethod
    def of(
        cls,
        tables: StudyTables,
        measure: str,
        reference: str,
        candidate: str,
        margin: float | None,
    ) -> _Margins:
        if margin is not None:
            if not 0 < margin < 1:
                raise InputError(f"margin is {margin}; accepted: a difference between 0 and 1")
            return cls(float(margin), ())
        pair = {reference, candidate}
        declared = tuple(
            comparison
            for comparison in tables.design.comparisons
            if comparison.measure == measure
            and {comparison.reference, comparison.candidate} == pair
        )
        return cls(None, declared)

    def of_stratum(self, stratum: dict[str, Any]) -> float | None:
        """Return the margin for one row; None when nobody stated one."""
        for comparison in self.declared:
            covered = comparison.perturbations
            if not covered or stratum.get("perturbation") in covered:
                return comparison.margin
        return self.everywhere


def _resolve_side(tables: StudyTables, spec: str) -> tuple[StudyTables, str]:
    """Return the study and the arm that ``arm`` or ``study_id:arm`` names."""
    study, separator, arm = spec.rpartition(":")
    place = type(tables)(tables.connection, study) if separator else tables
    return place, resolve_arm(place, arm)


def _strata(
    sides: Sequence[pd.DataFrame], columns: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], list[pd.DataFrame]]]:
    """Yield each stratum's key with the trials of both sides, either of them possibly empty."""
    if not columns:
        yield (), list(sides)
        return
    parts = [dict(iter(side.groupby(list(columns), sort=False))) for side in sides]
    for key in dict.fromkeys(key for part in parts for key in part):
        yield key, [part.get(key, side.iloc[:0]) for part, side in zip(parts, sides, strict=True)]


def _cases(
    pair: Sequence[pd.DataFrame], policy: str
) -> Iterator[tuple[str, tuple[pd.DataFrame, pd.DataFrame]]]:
    """Yield the pair once, or in the candidate's worst and best case under ``bounds``."""
    reference, candidate = pair
    if policy != "bounds":
        yield "observed", (reference, candidate)
        return
    yield "worst", (reference.assign(value=reference["best"]), candidate)
    yield "best", (reference, candidate.assign(value=candidate["best"]))


def _blocks(columns: Sequence[str]) -> tuple[str, ...]:
    return ("task",) if "perturbation" in columns else ("task", "perturbation")


def _label(key: tuple[Any, ...]) -> str:
    return " / ".join(str(part) for part in key) if key else "all"


def _adjusted(table: pd.DataFrame, adjust: str) -> pd.DataFrame:
    """Adjust the headline p-values for the rows of each case."""
    adjusted = pd.Series(np.nan, index=table.index)
    size = pd.Series(0, index=table.index)
    for _, rows in table.groupby("case"):
        p_values = rows["p_stratified"].to_numpy()
        adjusted[rows.index] = ADJUSTMENTS[adjust](p_values)
        size[rows.index] = family_size(p_values)
    return table.assign(p_adjusted=adjusted, adjustment=adjust, family_size=size)
