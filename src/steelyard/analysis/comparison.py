"""Two arms against each other: the difference, exact tests, and what "no difference" would take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.names import TrialFilters, present_arms, resolve_arm
from steelyard.analysis.pairs import PairQuestion
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


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
    question = PairQuestion.of(
        tables, measure, by, missing, population, margin, adjust, confidence, threshold, monte_carlo
    )
    arms = [_resolve_side(tables, side) for side in (reference, candidate)]
    if arms[0][1] == arms[1][1] and arms[0][0].study == arms[1][0].study:
        raise InputError(f"reference and candidate are both {reference!r}; name two arms")
    of_reference, of_candidate = (question.trials(place, arm, filters) for place, arm in arms)
    if of_reference.empty and of_candidate.empty:
        raise InputError(f"neither {reference!r} nor {candidate!r} has a trial with these filters")
    return question.answer(tables, [(reference, candidate, of_reference, of_candidate)])


def pairwise(
    tables: StudyTables,
    measure: str | None = None,
    *,
    arms: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    missing: str | None = None,
    population: str = "assigned",
    margin: float | None = None,
    adjust: str = "holm",
    confidence: float = 0.95,
    threshold: float | None = None,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Compare every pair of arms, adjusted for all of the comparisons together.

    Eight arms make 28 pairs, and the largest of 28 differences is large even when the arms are
    all alike. The family of the adjustment is the whole table, not each pair by itself.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        A 0/1 measure; the study's primary measure when absent.
    arms : sequence of str, optional
        At least two arms, or ``study_id:arm``; all arms of the study that have a trial when
        absent. In each pair the earlier arm is the reference.
    by, missing, population, margin, adjust, confidence, threshold, **filters
        As :func:`compare`; by default one row per pair, all perturbations pooled.

    Returns
    -------
    pandas.DataFrame
        The columns of :func:`compare`; rows in the order of the pairs, then of the strata.

    Raises
    ------
    UnknownNameError, InputError
        As :func:`compare`; also for fewer than two arms, or an arm named twice.
    """
    question = PairQuestion.of(
        tables, measure, by, missing, population, margin, adjust, confidence, threshold, None
    )
    names = list(arms) if arms is not None else present_arms(tables)
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"pairwise needs two or more different arms; got {', '.join(names)}")
    trials = {}
    for name in names:
        place, arm = _resolve_side(tables, name)
        trials[name] = question.trials(place, arm, filters)
    if all(side.empty for side in trials.values()):
        raise InputError("none of the arms has a trial with these filters")
    pairs = [(a, b, trials[a], trials[b]) for a, b in combinations(names, 2)]
    return question.answer(tables, pairs)


def _resolve_side(tables: StudyTables, spec: str) -> tuple[StudyTables, str]:
    """Return the study and the arm that ``arm`` or ``study_id:arm`` names."""
    study, separator, arm = spec.rpartition(":")
    place = type(tables)(tables.connection, study) if separator else tables
    return place, resolve_arm(place, arm)
