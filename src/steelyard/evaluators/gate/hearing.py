"""Where evaluators run: here, in threads, or each in a process of its own.

An evaluator that fails, or does not answer in time, abstains and leaves an error; it never
decides. Ours are pure and bounded, so that running them here needs no time limit and depends on
nothing but the context. Limits exist in threads and processes, for evaluators of others.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import Verdict
from steelyard.evaluators.gate.registry import Evaluator
from steelyard.evaluators.gate.results import EvaluatorError, EvaluatorResult, read_result
from steelyard.evaluators.gate.situation import Situation

LONGEST_MESSAGE = 512
"""Characters of an error's message, which is one line."""

ErrorType = Literal["timeout", "crash", "invalid_output"]


@dataclass(slots=True)
class Hearing:
    """The results in the order of the hearing.

    Attributes
    ----------
    results : dict of str to EvaluatorResult
        By evaluator.
    errors : list of EvaluatorError
        Failures.
    elapsed_ms : float
        Wall time, 0 when evaluators run here: then no decision may depend on it.
    """

    results: dict[str, EvaluatorResult] = field(default_factory=dict)
    errors: list[EvaluatorError] = field(default_factory=list)
    elapsed_ms: float = 0.0

    def add(self, evaluator: Evaluator, outcome: EvaluatorResult | EvaluatorError) -> None:
        """Note a result, or an abstention for an error."""
        if isinstance(outcome, EvaluatorError):
            self.errors.append(outcome)
            outcome = abstention(evaluator, _CODES[outcome.error_type])
        self.results[evaluator.name] = outcome


_CODES = {
    "timeout": reasons.TIMEOUT,
    "crash": reasons.CRASH,
    "invalid_output": reasons.INVALID_OUTPUT,
}


def abstention(evaluator: Evaluator, code: str) -> EvaluatorResult:
    """Return the result of an evaluator that was not heard."""
    return EvaluatorResult(
        evaluator.name, Verdict.UNDETERMINED, 0.0, evaluator.backend, reason_codes=[code]
    )


def failure(evaluator: Evaluator, kind: ErrorType, message: str) -> EvaluatorError:
    """Return an error with a message of one line."""
    line = " ".join(message.split())[:LONGEST_MESSAGE]
    return EvaluatorError(evaluator.name, kind, line or kind)


def judged(evaluator: Evaluator, situation: Situation) -> EvaluatorResult | EvaluatorError:
    """Ask one evaluator; whatever it raises or returns becomes a result or an error."""
    try:
        result = evaluator.judge(situation)
    except Exception as error:  # an evaluator may be anybody's; the gate must still decide
        return failure(evaluator, "crash", f"{type(error).__name__}: {error}")
    if evaluator.built_in:
        return result
    try:
        checked: EvaluatorResult = read_result(asdict(result))
    except (TypeError, ValueError) as error:
        return failure(evaluator, "invalid_output", str(error))
    if checked.evaluator != evaluator.name:
        return failure(evaluator, "invalid_output", f"it calls itself {checked.evaluator}")
    return checked


def hear(situation: Situation, evaluators: Sequence[Evaluator]) -> Hearing:
    """Ask every evaluator, where the settings say.

    Parameters
    ----------
    situation : Situation
        With the eligible rules.
    evaluators : sequence of Evaluator
        In the order of their hearing.

    Returns
    -------
    Hearing
        One result for each.
    """
    isolation = situation.settings.isolation
    if isolation == "inline":
        hearing = Hearing()
        for evaluator in evaluators:
            hearing.add(evaluator, judged(evaluator, situation))
        return hearing
    if isolation == "processes" and all(evaluator.built_in for evaluator in evaluators):
        from steelyard.evaluators.gate.processes import hear_in_processes

        return hear_in_processes(situation, evaluators)
    return hear_in_threads(situation, evaluators)


def hear_in_threads(situation: Situation, evaluators: Sequence[Evaluator]) -> Hearing:
    """Ask every evaluator in a thread of its own.

    A thread cannot be ended. One that does not answer in time is left behind as a daemon, and
    the caller does not wait for it.
    """
    answers: list[Callable[[float], EvaluatorResult | EvaluatorError]] = []
    started = time.monotonic()
    for evaluator in evaluators:
        box: queue.SimpleQueue[EvaluatorResult | EvaluatorError] = queue.SimpleQueue()
        threading.Thread(target=_put, args=(box, evaluator, situation), daemon=True).start()
        answers.append(_waiter(box, evaluator))
    return collected(situation, evaluators, answers, started)


def _put(box: queue.SimpleQueue[Any], evaluator: Evaluator, situation: Situation) -> None:
    box.put(judged(evaluator, situation))


def _waiter(
    box: queue.SimpleQueue[EvaluatorResult | EvaluatorError], evaluator: Evaluator
) -> Callable[[float], EvaluatorResult | EvaluatorError]:
    def wait(seconds: float) -> EvaluatorResult | EvaluatorError:
        try:
            return box.get(timeout=seconds)
        except queue.Empty:
            return failure(evaluator, "timeout", "no answer within the time limit")

    return wait


def collected(
    situation: Situation,
    evaluators: Sequence[Evaluator],
    answers: Sequence[Callable[[float], EvaluatorResult | EvaluatorError]],
    started: float,
) -> Hearing:
    """Wait for each answer up to its own limit and what is left of the common one."""
    settings = situation.settings
    hearing = Hearing()
    for evaluator, answer in zip(evaluators, answers, strict=True):
        left = settings.pool_budget_ms / 1000 - (time.monotonic() - started)
        hearing.add(evaluator, answer(max(0.0, min(settings.head_timeout_ms / 1000, left))))
    hearing.elapsed_ms = (time.monotonic() - started) * 1000
    return hearing
