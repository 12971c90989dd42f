"""The figures of the reports; each takes a frame of the analysis room and only draws it."""

from __future__ import annotations

from steelyard.report.drawing import Drawing
from steelyard.report.figures_consensus import consensus_figure
from steelyard.report.figures_differences import difference_figure
from steelyard.report.figures_manipulation import manipulation_figure
from steelyard.report.figures_path_map import path_map_figure
from steelyard.report.figures_rates import rates_figure
from steelyard.report.figures_reliability import reliability_figure
from steelyard.report.figures_stopping import stopping_sweep_figure

__all__ = [
    "Drawing",
    "consensus_figure",
    "difference_figure",
    "manipulation_figure",
    "path_map_figure",
    "rates_figure",
    "reliability_figure",
    "stopping_sweep_figure",
]
