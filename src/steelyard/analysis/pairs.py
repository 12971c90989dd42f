"""The rows of a comparison: pairs of arms by strata and cases, adjusted together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from steelyard.analysis.contrast import contrast
from steelyard.analysis.names import (
    TrialFilters,
    name_success,
    resolve_by,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import benjamini_hochberg, family_size, holm

if TYPE_CHECKING:
    from steelyard.store.declaration import Comparison
    from steelyard.store.tables import StudyTables

ADJUSTMENTS: Final[dict[str, Callable[[Any], Any]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "none": np.asarray,
}


@dataclass(frozen=True)
class PairQuestion:
    """What is asked of each pair of arms, with every parameter checked."""

    columns: tuple[str, ...]
    measure: str
    policy: str
    population: str
    margin: float | None
    adjust: str
    confidence: float
    threshold: float | None
    monte_carlo: tuple[int, int] | None

    @classmethod
    def of(
        cls,
        tables: StudyTables,
        measure: str | None,
        by: str | Sequence[str],
        missing: str | None,
        *rest: Any,
    ) -> PairQuestion:
        """Check the parameters of :func:`steelyard.analysis.compare`, in its order."""
        name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
        question = cls(resolve_by(by), name, policy, *rest)
        if "arm" in question.columns:
            raise InputError("a comparison is between arms; group by something else")
        if not 0.5 < question.confidence < 1:
            raise InputError(
                f"confidence is {question.confidence}; accepted: above 0.5 and below 1"
            )
        margin = question.margin
        if margin is not None and not (isinstance(margin, int | float) and 0 < margin < 1):
            raise InputError(
                f"margin is {margin!r}; accepted: a difference of rates above 0 and below 1"
            )
        if question.adjust not in ADJUSTMENTS:
            raise InputError(f"adjust is {question.adjust!r}; accepted: {', '.join(ADJUSTMENTS)}")
        return question

    def trials(self, place: StudyTables, arm: str, filters: TrialFilters) -> pd.DataFrame:
        """Return the trials of one side; possibly none."""
        if "arm" in filters:
            raise InputError("a comparison names its arms; the filter arm= has no place here")
        return select(
            place,
            self.measure,
            self.policy,
            self.population,
            threshold=self.threshold,
            empty="return",
            arm=arm,
            **filters,
        )

    def answer(
        self, tables: StudyTables, pairs: Sequence[tuple[str, str, pd.DataFrame, pd.DataFrame]]
    ) -> pd.DataFrame:
        """Return one row per pair, stratum and case; the p-values are adjusted together."""
        parts = []
        for reference, candidate, *sides in pairs:
            margins = Margins.of(tables, self, reference, candidate)
            table = pd.DataFrame(list(self._rows(sides, margins)))
            table = table.assign(reference=reference, candidate=candidate)
            parts.append(sort_by_design(tables, table, self.columns))
        table = _adjusted(pd.concat(parts, ignore_index=True), self.adjust).assign(
            measure=name_success(self.measure, self.threshold),
            missing_policy=self.policy,
            population=self.population,
            level=self.confidence,
        )
        return table[[*self.columns, *_COLUMNS]]

    def _rows(self, sides: Sequence[pd.DataFrame], margins: Margins) -> Iterator[dict[str, Any]]:
        blocks = ("task",) if "perturbation" in self.columns else ("task", "perturbation")
        for key, pair in _strata(sides, self.columns):
            stratum = dict(zip(self.columns, key, strict=True))
            for case, (reference, candidate) in _cases(pair, self.policy):
                row = contrast(
                    reference,
                    candidate,
                    blocks=blocks,
                    confidence=self.confidence,
                    margin=margins.of_stratum(stratum),
                    monte_carlo=self.monte_carlo,
                )
                yield {**stratum, "stratum": _label(key), "case": case} | row


_COLUMNS = (
    "stratum",
    "case",
    "measure",
    "missing_policy",
    "population",
    "reference",
    "candidate",
    *(
        f"{side}_{what}"
        for side in ("reference", "candidate")
        for what in ("intended", "scored", "excluded", "successes", "total", "rate")
    ),
    "pairing",
    "tasks_shared",
    "tasks_reference_only",
    "tasks_candidate_only",
    "difference",
    "newcombe_low",
    "newcombe_high",
    "miettinen_nurminen_low",
    "miettinen_nurminen_high",
    "clustered_difference",
    "clustered_low",
    "clustered_high",
    "p_exact",
    "p_stratified",
    "strata_used",
    "p_sign_flip",
    "p_adjusted",
    "adjustment",
    "family_size",
    "p_monte_carlo",
    "level",
    "margin",
    "smallest_margin",
    "smallest_margin_over_tasks",
    "smallest_margin_independent",
    "verdict",
    "reason",
)


@dataclass(frozen=True)
class Margins:
    """The margin that counts as "the same", given by the caller or declared by the study."""

    everywhere: float | None
    declared: tuple[Comparison, ...]

    @classmethod
    def of(
        cls, tables: StudyTables, question: PairQuestion, reference: str, candidate: str
    ) -> Margins:
        """Take the caller's margin, else the declared comparisons of these two arms."""
        pair = {reference, candidate}
        declared = tuple(
            comparison
            for comparison in tables.design.comparisons
            if comparison.measure == question.measure
            and {comparison.reference, comparison.candidate} == pair
        )
        return cls(question.margin, declared if question.margin is None else ())

    def of_stratum(self, stratum: dict[str, Any]) -> float | None:
        """Return the margin for one row; None when nobody stated one."""
        for comparison in self.declared:
            covered = comparison.perturbations
            if not covered or stratum.get("perturbation") in covered:
                return comparison.margin
        return self.everywhere


def _strata(
    sides: Sequence[pd.DataFrame], columns: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], list[pd.DataFrame]]]:
    """Yield each stratum's key with the trials of both sides, either of them possibly empty."""
    if not columns:
        yield (), list(sides)
        return
    parts = [dict(iter(side.groupby(list(columns), sort=False))) for side in sides]
    for key in dict.fromkeys(key for part in parts for key in part):
        yield key, [part.get(key, side.iloc[:0]) for part, side in zip(parts, sides, strict=True)]


def _cases(
    pair: Sequence[pd.DataFrame], policy: str
) -> Iterator[tuple[str, tuple[pd.DataFrame, pd.DataFrame]]]:
    """Yield the pair once, or in the candidate's worst and best case under ``bounds``."""
    reference, candidate = pair
    if policy != "bounds":
        yield "observed", (reference, candidate)
        return
    yield "worst", (reference.assign(value=reference["best"]), candidate)
    yield "best", (reference, candidate.assign(value=candidate["best"]))


def _label(key: tuple[Any, ...]) -> str:
    return " / ".join(str(part) for part in key) if key else "all"


def _adjusted(table: pd.DataFrame, adjust: str) -> pd.DataFrame:
    """Adjust the headline p-values for the rows of each case."""
    adjusted = pd.Series(np.nan, index=table.index)
    size = pd.Series(0, index=table.index)
    for _, rows in table.groupby("case"):
        p_values = rows["p_stratified"].to_numpy()
        adjusted[rows.index] = ADJUSTMENTS[adjust](p_values)
        size[rows.index] = family_size(p_values)
    return table.assign(p_adjusted=adjusted, adjustment=adjust, family_size=size)
