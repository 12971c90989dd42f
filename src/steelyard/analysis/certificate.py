"""A guaranteed rate for an arm: the lower limit that holds under its worst perturbation."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Unpack

import pandas as pd

from steelyard.analysis.names import TrialFilters, resolve_arm, resolve_measure
from steelyard.analysis.rates import rates
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

GRADES: Final = ((0.95, "A"), (0.85, "B"), (0.70, "C"), (0.50, "D"))
"""Lowest bound of each grade, as Plumbline publishes them; below the last one the grade is F."""

NO_GRADE: Final = ""
"""The grade of an arm of which no trial was scored: a letter would read as a finding."""


@dataclass(frozen=True)
class Certificate:
    """The certified bound of one arm and measure, under three definitions.

    Attributes
    ----------
    study, arm, measure, missing_policy, population : str
        What was certified.
    level : float
        Two-sided level of the intervals; as a one-sided statement the bound holds at
        (1 + level) / 2, that is 97.5 % for a level of 95 %.
    bound : float
        Smallest lower Wilson limit over the perturbations that have a scored trial; 0 when none
        has. Trials are taken as independent.
    worst_perturbation : str
        The perturbation with that limit, the first in the study's order on ties; empty when no
        perturbation has a scored trial.
    grade : str
        Letter for ``bound``: A from 0.95, B from 0.85, C from 0.70, D from 0.50, F below.
    bound_as_intended : float
        The same minimum over every intended perturbation. One without a scored trial has the
        vacuous limit 0, so nothing is certified for the perturbations as a set.
    unscored_perturbations : tuple of str
        The perturbations that were intended and have no scored trial.
    clustered_bound, clustered_worst, clustered_grade : float, str, str
        As ``bound``, with the task-clustered intervals: the statement about new tasks.
    plumbline_bound, plumbline_worst, plumbline_grade : float, str, str
        The number that Plumbline prints as its certified bound: the lower limit of the
        perturbation with the lowest rate, the first listed on ties. A perturbation with few
        trials and no failure has a low limit and a high rate, and this definition passes over it.
    intended, scored, excluded : int
        Trials over all perturbations, see :func:`steelyard.analysis.denominators.count_trials`.
    reason : str
        What limits the statement; empty when nothing does.
    perturbations : pandas.DataFrame
        The rates behind it, one row per perturbation (:func:`steelyard.analysis.rates`); under
        the missing policy ``bounds`` these are the worst case.
    """

    study: str
    arm: str
    measure: str
    missing_policy: str
    population: str
    level: float
    bound: float
    worst_perturbation: str
    grade: str
    bound_as_intended: float
    unscored_perturbations: tuple[str, ...]
    clustered_bound: float
    clustered_worst: str
    clustered_grade: str
    plumbline_bound: float
    plumbline_worst: str
    plumbline_grade: str
    intended: int
    scored: int
    excluded: int
    reason: str
    perturbations: pd.DataFrame = field(repr=False, compare=False)

    def to_row(self) -> dict[str, Any]:
        """Return every field but the per-perturbation table, for a table of certificates."""
        row = asdict(self)
        row.pop("perturbations")
        row["unscored_perturbations"] = ", ".join(self.unscored_perturbations)
        return row

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`to_row` as a table with one row."""
        return pd.DataFrame([self.to_row()])


