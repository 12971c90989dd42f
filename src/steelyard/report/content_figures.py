"""The figures of a study's report: which are meaningful, from which table, under which title."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from steelyard.report.content_tables import ReportTable, grouping
from steelyard.report.figures import (
    Drawing,
    difference_figure,
    manipulation_figure,
    rates_figure,
    reliability_figure,
)

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.store.declaration import Declaration


def study_drawings(design: Declaration, tables: dict[str, ReportTable]) -> tuple[Drawing, ...]:
    """Return the figures that say something about this study."""
    found = [
        _rates(design, tables),
        _manipulation(design, tables),
        _differences(design, tables),
        _reliability(design, tables),
        _spread(design, tables),
    ]
    return tuple(drawing for drawing in found if drawing is not None)


def short_names(design: Declaration, sides: Iterable[str]) -> dict[str, str]:
    """Return what the arms of other studies are called in a figure.

    The part of the other study's id that it shares with this one's is left out:
    ``plumbline_parity:react`` is ``parity:react`` in a report of ``plumbline_retry``.
    """
    names = {}
    for side in sides:
        study, _, arm = side.rpartition(":")
        if not study:
            continue
        own, other = design.id.split("_"), study.split("_")
        shared = 0
        while shared < len(other) - 1 and own[: shared + 1] == other[: shared + 1]:
            shared += 1
        names[side] = f"{'_'.join(other[shared:])}:{arm}"
    return names


def _subtitle(design: Declaration, measure: str) -> str:
    policy = {
        "exclude": "Trials without a score are left out.",
        "fail": "Trials without a score count as failures.",
        "bounds": "Trials without a score count as failures, then as successes.",
        "recorded": "Trials count as recorded, whatever their status.",
    }[design.missing.policy]
    what = "" if measure == "success" else f"Success: {measure.replace('_', ' ')}. "
    return f"{what}{policy} 95% intervals."


def _rates(design: Declaration, tables: dict[str, ReportTable]) -> Drawing | None:
    if "rates" not in tables:
        return None
    frame = tables["rates"].views[0].frame
    by = grouping(design)
    if len(frame) < 2:
        return None
    title = {
        "perturbation": "Does success hold under every perturbation?",
        "variant": "How often does each group succeed?",
        "arm": "How often does each arm succeed?",
    }[by[0]]
    one_arm = by[0] == "variant" and len(set(frame["arm"])) == 1
    return rates_figure(
        _shortened(frame, design),
        title=title,
        subtitle=_subtitle(design, design.measures.primary),
        group=None if one_arm or len(by) == 1 else by[0],
        series=by[0] if one_arm else "arm",
    )


def _manipulation(design: Declaration, tables: dict[str, ReportTable]) -> Drawing | None:
    if "manipulation" not in tables or not tables["manipulation"].frame["recorded"].sum():
        return None
    return manipulation_figure(
        _shortened(tables["manipulation"].frame, design),
        title="Did the perturbation reach the agent?",
        subtitle="Trials in which it is known to have happened.",
    )


def _differences(design: Declaration, tables: dict[str, ReportTable]) -> Drawing | None:
    if "comparisons" not in tables:
        return None
    frame = tables["comparisons"].views[0].frame
    short = short_names(design, [*frame["reference"], *frame["candidate"]])
    heads = [
        f"{short.get(candidate, candidate)} \N{MINUS SIGN} {short.get(reference, reference)}"
        f" ({measure.replace('_', ' ')})"
        for reference, candidate, measure in zip(
            frame["reference"], frame["candidate"], frame["measure"], strict=True
        )
    ]
    return difference_figure(
        frame.assign(head=heads),
        title="Is the difference larger than the margin?",
        subtitle="Candidate minus reference, 95% intervals. Arrow: reference to candidate.",
        group="head",
    )


def _reliability(design: Declaration, tables: dict[str, ReportTable]) -> Drawing | None:
    if "reliability" not in tables:
        return None
    return reliability_figure(
        tables["reliability"].frame,
        title="How often do all of k attempts succeed?",
        subtitle=_subtitle(design, design.measures.primary),
    )


def _spread(design: Declaration, tables: dict[str, ReportTable]) -> Drawing | None:
    if "spread" not in tables or len(tables["spread"].frame) < 2:
        return None
    return rates_figure(
        tables["spread"].frame,
        name="spread",
        title="What does the ± describe?",
        subtitle=f"Mean of {design.measures.primary.replace('_', ' ')} and one standard error.",
        group=None,
        series="group",
        panels=("± over repeats", "± over tasks"),
        estimate="mean_over_tasks",
        bars=(("standard_error_over_repeats",), ("standard_error_over_tasks",)),
    )


def _shortened(frame: pd.DataFrame, design: Declaration) -> pd.DataFrame:
    return frame.assign(arm=frame["arm"].replace(short_names(design, frame["arm"])))
