"""The tables of a study's report: which analyses are asked, in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.comparison import compare
from steelyard.analysis.manipulation import manipulation
from steelyard.analysis.rates import rates
from steelyard.analysis.reliability import reliability
from steelyard.analysis.repeats import repeat_agreement, seeds
from steelyard.report import layouts, notes
from steelyard.report.tables import Column
from steelyard.store.schema import MISSING_POLICIES

if TYPE_CHECKING:
    from steelyard.analysis.evidence import Evidence
    from steelyard.store.declaration import Comparison, Declaration


@dataclass(frozen=True)
class View:
    """A printed excerpt of a table: some rows, some columns, one heading, how to read it."""

    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    note: str = ""


@dataclass(frozen=True)
class ReportTable:
    """One table of a report.

    Parameters
    ----------
    name : str
        The CSV file's name without its ending.
    frame : pandas.DataFrame
        Everything, tidy; this is the CSV file.
    views : tuple of View
        What is printed of it.
    """

    name: str
    frame: pd.DataFrame
    views: tuple[View, ...]


TABLES = (
    "trials",
    "rates",
    "missing_policies",
    "manipulation",
    "applied",
    "comparisons",
    "certificates",
    "reliability",
    "spread",
    "repeats",
)
"""The tables that a report may have, in its order."""


def study_tables(evidence: Evidence, omitted: Collection[str] = ()) -> dict[str, ReportTable]:
    """Return the tables that are meaningful for a study, by name, in the report's order.

    Parameters
    ----------
    evidence : Evidence
    omitted : collection of str, optional
        Names of `TABLES` that are not wanted; they are not computed.
    """
    manipulated = _manipulation(evidence)
    makers: tuple[Callable[[], ReportTable | None], ...] = (
        lambda: _trials(evidence),
        lambda: _rates(evidence),
        lambda: _policies(evidence),
        lambda: manipulated,
        lambda: _applied(evidence, manipulated),
        lambda: _comparisons(evidence, manipulated),
        lambda: _certificates(evidence),
        lambda: _reliability(evidence),
        lambda: _spread(evidence),
        lambda: _repeats(evidence),
    )
    chosen = [make for name, make in zip(TABLES, makers, strict=True) if name not in omitted]
    return {table.name: table for make in chosen if (table := make()) is not None}


def grouping(design: Declaration) -> tuple[str, ...]:
    """Return what a study's rates are grouped by: perturbation, else split, and always arm."""
    if len(design.design.perturbations) > 1:
        return ("perturbation", "arm")
    if design.design.variant_meaning and "variant" not in design.scope:
        return ("variant", "arm")
    return ("arm",)


def foreign_arms(design: Declaration) -> list[str]:
    """Return the arms of other studies that a study compares itself with."""
    sides = [s for c in design.comparisons for s in (c.reference, c.candidate) if ":" in s]
    return list(dict.fromkeys(sides))


def neighbour_arms(evidence: Evidence) -> list[str]:
    """Return every arm of the studies that `foreign_arms` come from.

    Whether a perturbation reached one arm can only be judged beside its siblings.
    """
    studies = dict.fromkeys(
        side.rpartition(":")[0] for side in foreign_arms(evidence.tables.design)
    )
    return [
        f"{study}:{arm}"
        for study in studies
        for arm in evidence.of_study(study).tables.design.design.arms
    ]


def binary_measures(evidence: Evidence) -> list[str]:
    """Return the declared measures that only take the values 0 and 1, the primary one first."""
    values = evidence.frame("measures").dropna(subset="value").groupby("measure")["value"]
    binary = values.agg(lambda column: bool(column.isin([0.0, 1.0]).all()))
    return [name for name in evidence.tables.design.measures.all if binary.get(name, default=False)]


def _trials(evidence: Evidence) -> ReportTable:
    design = evidence.tables.design
    frame = evidence.rates(design.measures.primary, "exclude", ("arm",))
    view = View("Trials", frame, layouts.TRIALS)
    return ReportTable("trials", frame, (view,))


