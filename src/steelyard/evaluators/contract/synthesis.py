"""A response that passes a policy and one that fails it, made from the policy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.evaluators.contract.errors import SynthesisError
from steelyard.evaluators.contract.evaluation import evaluate
from steelyard.evaluators.contract.policy import validate_policy
from steelyard.evaluators.contract.rules import RULE_SATISFIED, Rule
from steelyard.evaluators.contract.values import identity, plain_copy

WORK_LIMIT = 65_536
"""Most tests of candidates in one run; a rule that lists values counts once for each."""


def generate_synthetic(policy: Any) -> dict[str, Any]:
    """Make a passing and a failing response, and evaluate both before they are returned.

    Paths are filled from the deepest upwards; a value further up is taken only if everything
    asked of the paths below it still holds. The failing response lacks the first rule's member.

    Parameters
    ----------
    policy : dict or Policy
        The policy.

    Returns
    -------
    dict
        ``policy_id``, and ``passing_case`` and ``failing_case``, each with ``response`` and
        ``evaluation``. The responses hold values of the policy. Always the same for one policy.

    Raises
    ------
    PolicyError
        As `validate_policy`.
    SynthesisError
        If the rules contradict each other, or the work limit is reached.
    ResponseError
        If the response that the rules ask for exceeds the limits of a response.
    """
    checked = validate_policy(policy)
    passing = _Builder(checked.rules).build()
    evaluation = evaluate(checked, passing)
    if not evaluation["passed"]:
        raise SynthesisError("the response that was built does not pass")
    failing = plain_copy(passing)
    _delete(failing, checked.rules[0].names)
    failed = evaluate(checked, failing)
    if failed["passed"]:
        raise SynthesisError("the response without the first rule's member does not fail")
    return {
        "policy_id": checked.policy_id,
        "passing_case": {"response": passing, "evaluation": evaluation},
        "failing_case": {"response": failing, "evaluation": failed},
    }


class _Builder:
    """Fills one response, path by path, and counts the tests it needed."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.groups: dict[str, list[Rule]] = {}
        for rule in rules:
            self.groups.setdefault(rule.path, []).append(rule)
        self.response: dict[str, Any] = {}
        self.work = 0

    def build(self) -> dict[str, Any]:
        done: list[str] = []
        for path in sorted(self.groups, key=lambda path: (-path.count("."), path)):
            group = self.groups[path]
            if any(rule.reason(self.response) != RULE_SATISFIED for rule in group):
                below = [
                    rule
                    for deeper in done
                    if deeper.startswith(path + ".")
                    for rule in self.groups[deeper]
                ]
                value = self._first_fitting(_candidates(group), group[0].names, below)
                _write(self.response, group[0].names, plain_copy(value))
            done.append(path)
        return self.response

    def _first_fitting(
        self, candidates: list[Any], names: tuple[str, ...], below: list[Rule]
    ) -> Any:
        for candidate in candidates:
            alone: dict[str, Any] = {}
            _write(alone, names, candidate)
            if self._fits(alone, below):
                return candidate
        raise SynthesisError("no value for a path meets its rules and those of the paths below it")

    def _fits(self, document: dict[str, Any], below: list[Rule]) -> bool:
        if not below:
            self._count(1)
        for rule in below:
            self._count(len(rule.operands["values"]) if rule.kind == "one_of" else 1)
            if rule.reason(document) != RULE_SATISFIED:
                return False
        return True

    def _count(self, cost: int) -> None:
        self.work += cost
        if self.work > WORK_LIMIT:
            raise SynthesisError(f"the search for values needs more than {WORK_LIMIT:,} tests")


def _candidates(group: list[Rule]) -> list[Any]:
    """Return the values that one path may have, the preferred first; at least one."""
    fixed = [_FIXED[rule.kind](rule) for rule in group if rule.kind in _FIXED]
    lists = [rule for rule in group if rule.kind == "one_of"]
    if fixed:
        if len(set(map(identity, fixed))) > 1:
            raise SynthesisError("two rules ask for different values at one path")
        found = fixed[:1]
    elif lists:
        found = list(lists[0].operands["values"])
    else:
        return [None]
    found = [value for value in found if all(one.accepts(value) for one in lists)]
    if not found:
        raise SynthesisError("the rules for one path have no value in common")
    return found


_FIXED: dict[str, Callable[[Rule], Any]] = {
    "equals": lambda rule: rule.operands["value"],
    "false": lambda _rule: False,
    "empty_list": lambda _rule: [],
}


def _write(document: dict[str, Any], names: tuple[str, ...], value: Any) -> None:
    for name in names[:-1]:
        document = document.setdefault(name, {})
    document[names[-1]] = value


def _delete(document: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names[:-1]:
        document = document[name]
    del document[names[-1]]
