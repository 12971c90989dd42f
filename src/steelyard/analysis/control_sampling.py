"""Attribute sampling: what deviations in a sample show about a control.

The exact upper limit of the deviation rate is held against the rate that can be tolerated (AICPA
Audit Guide "Audit Sampling"). A sample that is the whole population leaves nothing to infer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import scipy

from steelyard.errors import InputError
from steelyard.stats import Result
from steelyard.stats.checks import check_open_unit, check_probability, check_successes

EXPANSION = 0.6  # of the sample, per expected deviation, in the published rule of thumb
OPERATORS = ("human", "deterministic", "llm_agent")


@dataclass(frozen=True)
class ControlAssessment(Result):
    """What a sample shows about one control.

    Attributes
    ----------
    population : int or None
        Executions that the sample stands for; None when it is open-ended.
    tested, deviations : int
    deviation_rate : float
        deviations / tested; NaN when nothing was tested.
    upper_limit : float
        One-sided upper limit of the rate at ``confidence``; the observed rate when the whole
        population was tested; 1 when nothing was.
    tolerable_rate, confidence : float
    required_sample : int or None
        Executions to test, without deviation, for the upper limit to reach the tolerable rate.
        None when no sample can: a rate of 0 is only shown by testing every execution.
    full_population, sufficient : bool
        Whether all executions were tested; whether the sample was large enough.
    verdict : {"effective", "deficient", "inconclusive", "not tested"}
        ``effective``: the upper limit does not exceed the tolerable rate. ``deficient``: the
        lower limit exceeds it, at the same confidence; where no deviation is tolerable, any.
    """

    population: int | None
    tested: int
    deviations: int
    deviation_rate: float
    upper_limit: float
    tolerable_rate: float
    confidence: float
    required_sample: int | None
    full_population: bool
    sufficient: bool
    verdict: str

    @property
    def passes(self) -> bool:
        """Whether the control can be relied on."""
        return self.verdict == "effective"


def upper_deviation_limit(deviations: int, tested: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper limit of a deviation rate.

    Parameters
    ----------
    deviations, tested : int
        Counts with ``0 <= deviations <= tested``.
    confidence : float, default 0.95
        One-sided, strictly between 0 and 1.

    Returns
    -------
    float
        The ``confidence`` quantile of Beta(deviations + 1, tested - deviations); 1 when every
        execution deviated and when none was tested.

    Raises
    ------
    InputError
        Counts that are no counts or contradict each other, a confidence outside (0, 1).

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26:404-413.
    """
    _check(deviations, tested, confidence)
    if deviations == tested:
        return 1.0
    return float(scipy.special.betaincinv(deviations + 1, tested - deviations, confidence))