def certify(
    tables: StudyTables,
    arm: str,
    measure: str | None = None,
    *,
    missing: str | None = None,
    population: str = "assigned",
    confidence: float = 0.95,
    threshold: float | None = None,
    **filters: Unpack[TrialFilters],
) -> Certificate:
    """Certify a lower bound on an arm's success rate that holds under its worst perturbation.

    The bound is the minimum over perturbations of the lower confidence limit. It needs no
    adjustment for the number of perturbations: let w be the perturbation with the lowest true
    rate. The minimum of the limits exceeds that rate only if the limit of w does, and that
    happens with a probability of at most (1 - confidence) / 2, however many other limits the
    minimum is taken over (an intersection-union argument, Berger 1982, *Technometrics* 24:295).

    Parameters
    ----------
    tables : StudyTables
        The study.
    arm : str
        The arm to certify.
    measure : str, optional
        A 0/1 measure; the study's primary measure when absent.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        Missing policy. Under ``bounds`` the certificate takes the worst case.
    population : {"assigned", "applied"}
        As assigned, or only the trials whose perturbation is known to have happened.
    confidence : float
        Two-sided level, strictly between 0 and 1.
    threshold : float, optional
        Success means a value of at least this.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    Certificate
        The bound under three definitions, with its grade, denominators and the rates behind it.

    Raises
    ------
    UnknownNameError, InputError
        As :func:`steelyard.analysis.rates`.
    """
    name = resolve_measure(tables, measure)
    if name in tables.design.measures.harmful:
        raise InputError(
            f"study {tables.study}: 1 is an event that should not happen in {name!r}, so a lower "
            "bound certifies nothing; ask for its upper limit (steelyard.analysis.event_bounds)"
        )
    table = rates(
        tables,
        name,
        by=("perturbation",),
        missing=missing,
        population=population,
        confidence=confidence,
        threshold=threshold,
        arm=resolve_arm(tables, arm),
        **filters,
    )
    table = table[table["case"] != "best"].reset_index(drop=True)
    scored = table[table["total"] > 0]
    unscored = tuple(str(name) for name in table.loc[table["total"] == 0, "perturbation"])
    bound, worst = _lowest(scored, "low", "low")
    clustered_bound, clustered_worst = _lowest(scored, "clustered_low", "clustered_low")
    plumbline_bound, plumbline_worst = _lowest(scored, "estimate", "low")
    return Certificate(
        study=tables.study,
        arm=arm,
        measure=str(table["measure"].iloc[0]),
        missing_policy=str(table["missing_policy"].iloc[0]),
        population=population,
        level=confidence,
        bound=bound,
        worst_perturbation=worst,
        grade=grade(bound) if len(scored) else NO_GRADE,
        bound_as_intended=0.0 if unscored else bound,
        unscored_perturbations=unscored,
        clustered_bound=clustered_bound,
        clustered_worst=clustered_worst,
        clustered_grade=grade(clustered_bound) if len(scored) else NO_GRADE,
        plumbline_bound=plumbline_bound,
        plumbline_worst=plumbline_worst,
        plumbline_grade=grade(plumbline_bound) if len(scored) else NO_GRADE,
        **{name: int(table[name].sum()) for name in ("intended", "scored", "excluded")},
        reason=_limits(scored, unscored, _unassigned(tables, table, filters)),
        perturbations=table,
    )


def grade(bound: float) -> str:
    """Return the letter for a certified bound (see :data:`GRADES`)."""
    for lowest, letter in GRADES:
        if bound >= lowest:
            return letter
    return "F"


def _lowest(scored: pd.DataFrame, by: str, take: str) -> tuple[float, str]:
    """Return ``take`` and the name of the first perturbation whose ``by`` is smallest."""
    if scored.empty:
        return 0.0, ""
    row = scored.iloc[int(scored[by].to_numpy().argmin())]
    return float(row[take]), str(row["perturbation"])


def _unassigned(tables: StudyTables, table: pd.DataFrame, filters: TrialFilters) -> tuple[str, ...]:
    """Return the declared perturbations that the arm was never meant to meet."""
    if filters.get("perturbation") is not None or tables.design.scope.get("perturbation"):
        return ()
    met = set(table["perturbation"])
    return tuple(name for name in tables.design.design.perturbations if name not in met)


def _limits(scored: pd.DataFrame, unscored: tuple[str, ...], unassigned: tuple[str, ...]) -> str:
    """Say what the certificate does not cover."""
    parts = []
    if scored.empty:
        parts.append("no scored trial")
    elif unscored:
        parts.append(f"no scored trial under {', '.join(unscored)}: nothing is certified there")
    if unassigned:
        parts.append(f"the arm has no trial under {', '.join(unassigned)}")
    single = scored.loc[scored["n_clusters"] < 2, "perturbation"]
    if len(single):
        parts.append(f"no clustered limit under {', '.join(single)}: 1 cluster")
    return "; ".join(parts)
