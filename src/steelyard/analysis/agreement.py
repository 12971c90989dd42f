"""How far several arms give the same answer to the same case, beyond chance."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.denominators import strata
from steelyard.analysis.names import (
    TrialFilters,
    present_arms,
    resolve_arms,
    resolve_by,
    resolve_filters,
)
from steelyard.analysis.paired_arms import CASE
from steelyard.analysis.selection import fetch_trials
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats.checks import check_count, check_positive_count
from steelyard.stats.ratios import cluster_draws
from steelyard.trials.strict_json import canonical_dumps

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

LEVEL: Final = 0.95


def agreement(
    tables: StudyTables,
    name: str,
    *,
    arms: Sequence[str] | None = None,
    source: Literal["covariate", "final"] = "covariate",
    by: str | Sequence[str] = (),
    n_resamples: int = 1_000,
    seed: int = 0,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Return Krippendorff's alpha of the arms' answers, one nominal answer per arm and case.

    Parameters
    ----------
    tables : StudyTables
        The study.
    name : str
        What holds the answer, such as ``directive``. An arm without one did not answer: the
        case still counts for the others.
    arms : sequence of str, optional
        At least two; all arms when absent.
    source : {"covariate", "final"}, default "covariate"
        Whether ``name`` is a covariate, or a member of the trials' final output.
    by : str or sequence of str, default ()
        Strata, of perturbation, task, variant and repeat.
    n_resamples, seed : int
        Of the bootstrap over tasks.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per stratum: the ``by`` columns, ``answer``, ``arms``, ``cases`` with at least two
        answers, ``unanimous`` cases among these, ``alpha`` (1: always the same; 0: as by chance;
        NaN where only one answer occurs at all, or no case has two), ``low`` and ``high``
        (percentile limits at 95 % over resampled tasks, NaN where all resamples agree or none has
        an alpha), ``level``, ``n_clusters``, ``n_resamples``, ``seed``.

    Raises
    ------
    InputError
        For fewer than two arms, a grouping by arm, or a name that is no text.
    UnknownNameError
        For a name that the study does not hold.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability. Computed by the package
    ``krippendorff``.
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"name is {name!r}; accepted: the name of a covariate or member, as text")
    columns = resolve_by(by)
    check_positive_count("n_resamples", n_resamples)
    check_count("seed", seed)
    chosen = present_arms(tables) if arms is None else resolve_arms(tables, "arms", arms)
    if len(set(chosen)) < 2 or "arm" in columns:
        raise InputError("agreement is between at least two arms, over cases; do not group by arm")
    answers = _answers(tables, name, source, chosen, filters)
    rows = [
        place | {"answer": name, "arms": len(set(chosen))} | _agreeing(part, n_resamples, seed)
        for place, part in strata(answers, columns, sort=True)
    ]
    return pd.DataFrame(rows)


def _answers(
    tables: StudyTables, name: str, source: str, arms: list[str], filters: TrialFilters
) -> pd.DataFrame:
    """Return one row per arm and case with its answer, NA where it has none."""
    trials = fetch_trials(tables, resolve_filters(tables, {**filters, "arm": arms}))
    if source == "final":
        query = """
            SELECT trial_id, arg_max(output::VARCHAR, step_index) AS output
            FROM steps WHERE study = ? AND kind = 'final' AND output IS NOT NULL GROUP BY trial_id
        """
        given = tables.connection.execute(query, [tables.study]).df()
        given["value"] = [_member(text, name) for text in given.pop("output")]
        if given["value"].isna().all():
            raise InputError(f"study {tables.study}: no final output has the member {name!r}")
    elif source == "covariate":
        covariates = tables.frame("covariates")
        known = sorted(set(covariates["name"]))
        if name not in known:
            raise UnknownNameError("covariate", name, known, f"study {tables.study}")
        given = covariates.loc[covariates["name"].eq(name), ["trial_id", "value"]]
    else:
        raise InputError(f"source is {source!r}; accepted: covariate, final")
    return trials.merge(given, on="trial_id", how="left")[[*CASE, "arm", "value"]]


def _member(text: str, name: str) -> str | None:
    """Return a member of a JSON object as canonical JSON: 0, "0" and false are three answers."""
    output = json.loads(text)
    if not isinstance(output, dict) or output.get(name) is None:
        return None
    return canonical_dumps(_whole(output[name]))


def _whole(value: Any) -> Any:
    """Return a JSON value with 1.0 written as 1, at any depth: to JSON they are one number."""
    if isinstance(value, list):
        return [_whole(member) for member in value]
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _agreeing(part: pd.DataFrame, n_resamples: int, seed: int) -> dict[str, Any]:
    given = part.dropna(subset=["value"])
    counts = pd.crosstab([given[column] for column in CASE], given["value"])
    counts = counts[counts.sum(axis=1).ge(2)]
    table = counts.to_numpy(dtype=np.int64)
    tasks, clusters = pd.factorize(counts.index.get_level_values("task"))
    low, high = _limits(table, tasks, len(clusters), n_resamples, seed)
    return {
        "cases": len(table),
        "unanimous": int(((table > 0).sum(axis=1) == 1).sum()),
        "alpha": _alpha(table),
        "low": low,
        "high": high,
        "level": LEVEL,
        "n_clusters": len(clusters),
        "n_resamples": n_resamples,
        "seed": seed,
    }


def _limits(
    table: npt.NDArray[np.int64],
    tasks: npt.NDArray[np.int64],
    clusters: int,
    n_resamples: int,
    seed: int,
) -> tuple[float, float]:
    if clusters < 2 or math.isnan(_alpha(table)):
        return math.nan, math.nan
    draws = cluster_draws(clusters, n_resamples, seed)
    drawn = np.array([_alpha(np.repeat(table, draw[tasks], axis=0)) for draw in draws])
    drawn = drawn[~np.isnan(drawn)]  # a resample in which only one answer occurs
    if drawn.size == 0 or np.ptp(drawn) == 0:
        return math.nan, math.nan
    tail = (1.0 - LEVEL) / 2.0
    low, high = (float(q) for q in np.quantile(drawn, [tail, 1.0 - tail]))
    return low, high


def _alpha(table: npt.NDArray[np.int64]) -> float:
    """Return alpha of counts of each answer in each case; NaN where it has no meaning."""
    import krippendorff

    if (table.sum(axis=0) > 0).sum() < 2:
        return math.nan
    return float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))
