"""Adapters of the stats room: the system ``stats`` and three files of ``plumbline``.

The expected values of ``miettinen_nurminen_interval`` were made with statsmodels, whose score
interval for a difference has a slip in one coefficient (statsmodels issue 10269) and is not
Miettinen and Nurminen's. They are replayed with :func:`steelyard.stats.statsmodels_score_interval`,
which reproduces that slip under its own name; where statsmodels gives no interval at all, ours
stands in. ``tests/stats/test_differences.py`` holds our interval against published tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from steelyard import stats


def _json(value: float) -> float | None:
    """The vectors write null where we write NaN."""
    return None if math.isnan(value) else value


def _limits(interval: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, float]]:
    def adapter(given: dict[str, Any]) -> dict[str, float]:
        found = interval(given["successes"], given["total"], given["confidence"])
        return {"low": found.low, "high": found.high}

    return adapter


def _newcombe(given: dict[str, Any]) -> dict[str, float | None]:
    found = stats.newcombe_interval(*given["a"], *given["b"], given["confidence"])
    return {"difference": _json(found.estimate), "low": found.low, "high": found.high}


def _score_interval(given: dict[str, Any]) -> dict[str, float]:
    table = (*given["a"], *given["b"], given["confidence"])
    limits = stats.statsmodels_score_interval(*table)
    if limits is None:
        ours = stats.miettinen_nurminen_interval(*table)
        limits = ours.low, ours.high
    return {"low": limits[0], "high": limits[1]}


def _stratified(given: dict[str, Any]) -> dict[str, float]:
    found = stats.stratified_permutation((s["a"], s["b"]) for s in given["strata"])
    return {"p_value": found.p_value, "strata_used": found.strata_used}


def _clustered(given: dict[str, Any]) -> dict[str, float | None]:
    found = stats.clustered_standard_error(given["values"], given["clusters"])
    return {
        "estimate": _json(found.estimate),
        "standard_error": _json(found.standard_error),
        "n_clusters": found.n_clusters,
    }


def _mcnemar(given: dict[str, Any]) -> dict[str, float]:
    found = stats.mcnemar(given["b"], given["c"])
    return {"exact": found.exact, "mid_p": found.mid_p}


def _adjusted(adjust: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: {"adjusted": [_json(float(p)) for p in adjust(given["p_values"])]}


def _reliability(estimate: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def adapter(given: dict[str, Any]) -> dict[str, Any]:
        successes = [task[0] for task in given["tasks"]]
        trials = [task[1] for task in given["tasks"]]
        found = estimate(successes, trials, given["k"])
        return {
            "estimate": _json(found.estimate),
            "tasks_used": found.tasks_used,
            "tasks_total": found.tasks_total,
        }

    return adapter


def _outcomes(given: dict[str, Any], side: str) -> list[int]:
    """Build a group as the vectors lay it out: its successes first, then its failures."""
    successes, total = given[f"{side}_successes"], given[f"{side}_total"]
    return [1] * successes + [0] * (total - successes)


def _plumbline_wilson(given: dict[str, Any]) -> dict[str, Any]:
    found = stats.plumbline_wilson(**given)
    return {
        "successes": given["successes"],
        "total": found.n,
        "value": found.estimate,
        "lo": found.low,
        "hi": found.high,
        "rounded": _plumbline_rate(found, given["successes"]),
    }


def _plumbline_rate(found: stats.Interval, successes: int) -> dict[str, Any]:
    return {
        "successes": successes,
        "total": found.n,
        "value": round(found.estimate, 6),
        "ci_low": round(found.low, 6),
        "ci_high": round(found.high, 6),
    }


def _plumbline_permutation(given: dict[str, Any]) -> dict[str, Any]:
    table = [given[f"{side}_{count}"] for side in "ab" for count in ("successes", "total")]
    found = stats.monte_carlo_permutation(
        _outcomes(given, "a"), _outcomes(given, "b"), given["draws"], given["seed"]
    )
    return {
        "monte_carlo_p": found.p_value,
        "exact_p_abs_rate_difference": stats.exact_permutation(*table).p_value,
        "fisher_exact_p": stats.fisher_exact(*table).p_value,
        "significant_at_05": found.p_value < 0.05,
    }


def _plumbline_compare(given: dict[str, Any]) -> dict[str, Any]:
    rates = {
        side: stats.plumbline_wilson(given[f"{side}_successes"], given[f"{side}_total"])
        for side in "ab"
    }
    found = stats.monte_carlo_permutation(_outcomes(given, "a"), _outcomes(given, "b"))
    return {
        "a": given["label_a"],
        "b": given["label_b"],
        "a_stats": _plumbline_rate(rates["a"], given["a_successes"]),
        "b_stats": _plumbline_rate(rates["b"], given["b_successes"]),
        "diff_pts": round(100 * (rates["b"].estimate - rates["a"].estimate), 3),
        "p_value": round(found.p_value, 6),
        "significant_at_05": found.p_value < 0.05,
        "n_permutations": found.n_resamples,
    }


ADAPTERS: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("stats", "wilson_interval"): _limits(stats.wilson_interval),
    ("stats", "clopper_pearson_interval"): _limits(stats.clopper_pearson_interval),
    ("stats", "jeffreys_interval"): _limits(stats.jeffreys_interval),
    ("stats", "newcombe_interval"): _newcombe,
    ("stats", "miettinen_nurminen_interval"): _score_interval,
    ("stats", "exact_permutation"): lambda given: {
        "p_value": stats.exact_permutation(*given["a"], *given["b"]).p_value
    },
    ("stats", "stratified_permutation"): _stratified,
    ("stats", "sign_flip"): lambda given: {
        "p_value": stats.sign_flip(given["differences"]).p_value
    },
    ("stats", "mcnemar"): _mcnemar,
    ("stats", "holm"): _adjusted(stats.holm),
    ("stats", "benjamini_hochberg"): _adjusted(stats.benjamini_hochberg),
    ("stats", "clustered_standard_error"): _clustered,
    ("stats", "pass_hat_k"): _reliability(stats.pass_hat_k),
    ("stats", "pass_at_k"): _reliability(stats.pass_at_k),
    ("stats", "sample_size_for_bound"): lambda given: {
        "trials": stats.sample_size_for_bound(given["bound"], given["confidence"])
    },
    ("plumbline", "wilson"): _plumbline_wilson,
    ("plumbline", "permutation_test"): _plumbline_permutation,
    ("plumbline", "compare"): _plumbline_compare,
    ("plumbline", "bootstrap_ci"): lambda given: stats.plumbline_bootstrap_interval(**given),
}