def _rates(evidence: Evidence) -> ReportTable:
    design = evidence.tables.design
    by = grouping(design)
    policy = design.missing.policy
    parts = []
    for measure in binary_measures(evidence):
        parts.append(evidence.rates(measure, policy, by))
        if by[0] == "perturbation":
            parts += _foreign_rates(evidence, measure, policy, by)
    frame = _in_order(pd.concat(parts, ignore_index=True), evidence, by)
    shown = frame[frame["measure"] == design.measures.primary]
    view = View(f"Rates of {design.measures.primary}", shown, layouts.rates_columns(by))
    return ReportTable("rates", frame, (view,))


def _foreign_rates(
    evidence: Evidence, measure: str, policy: str, by: tuple[str, ...]
) -> Iterator[pd.DataFrame]:
    for side in foreign_arms(evidence.tables.design):
        other, arm = evidence.of_arm(side)
        if measure in binary_measures(other):
            frame = other.rates(measure, policy, by)
            yield frame[frame["arm"] == arm].assign(arm=side)


def _in_order(frame: pd.DataFrame, evidence: Evidence, by: tuple[str, ...]) -> pd.DataFrame:
    """Sort by measure, then perturbation and arm as declared, arms of other studies first."""
    design = evidence.tables.design
    orders: dict[str, list[str]] = {
        "measure": list(design.measures.all),
        "perturbation": list(design.design.perturbations),
        "arm": [*neighbour_arms(evidence), *design.design.arms],
    }
    for name in reversed(["measure", *by]):
        if name in orders and name in frame:
            place = frame[name].map({value: i for i, value in enumerate(orders[name])})
            frame = frame.assign(_place=place).dropna(subset="_place")
            frame = frame.sort_values("_place", kind="stable").drop(columns="_place")
    return frame.reset_index(drop=True)


def _policies(evidence: Evidence) -> ReportTable | None:
    design = evidence.tables.design
    parts = [evidence.rates(design.measures.primary, p, ("arm",)) for p in MISSING_POLICIES]
    if not parts[0]["excluded"].sum():
        return None
    frame = _in_order(pd.concat(parts, ignore_index=True), evidence, ("arm",))
    view = View("What a trial without a score counts as", frame, layouts.POLICIES, notes.POLICIES)
    return ReportTable("missing_policies", frame, (view,))


def _manipulation(evidence: Evidence) -> ReportTable | None:
    design = evidence.tables.design
    baseline = design.design.perturbations[0]
    if len(design.design.perturbations) == 1:
        return None
    parts = [manipulation(evidence.tables)]
    for side in neighbour_arms(evidence):
        other, arm = evidence.of_arm(side)
        parts.append(manipulation(other.tables, arm=arm).assign(arm=side))
    frame = _in_order(pd.concat(parts, ignore_index=True), evidence, ("arm",))
    frame = frame[frame["perturbation"] != baseline].reset_index(drop=True)
    known = frame[frame["recorded"] > 0]
    view = View("Did the perturbation happen?", known, layouts.MANIPULATION)
    if known.empty:
        view = View("Did the perturbation happen? Nobody recorded it", frame, layouts.MANIPULATION)
    return ReportTable("manipulation", frame, (view,))


def _known(manipulated: ReportTable | None) -> set[tuple[str, str]]:
    """Return the arms and perturbations of which it is recorded whether they happened."""
    if manipulated is None:
        return set()
    known = manipulated.frame[manipulated.frame["recorded"] > 0]
    return set(zip(known["arm"], known["perturbation"], strict=True))


def _applied(evidence: Evidence, manipulated: ReportTable | None) -> ReportTable | None:
    design = evidence.tables.design
    parts = []
    for side, perturbation in sorted(_known(manipulated)):
        other, arm = evidence.of_arm(side)
        parts += [
            rates(
                other.tables,
                design.measures.primary,
                by=("perturbation", "arm"),
                missing=design.missing.policy,
                population=population,
                arm=arm,
                perturbation=perturbation,
            ).assign(arm=side)
            for population in ("assigned", "applied")
        ]
    if not parts:
        return None
    frame = _in_order(pd.concat(parts, ignore_index=True), evidence, ("perturbation", "arm"))
    view = View("As assigned, and where the perturbation happened", frame, layouts.APPLIED)
    return ReportTable("applied", frame, (view,))


