"""The files of the report: what the template and the drawings make of the committed tables."""

from __future__ import annotations

from pathlib import Path

import cells
import decisions
import findings
import pandas as pd
import procedures
from pictures import coverage_figure, rejections_figure

from steelyard.report.render import environment
from steelyard.report.tables import csv_text

ROOT = Path(__file__).resolve().parents[2]


def read_tables(folder: Path) -> findings.Tables:
    """Read the tables that were simulated or summed."""
    return {name: pd.read_csv(folder / f"{name}.csv") for name in findings.PROMISES}


def report_files(folder: Path) -> dict[str, bytes]:
    """Return the report, its figures and the summary, by path below ``reports/calibration``."""
    tables = read_tables(folder)
    summary = findings.summary(tables)
    drawings = [coverage_figure(tables), rejections_figure(tables)]
    template = environment(ROOT).get_template("calibration/report.md.j2")
    text = template.render(
        summary=_rows(summary),
        missing=_rows(findings.missing(summary)),
        keeping=findings.keeping(summary),
        samples=_rows(_samples(tables)),
        figures={drawing.name: drawing for drawing in drawings},
        facts=_facts(),
        **{name: _rows(table) for name, table in _short_tables(tables).items()},
    )
    files = {"report.md": text.encode(), "tables/summary.csv": csv_text(summary).encode()}
    return files | {f"figures/{d.name}.svg": d.svg.encode() for d in drawings}


def _short_tables(tables: findings.Tables) -> dict[str, pd.DataFrame]:
    equivalence = tables["equivalence"].assign(
        kind=tables["equivalence"]["model"] + ", " + tables["equivalence"]["effects"]
    )
    return {
        "by_tasks": findings.by_tasks(tables),
        "unequal": findings.unequal_sizes(tables),
        "by_rate": findings.by_rate(tables),
        "by_repeats": findings.by_repeats(tables),
        "exact": findings.exact_by_size(tables),
        "by_test": findings.by_test(tables),
        "equivalence": findings.largest(equivalence, ["procedure", "kind"], "equivalent_rate"),
        "families": tables["families"],
        "bounds": findings.largest(tables["bounds"], ["procedure", "case", "model"], "above_rate"),
        "exact_bounds": findings.largest(
            tables["exact_bounds"], ["case", "perturbations"], "above_rate"
        ),
        "exact_verdicts": findings.largest(
            tables["exact_verdicts"], ["case", "wrong_verdict"], "wrong_rate"
        ),
        "pass_hat": findings.shape_of(tables["pass_hat_k"]),
        "bootstrap": findings.shape_of(tables["bootstrap"]),
    }


def _facts() -> dict[str, object]:
    """Return the constants of the simulation that the report names."""
    return {
        "errors": findings.ERRORS,
        "confidence": findings.CONFIDENCE,
        "tail": findings.TAIL,
        "level": findings.LEVEL,
        "working": cells.WORKING,
        "unequal": cells.UNEQUAL,
        "resamples": procedures.RESAMPLES,
        "shift": decisions.SHIFT,
        "kinds": findings.KINDS,
    }


def _samples(tables: findings.Tables) -> pd.DataFrame:
    """Return cells, samples and Monte-Carlo standard error, in points, of every simulated table."""
    rows = []
    for name, promises in findings.PROMISES.items():
        if "samples" in tables[name]:
            counts, level = tables[name], promises[0].level
            samples = int(counts["samples"].max())
            columns = [column for column in findings.WHERE if column in counts]
            rows.append(
                {
                    "table": name,
                    "cells": len(counts[columns].drop_duplicates()),
                    "samples": samples,
                    "level": level,
                    "standard_error": procedures.standard_error(level, samples),
                }
            )
    return pd.DataFrame(rows)


def _rows(table: pd.DataFrame) -> list[dict[str, object]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
