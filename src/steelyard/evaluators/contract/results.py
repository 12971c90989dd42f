"""The hook contract: what an evaluator may return, checked on every result.

A result is reduced to the numbers of its rows. Rows are few and come again and again (a rule passes
or fails for one of a few reasons), so each distinct row is checked and written out once; what is
left per call is to look its rows up. Two results are canonically equal exactly when they have the
same row numbers in the same order: the rest of a result follows from its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from steelyard.evaluators.contract.errors import EvaluatorFailure, OrderCheckTooLargeError
from steelyard.evaluators.contract.policy import Policy
from steelyard.evaluators.contract.values import MAX_BYTES, canonical, digest

MAX_REASON = 128
"""Longest reason code, in characters."""

_FIELDS = ("rule_id", "kind", "path", "reason_code", "passed")

RowNumbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One distinct row that an evaluator has returned.

    Attributes
    ----------
    position : int
        Declared position of its rule.
    passed : bool
        Whether the rule passed.
    reason_code : str
        The evaluator's reason, any text of 1 to `MAX_REASON` characters.
    text : str
        The row in canonical JSON.
    """

    position: int
    passed: bool
    reason_code: str
    text: str


class ResultReader:
    """Checks the results of one evaluator for one policy.

    Parameters
    ----------
    policy : Policy
        The policy that is evaluated, in whatever order.

    Attributes
    ----------
    rows : list of Row
        The distinct rows that were seen.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.rows: list[Row] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._positions = {rule_id: i for i, rule_id in enumerate(policy.rule_ids)}
        self._known: dict[RowNumbers, tuple[bool, int]] = {}

    def read(self, result: Any) -> tuple[RowNumbers, int]:
        """Check a result, and return the numbers of its rows and its canonical size in bytes.

        Raises
        ------
        EvaluatorFailure
            If it breaks the contract.
        OrderCheckTooLargeError
            If its canonical form exceeds 1,000,000 bytes.
        """
        if type(result) is not dict or len(result) != 3:
            _refuse("the result is not an object with passed, policy_id and rule_results")
        passed, policy_id = result.get("passed"), result.get("policy_id")
        rows = result.get("rule_results")
        if (passed is not True and passed is not False) or type(rows) is not list:
            _refuse("passed must be true or false, and rule_results an array")
        if type(policy_id) is not str:
            _refuse("policy_id must be text")
        numbers = tuple([self._number(row) for row in rows])
        expected, size = self._known.get(numbers) or self._first_seen(numbers)
        if passed is not expected:
            _refuse("passed must be true exactly if every declared rule is reported and passed")
        if policy_id != self.policy.policy_id:
            self._refuse_policy_id(policy_id, size)
        if size > MAX_BYTES:
            raise OrderCheckTooLargeError(f"a result has more than {MAX_BYTES:,} bytes")
        return numbers, size

    def text(self, numbers: RowNumbers) -> str:
        """Return the canonical text of the result with these rows."""
        return self._written(numbers, self.passed(numbers))

    def fingerprint(self, numbers: RowNumbers) -> str:
        """Return the SHA-256 of the canonical text of the result with these rows."""
        return digest(self.text(numbers))

    def passed(self, numbers: RowNumbers) -> bool:
        """Return the overall verdict of the result with these rows."""
        return self._known[numbers][0]

    def _number(self, row: Any) -> int:
        if type(row) is not dict or len(row) != len(_FIELDS):
            _refuse(f"a row is not an object with exactly {', '.join(_FIELDS)}")
        try:
            key = (
                row["rule_id"],
                row["kind"],
                row["path"],
                row["reason_code"],
                row["passed"],
            )
            number = self._numbers.get(key)
        except (KeyError, TypeError):  # TypeError: an array or object where text belongs
            return self._new_row(row)
        if number is None or row["passed"] is not self.rows[number].passed:  # 1 == True
            return self._new_row(row)
        return number

    def _new_row(self, row: dict[str, Any]) -> int:
        if missing := [name for name in _FIELDS if name not in row]:
            _refuse(f"a row lacks {', '.join(missing)}")
        *texts, passed = (row[name] for name in _FIELDS)
        if not all(type(text) is str for text in texts) or type(passed) is not bool:
            _refuse("in a row, passed must be true or false and the other fields text")
        rule_id, kind, path, reason_code = texts
        if not 1 <= len(reason_code) <= MAX_REASON:
            _refuse(f"a reason_code must have 1 to {MAX_REASON} characters")
        if rule_id not in self._positions:
            _refuse("a row is about a rule that the policy does not have")
        rule = self.policy.rules[self._positions[rule_id]]
        if (kind, path) != (rule.kind, rule.path):
            _refuse("a row has another kind or path than its rule")
        try:
            reason_code.encode()
        except UnicodeEncodeError:
            _refuse("a reason_code holds a lone surrogate, which is not text")
        number = len(self.rows)
        self.rows.append(Row(self._positions[rule_id], passed, reason_code, canonical(row)))
        self._numbers[(*texts, passed)] = number
        return number

    def _first_seen(self, numbers: RowNumbers) -> tuple[bool, int]:
        rows = [self.rows[number] for number in numbers]
        if len({row.position for row in rows}) < len(rows):
            _refuse("two rows are about one rule")
        passed = len(rows) == len(self.policy.rules) and all(row.passed for row in rows)
        self._known[numbers] = passed, len(self._written(numbers, passed).encode())
        return self._known[numbers]

    def _written(self, numbers: RowNumbers, passed: bool) -> str:
        rows = ",".join([self.rows[number].text for number in numbers])
        verdict, name = canonical(passed), canonical(self.policy.policy_id)
        return f'{{"passed":{verdict},"policy_id":{name},"rule_results":[{rows}]}}'

    def _refuse_policy_id(self, policy_id: str, size: int) -> NoReturn:
        try:
            longer = len(canonical(policy_id).encode()) - len(self.policy.policy_id) - 2
        except UnicodeEncodeError:
            _refuse("policy_id holds a lone surrogate, which is not text")
        if size + longer > MAX_BYTES:
            raise OrderCheckTooLargeError(f"a result has more than {MAX_BYTES:,} bytes")
        _refuse("policy_id is not that of the policy")


def _refuse(reason: str) -> NoReturn:
    raise EvaluatorFailure("contract", reason)
