"""What a policy says about an agent's final output, as measures of its trial."""

from __future__ import annotations

from typing import Any

from steelyard.evaluators.contract.errors import ContractError, InvalidJsonError
from steelyard.evaluators.contract.evaluation import checked_response, judge
from steelyard.evaluators.contract.loading import load_json
from steelyard.evaluators.contract.policy import Policy


def measure_names(policy: Policy) -> list[str]:
    """Return the measures of a policy: the whole contract, then each of its rules."""
    whole = f"contract:{policy.policy_id}"
    return [whole, *(f"{whole}:{rule.rule_id}" for rule in policy.rules)]


def judge_output(policy: Policy, output: Any) -> dict[str, float | None]:
    """Judge one final output.

    Parameters
    ----------
    policy : Policy
        A validated policy.
    output : JSON value
        A JSON object, or a text that is one and nothing else.

    Returns
    -------
    dict of str to float or None
        Measure (`measure_names`) to 1 or 0. All are None, "not measured", where the output is no
        JSON object or exceeds the limits of a response: it broke no rule, it cannot be judged.
    """
    names = measure_names(policy)
    response = _object_of(output)
    if response is None:
        return dict.fromkeys(names)
    try:
        copy, _ = checked_response(response)
    except ContractError:
        return dict.fromkeys(names)
    found = judge(policy, policy.rules, copy)  # the policy was checked once, for all trials
    passes = [found["passed"], *(row["passed"] for row in found["rule_results"])]
    return {name: float(passed) for name, passed in zip(names, passes, strict=True)}


def _object_of(output: Any) -> dict[str, Any] | None:
    if isinstance(output, str):
        try:
            output = load_json(output)
        except InvalidJsonError:
            return None
    return output if isinstance(output, dict) else None