def lower_deviation_limit(deviations: int, tested: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided lower limit; see :func:`upper_deviation_limit`.

    The ``1 - confidence`` quantile of Beta(deviations, tested - deviations + 1); 0 without
    deviations.
    """
    _check(deviations, tested, confidence)
    if deviations == 0:
        return 0.0
    return float(scipy.special.betaincinv(deviations, tested - deviations + 1, 1 - confidence))


def _check(deviations: int, tested: int, confidence: float) -> None:
    check_successes(deviations, tested, ("deviations", "tested"))
    check_open_unit("confidence", confidence)


def required_sample_size(
    tolerable_rate: float,
    confidence: float = 0.95,
    expected_deviations: int = 0,
    *,
    compatibility: Literal["plumbline"] | None = None,
) -> int | None:
    """Return how many executions must be tested to rely on a control.

    Parameters
    ----------
    tolerable_rate : float
        From 0 to 1.
    confidence : float, default 0.95
        One-sided, strictly between 0 and 1.
    expected_deviations : int, default 0
        Deviations that the sample may hold.
    compatibility : {"plumbline"}, optional
        With expected deviations, the published rule of thumb: 60 % more per expected deviation.

    Returns
    -------
    int or None
        The smallest n for which ``upper_deviation_limit(expected_deviations, n)`` does not
        exceed the tolerable rate. None when there is none (tolerable rate 0) or nothing to show
        (tolerable rate 1).

    Raises
    ------
    InputError
        A rate or confidence out of range, a negative number of deviations.
    """
    check_probability("tolerable_rate", tolerable_rate)
    _check(expected_deviations, expected_deviations, confidence)
    if tolerable_rate in (0, 1):
        return None
    if compatibility == "plumbline":
        clean = math.log(1 - confidence) / math.log(1 - tolerable_rate)
        return math.ceil(clean * (1 + EXPANSION * expected_deviations))
    enough = expected_deviations + 1
    while upper_deviation_limit(expected_deviations, enough, confidence) > tolerable_rate:
        enough *= 2
    too_few = max(enough // 2, expected_deviations)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if upper_deviation_limit(expected_deviations, middle, confidence) > tolerable_rate:
            too_few = middle
        else:
            enough = middle
    return enough


def assess_control(
    tested: int,
    deviations: int,
    tolerable_rate: float,
    population: int | None = None,
    confidence: float = 0.95,
) -> ControlAssessment:
    """Judge a control by the deviations in a sample.

    Parameters
    ----------
    tested, deviations : int
        Counts with ``0 <= deviations <= tested``.
    tolerable_rate : float
        From 0 (no deviation is tolerable) to 1.
    population : int, optional
        All executions that the sample stands for. When all were tested there is nothing to
        infer: the observed rate is the rate. Default: more than can be counted.
    confidence : float, default 0.95
        One-sided.

    Returns
    -------
    ControlAssessment

    Raises
    ------
    InputError
        Counts that are no counts or contradict each other, a rate or confidence out of range.
    """
    check_probability("tolerable_rate", tolerable_rate)
    _check(deviations, tested, confidence)
    if population is not None and population < tested:
        raise InputError(f"population is {population}, but {tested} executions were tested")
    full = population is not None and tested == population > 0
    rate = deviations / tested if tested else math.nan
    low = rate if full else lower_deviation_limit(deviations, tested, confidence)
    high = rate if full else upper_deviation_limit(deviations, tested, confidence)
    required = required_sample_size(tolerable_rate, confidence)
    verdict = control_verdict(tested, deviations, tolerable_rate, low, high)
    return ControlAssessment(
        population=population,
        tested=tested,
        deviations=deviations,
        deviation_rate=rate,
        upper_limit=high,
        tolerable_rate=tolerable_rate,
        confidence=confidence,
        required_sample=required,
        full_population=full,
        sufficient=full or (required is not None and tested >= required),
        # with everything tested nothing is inferred: any tolerable rate, 1 too, is kept or not
        verdict="effective" if full and rate <= tolerable_rate else verdict,
    )


def control_verdict(
    tested: int, deviations: int, tolerable_rate: float, low: float, high: float
) -> str:
    """Return the verdict on a control from the limits of its deviation rate.

    Parameters
    ----------
    tested, deviations : int
        Counts.
    tolerable_rate : float
        A rate of 1 is no standard at all: nothing shows that it is kept.
    low, high : float
        Limits of the deviation rate.

    Returns
    -------
    {"effective", "deficient", "inconclusive", "not tested"}
        See :class:`ControlAssessment`.
    """
    if tested == 0:
        return "not tested"
    if high <= tolerable_rate < 1:
        return "effective"
    if (deviations > 0 and tolerable_rate == 0) or low > tolerable_rate:
        return "deficient"
    return "inconclusive"


def one_test_suffices(control_type: str, operator: str, *, itgc_effective: bool) -> bool:
    """Return whether testing one execution of a control is enough.

    An automated control does the same thing each time, provided that nothing changes it (the
    general IT controls are effective). A language model in its place does not.

    Parameters
    ----------
    control_type : str
        ``"automated"``; anything else involves a person's judgement.
    operator : {"human", "deterministic", "llm_agent"}
        What carries it out.
    itgc_effective : bool
        Whether the general IT controls were found effective.
    """
    if operator not in OPERATORS:
        raise InputError(f"operator is {operator!r}; accepted are " + ", ".join(OPERATORS))
    return control_type == "automated" and operator != "llm_agent" and itgc_effective
