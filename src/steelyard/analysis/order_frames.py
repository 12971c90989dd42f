"""The calls of a check as tables, for DuckDB, Parquet or CSV."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pandas as pd

from steelyard.analysis.order_pairs import PairEffect
from steelyard.analysis.order_runs import RunLog

RUN_COLUMNS = (
    "call",
    "order_index",
    "source",
    "order",
    "repeat",
    "passed",
    "rules_reported",
    "meaning",
    "fingerprint",
    "result_bytes",
)
RULE_RUN_COLUMNS = ("call", "rule_id", "place", "passed", "reason_code")


def pairs_frame(effects: Sequence[PairEffect]) -> pd.DataFrame:
    """Return one row per pair of rules, in the order given."""
    columns = [field.name for field in dataclasses.fields(PairEffect)]
    return pd.DataFrame([effect.to_row() for effect in effects], columns=columns)


def runs_frame(log: RunLog) -> pd.DataFrame:
    """Return one row per call, in sequence.

    Returns
    -------
    pandas.DataFrame
        ``call`` from 1; ``order_index`` and ``source`` (what the order was evaluated for);
        ``order`` (ids of the rules, joined by spaces); ``repeat`` from 1; ``passed`` and
        ``rules_reported`` of the result; ``meaning`` (calls with one number gave the same passes,
        reasons and reported rules; numbered as they appeared); ``fingerprint`` (SHA-256 of the
        canonical result) and ``result_bytes``.
    """
    reader, design = log.caller.reader, log.design
    texts = [" ".join(log.rule_ids[position] for position in order) for order in design.orders]
    meanings: dict[tuple[int, ...], int] = {}
    prints = {numbers: reader.fingerprint(numbers) for numbers in {r.numbers for r in log.runs}}
    rows = [
        (
            run.call,
            run.order_index,
            design.sources[run.order_index],
            texts[run.order_index],
            run.repeat,
            reader.passed(run.numbers),
            len(run.numbers),
            meanings.setdefault(tuple(sorted(run.numbers)), len(meanings)),
            prints[run.numbers],
            run.result_bytes,
        )
        for run in log.runs
    ]
    return pd.DataFrame(rows, columns=list(RUN_COLUMNS))


def rule_runs_frame(log: RunLog) -> pd.DataFrame:
    """Return one row per call and reported rule.

    Returns
    -------
    pandas.DataFrame
        ``call``; ``rule_id``; ``place`` of the rule in the order that was asked for, from 0;
        ``passed`` and ``reason_code``. In the sequence of the calls and of their results.
    """
    rows = []
    for run in log.runs:
        order = log.design.orders[run.order_index]
        for number in run.numbers:
            row = log.rows[number]
            place = order.index(row.position)
            rule_id = log.rule_ids[row.position]
            rows.append((run.call, rule_id, place, row.passed, row.reason_code))
    return pd.DataFrame(rows, columns=list(RULE_RUN_COLUMNS))
