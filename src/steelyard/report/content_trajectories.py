"""The part of a report on what the trials did, for a study that holds their steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.attestation import attest_judgements
from steelyard.analysis.behaviour_shift import behaviour_shift
from steelyard.analysis.conformance import conformance_of_judgements
from steelyard.analysis.consensus import consensus
from steelyard.analysis.failed_calls import failed_calls
from steelyard.analysis.first_divergence import first_divergence
from steelyard.analysis.judgements import recorded_judgements
from steelyard.analysis.path_map import PathMap, path_map
from steelyard.analysis.readings import AS_PUBLISHED, TOOK_EFFECT, Readings, equivalence_readings
from steelyard.analysis.similarity import similarity
from steelyard.analysis.similarity_tests import similarity_test
from steelyard.analysis.step_rates import step_rates
from steelyard.report import layouts_trajectories as layouts
from steelyard.report.content_tables import ReportTable, View
from steelyard.report.drawing import Drawing
from steelyard.report.figures import consensus_figure, path_map_figure, rates_figure
from steelyard.report.layouts import unpublished

if TYPE_CHECKING:
    from steelyard.analysis.evidence import Evidence
    from steelyard.store.declaration import Comparison

_SCORABLE = ("exclude", "recorded")


@dataclass(frozen=True)
class Trajectories:
    """What the trials of a study did.

    Parameters
    ----------
    tables : dict of str to ReportTable
        By name, in the order of the report.
    drawings : tuple of Drawing
        In the order of the report.
    """

    tables: dict[str, ReportTable]
    drawings: tuple[Drawing, ...]


def study_trajectories(evidence: Evidence) -> Trajectories | None:
    """Return the tables and figures about trajectories, or None for a study without steps.

    A study whose policy gives trials without a result a value (``fail``, ``bounds``) is shown
    with its completed trials: a trial that has no steps took no path.
    """
    if evidence.frame("steps").empty:
        return None
    policy = evidence.tables.design.missing.policy
    missing = policy if policy in _SCORABLE else "exclude"
    readings = _readings(evidence, missing)
    paths = path_map(evidence.tables, missing=missing)
    steps = consensus(evidence.tables, by="arm", missing=missing)
    found = [
        *_equivalence(readings, published=not evidence.frame("claims").empty),
        *_behaviour(evidence, missing, paths, steps),
        *_rules(evidence, missing),
    ]
    return Trajectories(
        tables={table.name: table for table in found},
        drawings=tuple(_drawings(readings, paths, steps)),
    )


def own_comparison(evidence: Evidence) -> Comparison | None:
    """Return the first declared comparison of two arms of the study itself."""
    comparisons = evidence.tables.design.comparisons
    return next((c for c in comparisons if ":" not in c.reference + c.candidate), None)


def _readings(evidence: Evidence, missing: str) -> Readings | None:
    comparison = own_comparison(evidence)
    if comparison is None:
        return None
    return equivalence_readings(
        evidence.tables, comparison.reference, comparison.candidate, missing=missing
    )


def _equivalence(readings: Readings | None, *, published: bool) -> Iterator[ReportTable]:
    if readings is None:
        return
    questions, bounds = readings.questions, readings.bounds
    spelled = questions.assign(question=questions["question"].str.replace("_", " "))
    title = "Does the replacement do what the incumbent does?"
    yield ReportTable("equivalence", questions, (View(title, spelled, layouts.QUESTIONS),))
    columns = layouts.BOUNDS if published else unpublished(layouts.BOUNDS)
    yield _table("equivalence_bounds", "Bounds and verdicts", bounds, columns)
    by = readings.by_perturbation
    yield ReportTable(
        "equivalence_by_perturbation",
        by,
        (View("The same by perturbation", by, layouts.BY_PERTURBATION),),
    )
    found = readings.divergences
    at_a_step = found["step_index"].astype("Int64").where(found["kind"] != "outcome")
    shown = found.assign(step_index=at_a_step)
    theirs, ours = (shown[shown["reading"] == name] for name in (AS_PUBLISHED, TOOK_EFFECT))
    title = "Where the replacement's calls differ"
    views = [View(f"{title}: {TOOK_EFFECT}", ours, layouts.DIVERGENCES)]
    if len(theirs):
        first = View(f"{title}: {AS_PUBLISHED}", theirs, layouts.PUBLISHED_DIVERGENCES)
        views.insert(0, first)
    yield ReportTable("divergences", found, tuple(views))


def _behaviour(
    evidence: Evidence, missing: str, paths: PathMap, steps: pd.DataFrame
) -> Iterator[ReportTable]:
    """Yield what the calls were, where they part, and what goes with the outcome."""
    tables = evidence.tables
    failed = failed_calls(tables, missing=missing)
    if len(failed):
        yield _table("failed_calls", "Calls that failed", failed, layouts.FAILED_CALLS)
    yield ReportTable("consensus", steps, ())
    yield _step_rates(evidence, missing)
    yield _table("paths", "The paths of each task", paths.paths, layouts.PATHS)
    yield ReportTable("path_trials", paths.trials, ())
    yield ReportTable("path_similarity", paths.similarities, ())
    alike = similarity(tables, missing=missing)
    shown = alike[alike["pairs"] > 0]
    yield ReportTable(
        "similarity",
        alike,
        (View("Similarity of two trials of a task", shown, layouts.SIMILARITY),),
    )
    yield _table(
        "similarity_tests",
        "Do trials with one outcome resemble each other?",
        similarity_test(tables, missing=missing),
        layouts.SIMILARITY_TESTS,
    )
    if len(tables.design.design.perturbations) > 1:
        yield _table(
            "behaviour_shift",
            "Does a perturbation move what an arm does?",
            behaviour_shift(tables, missing=missing),
            layouts.SHIFT,
        )
    yield _table(
        "first_divergence",
        "Failures by the step at which a trial first left the successful path",
        first_divergence(tables, missing=missing),
        layouts.FIRST_DIVERGENCE,
    )


def _step_rates(evidence: Evidence, missing: str) -> ReportTable:
    """Return every rate, and print those of calls that were dropped or added at all."""
    frame = step_rates(evidence.tables, missing=missing)
    happened = frame["event"].isin(["dropped", "extra"]) & (frame["count"] > 0)
    title = "Calls that were dropped or added, of those the usual path has"
    return ReportTable("step_rates", frame, (View(title, frame[happened], layouts.STEP_RATES),))


def _rules(evidence: Evidence, missing: str) -> Iterator[ReportTable]:
    """Yield rules and controls, where the study declares them and recorded how they were kept."""
    tables = evidence.tables
    recorded = set(evidence.frame("measures")["measure"])
    rules = [f"upheld:{rule}" for rule in tables.design.rules]
    needed = {"conformant", "critical_conformant"}
    if not recorded.intersection(rules) or not recorded.issuperset(needed):
        return
    arms = list(dict.fromkeys(evidence.trials_in_scope()["arm"]))
    judged = {arm: recorded_judgements(tables, arm, missing) for arm in arms}
    order = tables.design.design.perturbations
    kept = [
        conformance_of_judgements(found, perturbations=order, missing=missing).to_frame()
        for found in judged.values()
    ]
    title = "How often each rule was kept"
    yield _table("conformance", title, pd.concat(kept, ignore_index=True), layouts.CONFORMANCE)
    controls = tables.design.controls
    if not controls:
        return
    tested = [
        _controls(attest_judgements(found, controls, perturbations=order), arm)
        for arm, found in judged.items()
    ]
    title = "Controls, tested as an auditor would"
    yield _table("controls", title, pd.concat(tested, ignore_index=True), layouts.CONTROLS)


def _controls(frame: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return the tested controls of one arm, their lists as text, without the list of trials."""
    found = frame.drop(columns="trials").assign(
        perturbations=[_counts(counts) for counts in frame["perturbations"]],
        untested_rules=[", ".join(rules) for rules in frame["untested_rules"]],
    )
    found.insert(0, "arm", arm)
    return found


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _table(name: str, title: str, frame: pd.DataFrame, columns: Any) -> ReportTable:
    return ReportTable(name, frame, (View(title, frame, columns),))


def _drawings(readings: Readings | None, paths: PathMap, steps: pd.DataFrame) -> Iterator[Drawing]:
    if readings is not None and len(set(readings.by_perturbation["perturbation"])) > 1:
        by = readings.by_perturbation
        yield rates_figure(
            by[by["question"] == "path"],
            name="same_calls",
            title="Do the two arms make the same calls?",
            subtitle="Pairs of trials of one condition with the same calls in the same order. "
            "95% intervals.",
            group="perturbation",
            series="reading",
            counted="agree/n",
        )
    yield consensus_figure(
        steps,
        title="At which step do trials leave the usual path?",
        subtitle="Columns: the calls that most trials of the task make. Only calls that took "
        "effect count.",
    )
    yield path_map_figure(
        paths.trials,
        paths.similarities,
        title="Do the trials of a task make the same calls?",
        subtitle="Every trial against every other of its task, by the calls that took effect. "
        "A black line separates arms.",
    )
