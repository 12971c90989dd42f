"""Why results differ: because of the order, of the evaluator's state, or by chance."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.order_randomisation import order_test, state_test
from steelyard.stats.checks import IntArray


@dataclass(frozen=True)
class Cause:
    """What the evidence says about the cause; see `find_cause`.

    Attributes
    ----------
    name : str
        The cause.
    order_p_value, state_p_value : float or None
        Of the two tests.
    replay_equal : bool or None
        Whether a fresh evaluator repeated the whole schedule.
    """

    name: str
    order_p_value: float | None
    state_p_value: float | None
    replay_equal: bool | None


def find_cause(
    labels: IntArray,
    calls: IntArray,
    *,
    unstable: bool,
    replay_equal: bool | None,
    alpha: float,
    seed: int,
) -> Cause:
    """Name the cause of differing results.

    Parameters
    ----------
    labels, calls : array of int, shape (orders, repeats)
        What each call returned, and its number.
    unstable : bool
        Whether the repeats of some order differ.
    replay_equal : bool or None
        Whether an evaluator with new state gave the same results to the same calls.
    alpha : float
        Level of each test.
    seed : int
        Of the tests.

    Returns
    -------
    Cause
        ``none``: all results mean the same. ``order``: the repeats of every order agree, the
        orders do not. With unstable orders: ``call_state`` (a replay gives the same again, or
        results go with the number of the call), ``chance`` (a replay differs) or ``unstable``
        (the two not told apart); with ``order_and_`` before it if repeats of one order agree more
        than the calls at large, so that the order matters as well.
    """
    order_p = order_test(labels, seed)
    state_p = state_test(labels, calls, seed)
    if not unstable:
        name = "none" if order_p is None else "order"
        return Cause(name, order_p, state_p, replay_equal)
    if replay_equal is not None:
        name = "call_state" if replay_equal else "chance"
    else:
        name = "call_state" if state_p is not None and state_p < alpha else "unstable"
    if order_p is not None and order_p < alpha:
        name = f"order_and_{name}"
    return Cause(name, order_p, state_p, replay_equal)
