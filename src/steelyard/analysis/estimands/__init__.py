"""Named questions with one answer each: what a pinned number is a number of.

A pin names an estimand and its parameters; :func:`compute` answers it from the tables. The
answers come from the same analyses that a user calls, so a reproduced pin is a test of those.
"""

from __future__ import annotations

from steelyard.analysis.estimands import (
    answers,
    certificates,
    counts,
    decisions,
    differences,
    proportions,
    replacement,
    spread,
    trajectories,
)
from steelyard.analysis.estimands.registry import FIGURES, Computed, compute, estimand_names

__all__ = ["FIGURES", "Computed", "compute", "estimand_names"]

# Importing a module registers its estimands; named here so that none looks unused.
_REGISTERED = (
    answers,
    certificates,
    counts,
    decisions,
    differences,
    proportions,
    replacement,
    spread,
    trajectories,
)
