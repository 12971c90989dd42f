"""One study's tables and the analyses of them, each computed once.

Pins and audits ask hundreds of questions of the same few tables. This class remembers what has
been read and computed, for as long as the caller keeps it; it holds no state of its own, so two
questions in either order get the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from steelyard.analysis.certificate import Certificate, certify
from steelyard.analysis.names import DIMENSIONS, sort_by_design
from steelyard.analysis.rates import rates
from steelyard.analysis.selection import select

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

T = TypeVar("T")


class Evidence:
    """The evidence of one study.

    Parameters
    ----------
    tables : StudyTables
        The study's tables. They must not change while this object is in use.

    Attributes
    ----------
    tables : StudyTables
        As given.
    """

    def __init__(self, tables: StudyTables) -> None:
        self.tables = tables
        self._known: dict[Hashable, Any] = {}
        self._studies: dict[str, Evidence] = {tables.study: self}

    @property
    def study(self) -> str:
        """The study's id."""
        return str(self.tables.study)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what ``compute`` gave the first time it was asked for under ``key``."""
        if key not in self._known:
            self._known[key] = compute()
        result: T = self._known[key]
        return result

    def of_study(self, study: str) -> Evidence:
        """Return the evidence of another study in the same database, this one for its own id."""
        if study not in self._studies:
            other = Evidence(type(self.tables)(self.tables.connection, study))
            other._studies = self._studies
            self._studies[study] = other
        return self._studies[study]

    def of_arm(self, arm: str) -> tuple[Evidence, str]:
        """Split ``"study:arm"`` or ``"arm"`` into the evidence that holds the arm and its name."""
        study, found, name = arm.rpartition(":")
        return (self.of_study(study), name) if found else (self, arm)

    def frame(self, table: str) -> pd.DataFrame:
        """Return one table of the study, totally sorted; callers must not change it."""
        return self.once(("frame", table), lambda: self.tables.frame(table))

    def trials_in_scope(self) -> pd.DataFrame:
        """Return the table ``trials`` within the study's declared scope, whatever their status.

        Rows are in the study's order of arms and perturbations.
        """
        trials = self.frame("trials")
        for column, names in dict(self.tables.design.scope).items():
            accepted = [names] if isinstance(names, str) else list(names)
            trials = trials[trials[column].astype(str).isin(accepted)]
        return sort_by_design(self.tables, trials, (*DIMENSIONS, "trial_id"))

    def rates(self, measure: str, missing: str, by: tuple[str, ...]) -> pd.DataFrame:
        """Return :func:`steelyard.analysis.rates` for one measure, policy and grouping."""
        return self.once(
            ("rates", measure, missing, by),
            lambda: rates(self.tables, measure, missing=missing, by=by),
        )

    def trials(self, measure: str, missing: str) -> pd.DataFrame:
        """Return :func:`steelyard.analysis.selection.select` for one measure and policy."""
        return self.once(
            ("trials", measure, missing),
            lambda: select(self.tables, measure, missing, binary=False),
        )

    def certificate(self, arm: str, measure: str, missing: str) -> Certificate:
        """Return :func:`steelyard.analysis.certify` for one arm, measure and policy."""
        return self.once(
            ("certificate", arm, measure, missing),
            lambda: certify(self.tables, arm, measure, missing=missing),
        )
