"""Measures as gates: what each lets through, whom it catches, and where answers differ in content.

A gate is a measure of 0 and 1. It is not evaluated in a trial that never got so far, and does not
apply to a task in which no trial has a value for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.names import resolve_measure
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import wilson_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

CASE = ["task", "perturbation", "variant", "repeat"]
"""Two trials of these in common are a pair."""

NONE = "none"


def gate_rates(
    tables: StudyTables, gates: Sequence[str] | None = None, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the pass rate of every gate for every arm, by both denominators.

    Parameters
    ----------
    tables : StudyTables
        The study.
    gates : sequence of str, optional
        Measures of 0 and 1; all measures but the primary one, sorted, when absent.
    confidence : float, default 0.95

    Returns
    -------
    pandas.DataFrame
        One row per gate and arm: ``passed``, ``evaluated`` (trials in which the gate was),
        ``applicable`` (trials of tasks to which it applies for anybody, without those that are
        missing as a whole); ``conditional`` = passed / evaluated and ``unconditional`` = passed /
        applicable, where a gate that was not reached counts as failed; Wilson limits of both
        (trials as independent), ``*_low`` and ``*_high``; NaN where the denominator is 0;
        ``level``.

    Raises
    ------
    UnknownNameError
        A gate that no trial has a row for.
    InputError
        A gate with another value than 0 and 1.
    """
    values = _gate_values(tables, gates)
    rows = []
    for (gate, arm), part in values.groupby(["measure", "arm"], sort=False, observed=True):
        evaluated = part["value"].dropna()
        passed = int(evaluated.sum())
        rows.append(
            {
                "gate": str(gate),
                "arm": str(arm),
                "passed": passed,
                "evaluated": len(evaluated),
                "applicable": len(part),
                **_rate("conditional", passed, len(evaluated), confidence),
                **_rate("unconditional", passed, len(part), confidence),
                "level": confidence,
            }
        )
    return pd.DataFrame(rows)


