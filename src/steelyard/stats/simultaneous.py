"""Bands that hold for a whole curve at once, from resampled curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, check_open_unit

_STILL = 1e-12
"""A point whose resampled values spread no further does not move."""


def simultaneous_level(estimate: Any, resampled: Any, confidence: float = 0.95) -> float:
    """Return the level at which pointwise intervals of a curve hold simultaneously.

    Intervals at each point of a curve, each at level 0.95, all hold together less often than
    that. The sup-t rule takes the largest standardised deviation of a resampled curve from the
    estimated one; its quantile is the number of standard errors that a whole curve stays within,
    and the normal probability of that many standard errors is the level to use at every point.

    Parameters
    ----------
    estimate : array-like of float, shape (k,)
        The curve; NaN where it is not defined.
    resampled : array-like of float, shape (n_resamples, k)
        The curve of each resample. A resample with an undefined point plays no part.
    confidence : float, default 0.95
        Strictly between 0 and 1: of the whole curve.

    Returns
    -------
    float
        Between ``confidence`` and the Bonferroni level 1 - (1 - confidence)/k. Points that no
        resample moves play no part; without any other point it is ``confidence``.

    Raises
    ------
    InputError
        If the shapes do not fit or the level is no probability.

    References
    ----------
    Montiel Olea and Plagborg-Moller (2019), Journal of Applied Econometrics 34:1-17.

    Examples
    --------
    >>> curves = np.random.default_rng(0).normal(size=(4000, 10))
    >>> 0.99 < simultaneous_level(np.zeros(10), curves) < 0.996
    True
    """
    from scipy.stats import norm

    level = check_open_unit("confidence", confidence)
    curve = np.asarray(estimate, dtype=float)
    curves = np.asarray(resampled, dtype=float)
    if curves.ndim != 2 or curves.shape[1:] != curve.shape:
        raise InputError(f"resampled has shape {curves.shape}; accepted: (resamples, {len(curve)})")
    defined = ~np.isnan(curve)
    curve, curves = curve[defined], curves[:, defined]
    curves = curves[~np.isnan(curves).any(axis=1)]
    errors = curves.std(axis=0) if len(curves) else np.zeros(len(curve))
    moving = errors > _STILL
    if not moving.any():
        return level
    largest: FloatArray = np.abs((curves[:, moving] - curve[moving]) / errors[moving]).max(axis=1)
    reach = 2.0 * float(norm.cdf(np.quantile(largest, level))) - 1.0
    return min(max(reach, level), 1.0 - (1.0 - level) / int(moving.sum()))
