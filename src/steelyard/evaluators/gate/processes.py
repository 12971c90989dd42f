"""Each evaluator in a process of its own, ended when its time is over.

The child gets the context as JSON and validates it again. Starting a process takes far longer
than judging, so that the clock runs only from the moment when all children are ready.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any

from steelyard.evaluators.gate.compatibility import Compatibility
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.hearing import Hearing, collected, failure, judged
from steelyard.evaluators.gate.registry import EVALUATORS, Evaluator
from steelyard.evaluators.gate.results import EvaluatorError, EvaluatorResult, read_result
from steelyard.evaluators.gate.settings import GateSettings
from steelyard.evaluators.gate.situation import Situation, situation_of

START_SECONDS = 20.0
"""Time to start and to read the context, outside every limit."""

_READY = "ready"


@dataclass(slots=True)
class _Child:
    """A process and its line."""

    evaluator: Evaluator
    process: Any
    line: Connection

    def wait_until_ready(self) -> None:
        """Wait for its first message; a child that fails to start is noticed later."""
        if self.line.poll(START_SECONDS):
            try:
                self.line.recv()
            except EOFError:
                return

    def answer(self, seconds: float) -> EvaluatorResult | EvaluatorError:
        """Return what it says within a time."""
        try:
            if not self.line.poll(seconds):
                return failure(self.evaluator, "timeout", "no answer within the time limit")
            return _received(self.evaluator, self.line.recv())
        except (EOFError, OSError):
            return failure(self.evaluator, "crash", "its process ended without an answer")

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.line.close()


def hear_in_processes(situation: Situation, evaluators: Sequence[Evaluator]) -> Hearing:
    """Ask every evaluator in a process; see the module.

    Parameters
    ----------
    situation : Situation
        With the eligible rules.
    evaluators : sequence of Evaluator
        Built-in ones: a child can import no others.
    """
    rules = {"policy_rules": list(situation.rules)}
    arguments = (
        situation.context.model_copy(update=rules).model_dump_json(),
        situation.settings.model_dump_json(),
        situation.compatibility,
    )
    children: list[_Child] = []
    try:
        for evaluator in evaluators:
            children.append(_start(evaluator, arguments))  # noqa: PERF401 (all of them are ended)
        for child in children:
            child.wait_until_ready()
        started = time.monotonic()
        for child in children:
            _send(child.line)
        answers: list[Callable[[float], Any]] = [child.answer for child in children]
        return collected(situation, evaluators, answers, started)
    finally:
        for child in children:
            child.end()


def _start(evaluator: Evaluator, arguments: tuple[str, str, Compatibility]) -> _Child:
    machinery = multiprocessing.get_context("spawn")
    ours, theirs = machinery.Pipe()
    process = machinery.Process(
        target=_judge, args=(theirs, evaluator.name, *arguments), daemon=True
    )
    process.start()
    theirs.close()
    return _Child(evaluator, process, ours)


def _send(line: Connection) -> None:
    try:
        line.send("go")
    except OSError:
        return  # it has ended already; its answer will say so


def _judge(
    line: Connection, name: str, context: str, settings: str, compatibility: Compatibility
) -> None:
    """Run one evaluator in the child."""
    situation = situation_of(
        ReasoningContext.model_validate_json(context, context=compatibility),
        GateSettings.model_validate_json(settings, context=compatibility),
        compatibility,
    )
    line.send(_READY)
    line.recv()
    line.send(asdict(judged(EVALUATORS[name], situation)))


def _received(evaluator: Evaluator, answer: Any) -> EvaluatorResult | EvaluatorError:
    kind = EvaluatorError if "error_type" in answer else EvaluatorResult
    try:
        checked: EvaluatorResult | EvaluatorError = read_result(answer, kind)
    except ValueError as error:
        return failure(evaluator, "invalid_output", str(error))
    return checked