def _comparisons(evidence: Evidence, manipulated: ReportTable | None) -> ReportTable | None:
    design = evidence.tables.design
    parts = [
        part
        for comparison in design.comparisons
        for part in _comparison(evidence, comparison, _known(manipulated))
    ]
    if not parts:
        return None
    frame = pd.concat(parts, ignore_index=True)
    main = frame[(frame["population"] == "assigned") & (frame["case"] == "observed")]
    rest = frame[~frame.index.isin(main.index)]
    views = [
        View("Differences", main, layouts.DIFFERENCES, notes.DIFFERENCES),
        View("Tests and equivalence", main, layouts.TESTS, notes.TESTS),
    ]
    if len(rest):
        title = "The same comparisons under other readings"
        views.append(View(title, rest, layouts.READINGS, notes.READINGS))
    return ReportTable("comparisons", frame, tuple(views))


def _comparison(
    evidence: Evidence, comparison: Comparison, known: set[tuple[str, str]]
) -> Iterator[pd.DataFrame]:
    """Yield a declared comparison, then its bounds and its applied population where they exist."""
    chosen = list(comparison.perturbations) or list(evidence.tables.design.design.perturbations)
    frame = _compare(evidence, comparison, chosen)
    yield frame
    excluded = frame["reference_excluded"] + frame["candidate_excluded"]
    if excluded.sum():
        strata = list(frame.loc[excluded > 0, "perturbation"])
        yield _compare(evidence, comparison, strata, missing="bounds")
    sides = (comparison.reference, comparison.candidate)
    met = [p for p in chosen if any((side, p) in known for side in sides)]
    if met:
        yield _compare(evidence, comparison, met, population="applied")


def _compare(
    evidence: Evidence, comparison: Comparison, perturbations: Iterable[str], **options: Any
) -> pd.DataFrame:
    frame = compare(
        evidence.tables,
        comparison.reference,
        comparison.candidate,
        comparison.measure,
        margin=comparison.margin,
        perturbation=list(perturbations),
        **options,
    )
    frame.insert(0, "comparison", comparison.name)
    return frame


def _certificates(evidence: Evidence) -> ReportTable | None:
    design = evidence.tables.design
    if len(design.design.perturbations) == 1:
        return None
    policies = dict.fromkeys((design.missing.policy, "bounds"))
    measures = [m for m in binary_measures(evidence) if m not in design.measures.harmful]
    if not measures:
        return None
    rows = [
        evidence.certificate(arm, measure, policy).to_row()
        for measure in measures
        for arm in design.design.arms
        for policy in policies
    ]
    frame = pd.DataFrame(rows)
    published = not evidence.frame("claims").empty
    columns = layouts.CERTIFICATES if published else layouts.unpublished(layouts.CERTIFICATES)
    view = View("Certified bounds", frame, columns, notes.CERTIFICATES)
    return ReportTable("certificates", frame, (view,))


def _reliability(evidence: Evidence) -> ReportTable | None:
    if len(evidence.tables.design.design.perturbations) > 1:
        return None
    frame = reliability(evidence.tables)
    if frame["k"].max() < 2:
        return None
    view = View("Reliability", frame, layouts.RELIABILITY)
    return ReportTable("reliability", frame, (view,))


def _spread(evidence: Evidence) -> ReportTable | None:
    """Return mean and standard errors where every task has the same repeats, else None."""
    design = evidence.tables.design
    if len(design.design.perturbations) > 1:
        return None
    by = [name for name in grouping(design) if name != "arm" or len(design.design.arms) > 1]
    parts = []
    for columns in dict.fromkeys((tuple(by), ())):
        frame = seeds(evidence.tables, by=columns)
        labels = frame[list(columns)].agg(" ".join, axis=1) if columns else "all"
        parts.append(frame.drop(columns=list(columns)).assign(group=labels))
    frame = pd.concat(parts, ignore_index=True)
    frame = frame[["group", *(name for name in frame.columns if name != "group")]]
    if not frame["balanced"].all() or frame["n_repeats"].min() < 2:
        return None
    view = View("Two standard errors of the same mean", frame, layouts.SPREAD)
    return ReportTable("spread", frame, (view,))


def _repeats(evidence: Evidence) -> ReportTable | None:
    frame = repeat_agreement(evidence.tables, by=("arm",))
    if not frame["cells"].sum():
        return None
    view = View("What a repeat is worth", frame, layouts.REPEATS)
    return ReportTable("repeats", frame, (view,))
