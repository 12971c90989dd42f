"""Reports: tables, figures and pages drawn from what the analysis room returns.

Nothing in this room computes a statistic. A number reaches a page only by being copied out of a
frame or a dataclass that an analysis function returned.
"""
