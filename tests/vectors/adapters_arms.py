"""Adapters of arms and perturbations to Plumbline's vectors.

The vectors record Plumbline 0.3.0, so the executors run with ``compatibility="plumbline"``. Texts
of the vectors (a model's reply, an injected error) go in as they are; ours come out by their codes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from invoice_domains import accounts_payable_arms, procure_to_pay_arms, requests
from steelyard.harness.arms import (
    Answer,
    ArmError,
    Call,
    FreeForm,
    InterpretationError,
    Turn,
    TurnLimitError,
)
from steelyard.harness.perturbations.faults import Fault
from steelyard.harness.protocols import Task, TrialSetup
from steelyard.harness.replies import is_transient, json_in, object_in, texts_in
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial
from vectors.adapters_domains import DOMAINS, REMARKS, error_code

ARMS = {"ap": procure_to_pay_arms, "ap-full": accounts_payable_arms}
TURNS = {"ap": 12, "ap-full": 16}
RETRIES = {"plan_execute_naive": 0, "plan_execute": 3}
ERRORS = {TurnLimitError: "max_turns", InterpretationError: "interpretation_failed"}


class Script:
    """An agent that says its lines, the last one again and again."""

    def __init__(self, lines: Sequence[Mapping[str, Any]], _setup: TrialSetup) -> None:
        self.lines = list(lines)

    def turn(self, _answers: Sequence[Answer]) -> Turn:
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        calls = [Call(call["tool"], call["args"]) for call in line.get("calls", ())]
        return Turn(line.get("text", ""), calls)


def task_of(case: Mapping[str, Any]) -> Task:
    tasks = {task.id: task for task in DOMAINS[case["domain"]].tasks()}
    return tasks[case["task_id"]]


def step(row: Step, injected: str | None) -> list[Any]:
    status = "ok"
    if row.error is not None:
        code = f"injected:{injected}" if row.error == injected else error_code(row.error)
        status = f"error:{code}"
    elif row.name.startswith("blocked:"):
        status = f"refused:{row.output['code']}"
    arguments = row.arguments or {}
    kept = {name: value for name, value in arguments.items() if name not in REMARKS}
    return [row.kind, row.name, status, kept]


def played(case: Mapping[str, Any], arm: Any) -> dict[str, Any]:
    """Run an arm on a case's task with its fault, and return what the vectors look at."""
    domain, task, fault = DOMAINS[case["domain"]], task_of(case), case["fault"]
    world = domain.world(task)
    key = TrialKey(case["arm"], task.id, "baseline", "0", 0)
    setup = TrialSetup(key, task, Toolbox(world.tools()))
    if fault is not None:
        Fault(setup, fault["tool"], fault["error"], fault["fail_calls"])
    error = None
    try:
        arm.run(setup)
    except ArmError as failure:
        error = ERRORS[type(failure)]
    trial = Trial(key, steps=setup.toolbox.steps)
    measures = domain.measures(trial, world.state(), domain.truth(task))
    return {
        "steps": [step(row, fault and fault["error"]) for row in trial.steps],
        "error": error,
        "ledger": world.ledger(task.id),
        "outcome_ok": bool(measures["outcome_correct"]),
        "violations": [row["rule"] for row in domain.violations(trial, task)],
        "critical_ok": bool(measures["critical_conformant"]),
    }


def scripted_arm(case: Mapping[str, Any]) -> dict[str, Any]:
    veto = ARMS[case["domain"]].veto_payment if case["arm"] == "guarded" else None
    arm = FreeForm(partial(Script, case["turns"]), TURNS[case["domain"]], veto)
    return played(case, arm)


def executor(case: Mapping[str, Any]) -> dict[str, Any]:
    reply = case["model_reply"]
    text = reply if isinstance(reply, str) else json.dumps(reply)
    arm = ARMS[case["domain"]].Executor(
        RETRIES[case["arm"]], "plumbline", lambda _setup: requests.invoice_in_reply(text)
    )
    return played(case, arm)


def transient(case: Mapping[str, Any]) -> bool:
    return is_transient(case["error"])


def model_json(case: Mapping[str, Any]) -> Any:
    return json_in(case["text"])


def model_object(case: Mapping[str, Any]) -> Any:
    return object_in(case["text"])


def model_texts(case: Mapping[str, Any]) -> list[str]:
    return texts_in(case["text"])


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("plumbline", "run_scripted_arm"): scripted_arm,
    ("plumbline", "run_arm"): executor,
    ("plumbline", "is_transient"): transient,
    ("plumbline", "parse_model_json"): model_json,
    ("plumbline", "parse_object"): model_object,
    ("plumbline", "parse_string_list"): model_texts,
}