def _rate(name: str, passed: int, total: int, confidence: float) -> dict[str, float]:
    if total == 0:
        nothing = float("nan")
        return {name: nothing, f"{name}_low": nothing, f"{name}_high": nothing}
    interval = wilson_interval(passed, total, confidence)
    return {name: passed / total, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _gate_values(tables: StudyTables, gates: Sequence[str] | None) -> pd.DataFrame:
    """Return arm, case, measure and value for every gate and every trial it applies to."""
    chosen = _chosen(tables, gates)
    trials = tables.frame("trials")
    trials = trials[trials["status"] != "missing"]
    measures = tables.frame("measures")
    measures = measures[measures["measure"].isin(chosen)]
    odd = measures["value"].dropna()
    if not odd.isin([0.0, 1.0]).all():
        wrong = measures.loc[odd[~odd.isin([0.0, 1.0])].index[0]]
        raise InputError(
            f"measure {wrong['measure']!r} is {wrong['value']} in trial {wrong['trial_id']!r}; "
            "a gate is 0 or 1"
        )
    columns = ["trial_id", "arm", *CASE]
    crossed = trials[columns].merge(pd.DataFrame({"measure": chosen}), how="cross")
    joined = crossed.merge(
        measures[["trial_id", "measure", "value"]], how="left", on=["trial_id", "measure"]
    )
    applies = joined.groupby(["measure", "task"])["value"].transform("count") > 0
    joined = joined[applies].copy()
    joined["arm"] = pd.Categorical(joined["arm"], list(tables.design.design.arms), ordered=True)
    joined["measure"] = pd.Categorical(joined["measure"], chosen, ordered=True)
    return joined.sort_values(["measure", "arm", *CASE]).reset_index(drop=True)


def _chosen(tables: StudyTables, gates: Sequence[str] | None) -> list[str]:
    if gates is not None:
        return [resolve_measure(tables, gate) for gate in gates]
    known = {str(name) for name in tables.frame("measures")["measure"]}
    return sorted(known - {tables.design.measures.primary})


def gate_catches(tables: StudyTables, reference: str, *, by: str = "gate") -> pd.DataFrame:
    """Return which gates catch which arms.

    A gate catches an arm when it fails a trial of it whose pair in the reference arm it passes.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference : str
        An arm without a fault.
    by : {"gate", "arm"}, default "gate"
        What a row is about.

    Returns
    -------
    pandas.DataFrame
        By gate: ``gate``, ``false_alarms`` (failures in the reference arm), ``caught`` (trials of
        other arms), ``n_arms`` and ``arms`` that it catches, ``only`` (arms that no other gate
        catches). By arm, without the reference: ``arm``, ``trials``, ``caught`` (trials that some
        gate catches), ``n_gates`` and ``gates`` that catch it. Names are separated by ``", "``,
        ``none`` stands for no name.

    Raises
    ------
    UnknownNameError
        No such arm.
    InputError
        ``by`` is another word, or a measure is no gate.
    """
    _check_arm(tables, reference)
    if by not in ("gate", "arm"):
        raise InputError(f"by is {by!r}; accepted: gate, arm")
    values = _gate_values(tables, None)
    fine = values[(values["arm"] == reference) & (values["value"] == 1.0)]
    failed = values[(values["arm"] != reference) & (values["value"] == 0.0)]
    caught = failed.merge(fine[["measure", *CASE]], on=["measure", *CASE], how="inner")
    gates_of = {
        str(arm): list(dict.fromkeys(part["measure"].astype(str)))
        for arm, part in caught.groupby("arm", observed=True)
    }
    if by == "gate":
        return _by_gate(values, caught, gates_of, reference)
    return _by_arm(values, caught, gates_of, reference)


def _by_gate(
    values: pd.DataFrame,
    caught: pd.DataFrame,
    gates_of: Mapping[str, list[str]],
    reference: str,
) -> pd.DataFrame:
    alarms = values[(values["arm"] == reference) & (values["value"] == 0.0)]
    rows = []
    for gate in values["measure"].cat.categories:
        part = caught[caught["measure"] == gate]
        arms = [arm for arm, gates in gates_of.items() if gate in gates]
        rows.append(
            {
                "gate": gate,
                "false_alarms": int((alarms["measure"] == gate).sum()),
                "caught": len(part),
                "n_arms": len(arms),
                "arms": ", ".join(arms) or NONE,
                "only": ", ".join(arm for arm in arms if len(gates_of[arm]) == 1) or NONE,
            }
        )
    return pd.DataFrame(rows)


def _by_arm(
    values: pd.DataFrame,
    caught: pd.DataFrame,
    gates_of: Mapping[str, list[str]],
    reference: str,
) -> pd.DataFrame:
    rows = []
    for arm in values["arm"].cat.categories:
        if arm == reference:
            continue
        gates = gates_of.get(arm, [])
        rows.append(
            {
                "arm": arm,
                "trials": int(values.loc[values["arm"] == arm, "trial_id"].nunique()),
                "caught": int(caught.loc[caught["arm"] == arm, "trial_id"].nunique()),
                "n_gates": len(gates),
                "gates": ", ".join(gates) or NONE,
            }
        )
    return pd.DataFrame(rows)


def answer_differences(
    tables: StudyTables,
    reference: str,
    *,
    member: str,
    only_differing: bool = False,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return in which members the answers of arms differ in content, not only in verdict.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference : str
        The arm that the others are held against.
    member : str
        The member of a trial's terminal state that holds its answer, an object.
    only_differing : bool, default False
        Leave out the rows in which nothing differs.
    confidence : float, default 0.95

    Returns
    -------
    pandas.DataFrame
        One row per other arm and field that occurs in any answer: ``arm``, ``field``, ``pairs`` (in
        which both arms have an answer), ``unanswered`` (pairs in which one has not), ``differing``,
        ``share`` with Wilson limits ``low`` and ``high`` (pairs as independent; NaN without a
        pair), ``level``. Values are compared exactly, in type as well.

    Raises
    ------
    UnknownNameError
        No such arm.
    """
    _check_arm(tables, reference)
    answers = _answers(tables, member)
    fields = sorted({name for answer in answers["answer"] if answer is not None for name in answer})
    own = answers[answers["arm"] == reference].drop(columns="arm")
    rows = []
    for arm in tables.design.design.arms:
        if arm == reference:
            continue
        other = answers[answers["arm"] == arm].drop(columns="arm")
        pairs = own.merge(other, on=CASE, suffixes=("", "_other"))
        answered = [
            (left, right)
            for left, right in zip(pairs["answer"], pairs["answer_other"], strict=True)
            if left is not None or right is not None
        ]
        rows += [{"arm": arm, **_differences(answered, name, confidence)} for name in fields]
    shown = pd.DataFrame(rows)
    return shown[shown["differing"] > 0].reset_index(drop=True) if only_differing else shown


def _differences(
    pairs: list[tuple[dict[str, Any] | None, dict[str, Any] | None]], name: str, confidence: float
) -> dict[str, Any]:
    both = [(left, right) for left, right in pairs if left is not None and right is not None]
    differing = sum(_text(left, name) != _text(right, name) for left, right in both)
    rate = _rate("share", differing, len(both), confidence)
    return {
        "field": name,
        "pairs": len(both),
        "unanswered": len(pairs) - len(both),
        "differing": differing,
        "share": rate["share"],
        "low": rate["share_low"],
        "high": rate["share_high"],
        "level": confidence,
    }


def _answers(tables: StudyTables, member: str) -> pd.DataFrame:
    trials = tables.frame("trials")[["trial_id", "arm", *CASE]]
    states = tables.frame("states")[["trial_id", "state"]]
    joined = trials.merge(states, on="trial_id", how="left")

    def answer(text: Any) -> dict[str, Any] | None:
        found = json.loads(text).get(member) if isinstance(text, str) else None
        return found if isinstance(found, dict) else None

    joined["answer"] = pd.Series([answer(text) for text in joined["state"]], dtype=object)
    return joined.drop(columns=["trial_id", "state"])


def _text(answer: Mapping[str, Any], name: str) -> str:
    """Return a member as the one text that stands for it; an absent one is no JSON text."""
    return json.dumps(answer[name], sort_keys=True) if name in answer else "absent"


def _check_arm(tables: StudyTables, arm: str) -> None:
    arms = tables.design.design.arms
    if arm not in arms:
        raise UnknownNameError("arm", str(arm), arms, f"study {tables.study}")
