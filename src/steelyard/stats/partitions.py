"""Grouping values by cluster id: the single place where cluster ids are read.

The clustered standard error, the degrees of freedom, the bootstrap and the tests over tasks all
take their clusters from here, so that an id means the same everywhere and a missing one is
refused before anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, IntArray, check_scores


@dataclass(frozen=True, eq=False)
class Partition:
    """Values grouped by cluster, the clusters in the order of their ids.

    Attributes
    ----------
    ids : tuple of str
        The distinct cluster ids, sorted as text.
    kind : {"text", "integer", ""}
        What the ids were before they became text; empty without any.
    codes : numpy.ndarray of int64, shape (n,)
        The position in ``ids`` of each value's cluster.
    values : numpy.ndarray of float64, shape (n,)
        The values in the order they came.
    sizes : numpy.ndarray of int64, shape (C,)
        The number of values of each cluster.
    sums : numpy.ndarray of float64, shape (C,)
        Their sums, exactly rounded, so that the order of the rows cannot show.
    """

    ids: tuple[str, ...]
    kind: str
    codes: IntArray
    values: FloatArray
    sizes: IntArray
    sums: FloatArray

    @property
    def n(self) -> int:
        """The number of values."""
        return len(self.values)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.ids)

    @property
    def mean(self) -> float:
        """The mean over all values; NaN without any."""
        return math.fsum(self.values) / self.n if self.n else math.nan

    @property
    def means(self) -> FloatArray:
        """The mean of each cluster."""
        return self.sums / self.sizes

    def members(self) -> list[FloatArray]:
        """Return the values of each cluster, in the order of ``ids``."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(self.values[order], np.cumsum(self.sizes)[:-1]) if self.n else []


def partition(values: Any, clusters: Any, *, names: str = "clusters") -> Partition:
    """Group values by cluster id: the single place where cluster ids are read.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Finite numbers.
    clusters : array-like of str or int, shape (n,)
        One id per value. Text stays as it is (``"07"`` is not ``"7"``); an integer becomes its
        decimal text. One input may not mix the two, because 7 and ``"7"`` would then collide.
    names : str, default "clusters"
        What the ids are called in an error message.

    Returns
    -------
    Partition

    Raises
    ------
    InputError
        For ids that are missing (None, NaN, empty text), of another type, or of mixed types; for
        lengths that differ; for values that are not finite.

    Examples
    --------
    >>> found = partition([1, 0, 1], ["7", "07", "7"])
    >>> found.ids, found.means.tolist()
    (('07', '7'), [0.0, 1.0])
    """
    ids, kind = _cluster_ids(clusters, names)
    checked = check_scores("values", values)
    if len(ids) != len(checked):
        raise InputError(f"values has {len(checked)} entries but {names} has {len(ids)}")
    distinct = sorted(set(ids))
    position = {cluster: i for i, cluster in enumerate(distinct)}
    codes = np.array([position[cluster] for cluster in ids], dtype=np.int64)
    sizes = np.bincount(codes, minlength=len(distinct)).astype(np.int64)
    order = np.argsort(codes, kind="stable")
    groups = np.split(checked[order], np.cumsum(sizes)[:-1]) if len(ids) else []
    sums = np.array([math.fsum(group) for group in groups], dtype=np.float64)
    return Partition(tuple(distinct), kind, codes, checked, sizes, sums)


def _cluster_ids(clusters: Any, names: str) -> tuple[list[str], str]:
    """Read the ids as text, with their kind, or say which one cannot be read."""
    raw: npt.NDArray[Any] = np.asarray(clusters, dtype=object)
    if raw.ndim != 1:
        raise InputError(f"{names} has {raw.ndim} dimensions; it must have one")
    ids: list[str] = []
    first_of_kind: dict[str, tuple[int, object]] = {}
    for index, value in enumerate(raw):
        if isinstance(value, str) and value:
            kind, text = "text", str(value)
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            kind, text = "integer", str(int(value))
        else:
            raise InputError(
                f"{names}[{index}] is {value!r}; an id is non-empty text or an integer"
            )
        first_of_kind.setdefault(kind, (index, value))
        ids.append(text)
    if len(first_of_kind) > 1:
        (i, a), (j, b) = first_of_kind.values()
        raise InputError(
            f"{names}[{i}] is {a!r} but {names}[{j}] is {b!r}; ids must be all text or all integers"
        )
    return ids, next(iter(first_of_kind), "")


def check_distinct(keys: Sequence[tuple[str, str]], what: str) -> None:
    """Refuse a (task, repeat) pair that occurs twice."""
    seen: dict[tuple[str, str], int] = {}
    for index, key in enumerate(keys):
        if key in seen:
            raise InputError(f"{what} {key!r} stands at positions {seen[key]} and {index}")
        seen[key] = index
