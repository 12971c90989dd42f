"""Is it the order, or the number of the call? Randomisation tests on a shuffled schedule.

Input is one label per call: calls with one label returned the same thing. Row ``g`` of the arrays
holds the repeats of order ``g``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.stats.checks import FloatArray, IntArray
from steelyard.stats.results import SMALLEST_P

DRAWS = 999
"""Re-randomisations where there is no closed form; `FEWER_DRAWS` of more than `MANY_CALLS`."""

FEWER_DRAWS = 199
MANY_CALLS = 3_000

PERIODS = range(2, 9)
"""Periods of a call counter that `state_test` looks for."""

_CELLS = 2_000_000  # of an array of re-randomised labels; bounds the memory


def order_test(labels: IntArray, seed: int = 0) -> float | None:
    """Return the p-value of the hypothesis that results do not depend on the order.

    Under it a result belongs to its call, whatever was asked, and the random schedule dealt the
    calls to the orders. The statistic is the number of pairs of repeats that agree.

    Parameters
    ----------
    labels : array of int, shape (orders, repeats)
        What each call returned.
    seed : int, default 0
        Of the re-randomisation.

    Returns
    -------
    float or None
        None if all calls returned the same, or there is one call per order: nothing to test.
        Never 0: a probability below the least double is given as that.

    Notes
    -----
    If all repeats agree, no arrangement agrees more, and the p-value is the exact probability of
    that: with G orders of R repeats and m_k calls with label k, G!/prod (m_k/R)! arrangements out
    of (GR)!/prod m_k! (Lehmann and Romano, Testing Statistical Hypotheses, 2005, section 15.2, on
    randomisation tests). Else it is (1 + draws that agree as much)/(1 + draws).
    """
    orders, repeats = labels.shape
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) < 2 or repeats < 2:
        return None
    observed = _agreeing_pairs(labels[None])[0]
    if observed == orders * math.comb(repeats, 2):
        log_share = _log_arrangements(counts // repeats) - _log_arrangements(counts)
        return max(math.exp(log_share), SMALLEST_P)
    random = np.random.default_rng(seed)
    draws, batch = _draws(labels), max(1, _CELLS // labels.size)
    as_much = 0
    for start in range(0, draws, batch):
        copies = np.tile(labels.reshape(-1), (min(batch, draws - start), 1))
        drawn = random.permuted(copies, axis=1).reshape(-1, orders, repeats)
        as_much += int((_agreeing_pairs(drawn) >= observed).sum())
    return (1 + as_much) / (1 + draws)


def state_test(labels: IntArray, calls: IntArray, seed: int = 0) -> float | None:
    """Return the p-value of the hypothesis that results do not depend on when they were asked for.

    Under it the repeats of one order may change places. Three kinds of dependence are looked for:
    a level that shifts, likeness of successive calls, and a period (see `PERIODS`).

    Parameters
    ----------
    labels : array of int, shape (orders, repeats)
        What each call returned.
    calls : array of int, same shape
        The number of each call.
    seed : int, default 0
        Of the re-randomisation.

    Returns
    -------
    float or None
        None if the repeats of every order agree: nothing to test.

    Notes
    -----
    The smallest of the p-values of the statistics is referred to its own distribution over the
    same re-randomisations (Westfall and Young, Resampling-Based Multiple Testing, 1993), so that
    looking for several things costs no validity. A single odd call, such as the first one of an
    evaluator that warms up, cannot be told from chance in this way; a replay can.
    """
    varying = np.flatnonzero((labels != labels[:, :1]).any(axis=1))
    if not varying.size:
        return None
    signal = _centred(labels[varying])
    when = calls[varying].reshape(-1)
    sequence = np.argsort(when, kind="stable")
    times = when[sequence]
    random = np.random.default_rng(seed)
    found = [_statistics(signal.reshape(-1)[sequence], times)]
    for _ in range(_draws(signal)):
        drawn = random.permuted(signal, axis=1).reshape(-1)[sequence]
        found.append(_statistics(drawn, times))
    table = np.round(np.array(found), 9)  # sums of the same terms in another order are ties
    smallest = _shares_as_large(table).min(axis=1)
    return float((smallest <= smallest[0]).mean())


def _draws(cells: npt.NDArray[Any]) -> int:
    return DRAWS if cells.size <= MANY_CALLS else FEWER_DRAWS


def _agreeing_pairs(labels: IntArray) -> npt.NDArray[np.int64]:
    repeats = labels.shape[-1]
    agree = np.zeros(labels.shape[0], dtype=np.int64)
    for i in range(repeats):
        for j in range(i):
            agree += (labels[..., i] == labels[..., j]).sum(axis=-1)
    return agree


def _log_arrangements(counts: IntArray) -> float:
    return math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts)


def _centred(labels: IntArray) -> FloatArray:
    """Return, less its mean per order, whether a call had the label that varies most."""
    repeats = labels.shape[1]
    kinds = np.unique(labels)
    counts = np.stack([(labels == kind).sum(axis=1) for kind in kinds])
    chosen = kinds[int((counts * (repeats - counts)).sum(axis=1).argmax())]
    has = (labels == chosen).astype(np.float64)
    return np.asarray(has - has.mean(axis=1, keepdims=True))


def _statistics(signal: FloatArray, times: IntArray) -> list[float]:
    shift = float(np.abs(np.cumsum(signal)).max())
    likeness = abs(float(signal[1:] @ signal[:-1]))
    return [shift, likeness, *(_periodicity(signal, times, period) for period in PERIODS)]


def _periodicity(signal: FloatArray, times: IntArray, period: int) -> float:
    phase = times % period
    sums = np.bincount(phase, weights=signal, minlength=period)
    sizes = np.maximum(np.bincount(phase, minlength=period), 1)
    return float((sums**2 / sizes).sum())


def _shares_as_large(table: FloatArray) -> FloatArray:
    """Return per cell the share of its column's cells that are as large."""
    shares = np.empty_like(table)
    for column in range(table.shape[1]):
        values = np.sort(table[:, column])
        below = np.searchsorted(values, table[:, column], side="left")
        shares[:, column] = (len(values) - below) / len(values)
    return shares
