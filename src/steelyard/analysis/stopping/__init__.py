"""Where a policy would have stopped recorded trials, and what that would have been worth."""

from __future__ import annotations

from steelyard.analysis.stopping.calibration import calibrated_threshold
from steelyard.analysis.stopping.comparison import compare_policies
from steelyard.analysis.stopping.outcomes import VERDICTS
from steelyard.analysis.stopping.points import stop_points
from steelyard.analysis.stopping.sensitivity import weight_sensitivity
from steelyard.analysis.stopping.summary import stopping_summary
from steelyard.analysis.stopping.sweep import stopping_sweep

__all__ = [
    "VERDICTS",
    "calibrated_threshold",
    "compare_policies",
    "stop_points",
    "stopping_summary",
    "stopping_sweep",
    "weight_sensitivity",
]
