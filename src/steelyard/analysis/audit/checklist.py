"""The audit: every check over one study's tables and claims."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Final

import pandas as pd

from steelyard.analysis.audit.certificates import bound_beside_its_parts, bound_is_the_minimum
from steelyard.analysis.audit.claims import rates_reproduced
from steelyard.analysis.audit.comparability import arms_of_other_studies, confounded_comparisons
from steelyard.analysis.audit.denominators import (
    conflicting_denominators,
    empty_denominators,
    values_without_a_run,
)
from steelyard.analysis.audit.differences import (
    monte_carlo_p_values,
    multiplicity,
    no_difference,
)
from steelyard.analysis.audit.findings import Check, Finding
from steelyard.analysis.audit.independence import clustering, published_intervals
from steelyard.analysis.audit.losses import missing_not_at_random, missing_trials
from steelyard.analysis.audit.manipulation import (
    perturbation_applied,
    perturbation_applied_by_repeat,
)
from steelyard.analysis.audit.provenance import held_out_cases
from steelyard.analysis.audit.repeats import (
    error_over_repeats,
    exchangeable_repeats,
    identical_repeats,
)
from steelyard.analysis.evidence import Evidence

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

CHECKS: Final[tuple[Check, ...]] = (
    perturbation_applied,
    perturbation_applied_by_repeat,
    held_out_cases,
    confounded_comparisons,
    arms_of_other_studies,
    missing_trials,
    missing_not_at_random,
    values_without_a_run,
    conflicting_denominators,
    empty_denominators,
    rates_reproduced,
    clustering,
    published_intervals,
    identical_repeats,
    exchangeable_repeats,
    error_over_repeats,
    bound_is_the_minimum,
    bound_beside_its_parts,
    no_difference,
    monte_carlo_p_values,
    multiplicity,
)
"""The checks in the order in which a reader should meet them: what happened, who counts, what is
one observation, and what was concluded."""

ABOUT_CLAIMS: Final[frozenset[Check]] = frozenset(
    {
        conflicting_denominators,
        empty_denominators,
        rates_reproduced,
        published_intervals,
        bound_is_the_minimum,
        bound_beside_its_parts,
        no_difference,
        monte_carlo_p_values,
        multiplicity,
    }
)
"""The checks of what was published; a study without published numbers is not asked them."""


def audit(tables: StudyTables) -> pd.DataFrame:
    """Hold a study's evidence, and what was published from it, against a checklist.

    The checks are general rules over the tables: none knows a study, an arm or a measure by name.
    Each check's rule and thresholds stand in its docstring (``CHECKS`` lists the functions).

    Parameters
    ----------
    tables : StudyTables
        The study. Comparisons with arms of other studies read those from the same database.

    Returns
    -------
    pandas.DataFrame
        One row per finding, in the order of the checks; every check has at least one, except that
        a study of which nothing was published is not asked the checks in ``ABOUT_CLAIMS``:

        - ``check``: name of the rule;
        - ``subject``: what was checked: an arm, a condition, a claim;
        - ``verdict``: ``pass``, ``caution`` (it may be so, but something that matters is unknown
          or was not shown) or ``fail`` (the evidence contradicts a claim or cannot carry it);
        - ``evidence``: the numbers, in one sentence;
        - ``query``: SQL over the database that shows the rows behind them;
        - ``recommendation``: what to do, empty for a pass.

    Raises
    ------
    SteelyardError
        If the tables hold something that no analysis accepts, such as a rate of a measure with
        values other than 0 and 1.
    """
    return audit_evidence(Evidence(tables))


def audit_evidence(evidence: Evidence) -> pd.DataFrame:
    """Return :func:`audit` of evidence of which some may have been computed already."""
    names = [field.name for field in fields(Finding)]
    asked = CHECKS
    if evidence.frame("claims").empty:
        asked = tuple(check for check in CHECKS if check not in ABOUT_CLAIMS)
    rows = [(check.__name__, *astuple(finding)) for check in asked for finding in check(evidence)]
    return pd.DataFrame(rows, columns=["check", *names])
