"""``steelyard handoff gates``: what each gate let pass, of the trials that were run by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit
from steelyard.errors import InputError, shown_file

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.report.tables import Column
    from steelyard.store import StudyTables

File = Annotated[
    Path, typer.Argument(metavar="DATABASE", help="A file that --database of a run was given.")
]


def gates(
    database: File,
    confidence: options.Confidence = 0.95,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Show what each gate let pass, of trials in a database.

    Of each agent the gates that let least pass come first. Rates have two denominators: trials in
    which the gate was evaluated, and all trials of scenarios to which it applies.
    """
    check_format(as_json, as_csv)
    if not database.exists():
        raise InputError(
            f"{shown_file(database)}: there is no such file; --database of handoff import, export "
            "or roundtrip makes it"
        )
    from steelyard.analysis.gates import gate_names, gate_rates
    from steelyard.harness.handoff.tables import STUDY
    from steelyard.store import StudyTables, connect

    with connect(database) as connection:
        tables = StudyTables(connection, STUDY)
        primary = tables.design.measures.primary
        if tables.frame("measures").empty:
            raise InputError(f"{shown_file(database)}: no trial of {STUDY} has a result yet")
        chosen = [primary, *gate_names(tables)]
        frame = gate_rates(tables, chosen, confidence=confidence, rows_apply=True)
        frame = _worst_first(_with_capability(tables, frame), primary)
        caption = _caption(tables, primary)
    result = Result("handoff gates", frame, _columns(frame), caption, STUDY, ["arm", "capability"])
    emit(result, as_json=as_json, as_csv=as_csv)


def _with_capability(tables: StudyTables, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with what the arm did: an arm holds trials of one capability."""
    trials = tables.frame("trials")
    did = trials["task"].str.partition(" ")[0]
    capability = dict(zip(trials["arm"], did, strict=True))
    return frame.assign(capability=frame["arm"].map(capability))


def _worst_first(frame: pd.DataFrame, primary: str) -> pd.DataFrame:
    """Return the rows by arm, the primary measure first and then the gates that let least pass."""
    arms = {arm: place for place, arm in enumerate(dict.fromkeys(frame["arm"]))}
    places = frame.assign(
        place=frame["arm"].map(arms), is_gate=frame["gate"] != primary, name=frame["gate"]
    )
    by = ["place", "is_gate", "unconditional", "name"]
    return frame.loc[places.sort_values(by).index].reset_index(drop=True)


def _columns(frame: pd.DataFrame) -> list[Column]:
    from steelyard.report.tables import column

    level = f"{100 * frame['level'].iloc[0]:g}%"
    return [
        column("gate", "gate"),
        column("passed of\nevaluated", "passed", "evaluated", kind="fraction"),
        column("rate", "conditional", kind="rate"),
        column(level, "conditional_low", "conditional_high", kind="rate interval"),
        column("passed\nof all", "passed", "applicable", kind="fraction"),
        column("rate", "unconditional", kind="rate"),
        column(level, "unconditional_low", "unconditional_high", kind="rate interval"),
    ]


def _caption(tables: StudyTables, primary: str) -> str:
    trials = tables.frame("trials")
    missing = trials[trials["status"] == "missing"]
    return (
        f"Trials: {len(trials):,} intended, {len(trials) - len(missing):,} with a result, "
        f"{len(missing):,} without one.\n"
        + _without_a_result(missing, trials["arm"].nunique())
        + f"{primary}: nothing was wrong with the trial. Below it the gates, the worst first.\n"
        "Evaluated: trials that got as far as the gate. All: trials of scenarios to which it "
        "applies; one that did not get so far counts as not passed.\n"
        "Limits: Wilson, trials as independent. Repeats of one scenario are not: the clustered "
        "limits in --json take scenarios as the unit."
    )


def _without_a_result(missing: pd.DataFrame, arms: int) -> str:
    """Return whose trials are missing and where they are counted; nothing if there are none."""
    if missing.empty:
        return ""
    counts = missing.groupby("arm", sort=False).size()
    whose = "".join(f"  {number:,} of {arm}\n" for arm, number in counts.items())
    blocked = int(missing["error"].notna().sum())
    return (
        f"{blocked:,} because the agent's sandbox could not start, {len(missing) - blocked:,} not "
        "run yet.\n"
        "Without a result: in no rate; `lowest` and `highest` in --json count them as failed and "
        "as passed, as does `steelyard rates --missing bounds`.\n" + (whose if arms > 1 else "")
    )
