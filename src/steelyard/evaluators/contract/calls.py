"""Calling an evaluator: on fresh copies, with its result checked and its work charged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.contract.errors import (
    ContractError,
    EvaluatorFailure,
    OrderCheckError,
    OrderCheckTooLargeError,
)
from steelyard.evaluators.contract.evaluation import checked_response, judge
from steelyard.evaluators.contract.policy import Policy, validate_policy
from steelyard.evaluators.contract.results import ResultReader, RowNumbers
from steelyard.evaluators.contract.values import plain_copy

Evaluator = Callable[[dict[str, Any], dict[str, Any]], Any]
"""A hook: takes a policy document and a response, returns a result as `evaluate` does.

It gets copies of its own. It is trusted code: it runs with the rights of its caller.
"""

WORK_BUDGET = 100_000_000
"""Most bytes of input and results that one order check may work through."""

FEWEST_RULES = 2


@dataclass(frozen=True)
class Subject:
    """What an order check is about.

    Attributes
    ----------
    policy : Policy
        Two rules or more.
    response : dict
        A checked copy.
    unit : int
        Canonical bytes of policy and response together: the charge of one call.
    """

    policy: Policy
    response: dict[str, Any]
    unit: int

    def check_work(self, calls: int) -> None:
        """Refuse before the first call what could not be finished within the budget.

        Raises
        ------
        OrderCheckTooLargeError
            If that many calls exceed `WORK_BUDGET`.
        """
        if calls * self.unit > WORK_BUDGET:
            raise OrderCheckTooLargeError(
                f"{calls:,} evaluations of {self.unit:,} bytes of input exceed the work budget of "
                f"{WORK_BUDGET:,} bytes; at most {WORK_BUDGET // self.unit:,} fit"
            )


def admit(policy: Any, response: Any, most_rules: float = math.inf, hint: str = "") -> Subject:
    """Check policy, number of rules and response, in this order.

    Parameters
    ----------
    policy : dict or Policy
        The policy.
    response : dict
        The response.
    most_rules : int, optional
        Largest number of rules.
    hint : str, optional
        Added to the message about too many rules.

    Raises
    ------
    OrderCheckError
        If the policy is invalid (its own error is the cause), has fewer than two rules, or the
        response is unusable.
    OrderCheckTooLargeError
        If there are more than ``most_rules``.
    """
    try:
        checked = validate_policy(policy)
    except ContractError as error:
        raise OrderCheckError(f"the policy is invalid: {error.message}") from error
    count = len(checked.rules)
    if count < FEWEST_RULES:
        raise OrderCheckError("the order of one rule cannot be changed; two are needed")
    if count > most_rules:
        raise OrderCheckTooLargeError(f"{count} rules; at most {most_rules} are accepted{hint}")
    try:
        copy, size = checked_response(response)
    except ContractError as error:
        raise OrderCheckError(error.message) from error
    return Subject(checked, copy, checked.size + size)


class Caller:
    """Calls one evaluator on one subject, in whatever order of the rules.

    Parameters
    ----------
    subject : Subject
        Policy and response.
    evaluator : callable, optional
        The hook; the built-in evaluator by default. The latter reads only, so it gets no copies.

    Attributes
    ----------
    reader : ResultReader
        Knows the rows of the results.
    calls : int
        Calls so far, with one that failed.
    result_bytes : int
        Canonical bytes of all results so far.
    """

    def __init__(self, subject: Subject, evaluator: Evaluator | None = None) -> None:
        self.subject = subject
        self.evaluator = evaluator
        self.reader = ResultReader(subject.policy)
        self.calls = 0
        self.result_bytes = 0
        self.last_size = 0

    @property
    def charged(self) -> int:
        """Bytes charged so far: input of every call, and results."""
        return self.calls * self.subject.unit + self.result_bytes

    def call(self, order: Sequence[int]) -> RowNumbers:
        """Evaluate with the rules in ``order`` (declared positions), and check the result.

        Returns
        -------
        tuple of int
            Numbers of the result's rows.

        Raises
        ------
        EvaluatorFailure
            If the evaluator raises, or its result breaks the contract. Controlled errors that it
            raises itself come through as they are.
        OrderCheckTooLargeError
            If the result is too large, or the work budget is spent.
        """
        self.calls += 1
        numbers, self.last_size = self.reader.read(self._result(order))
        self.result_bytes += self.last_size
        if self.charged > WORK_BUDGET:
            raise OrderCheckTooLargeError(
                f"the work budget of {WORK_BUDGET:,} bytes was spent after {self.calls:,} calls"
            )
        return numbers

    def _result(self, order: Sequence[int]) -> Any:
        policy, response = self.subject.policy, self.subject.response
        if self.evaluator is None:
            return judge(policy, [policy.rules[position] for position in order], response)
        try:
            return self.evaluator(policy.document(order), plain_copy(response))
        except ContractError:
            raise
        except (Exception, SystemExit) as error:  # code of the user: anything can be wrong with it
            raise EvaluatorFailure("exception", f"it raised {type(error).__name__}") from error
