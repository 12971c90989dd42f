"""The controlled errors of the contract room: each has a code that programs can rely on.

Messages name places (line and column, rule, index, field), never a value of a policy or of a
response and never a file: they may be shown where the documents may not.
"""

from __future__ import annotations

from typing import Any, ClassVar

from steelyard.errors import SteelyardError


class ContractError(SteelyardError):
    """Base of the controlled errors.

    Parameters
    ----------
    message : str
        What was wrong and what is accepted.
    policy_id, rule_id : str, optional
        The policy and the rule that the error is about, where they are known.
    rule_index : int, optional
        Position of the rule in the policy, from 0.

    Attributes
    ----------
    code : str
        The kind of error; stable.
    """

    code: str = "INVALID_DATA"

    _LOCATION: ClassVar = ("policy_id", "rule_id", "rule_index")

    def __init__(
        self,
        message: str,
        *,
        policy_id: str | None = None,
        rule_id: str | None = None,
        rule_index: int | None = None,
    ) -> None:
        self.message = message
        self.policy_id = policy_id
        self.rule_id = rule_id
        self.rule_index = rule_index
        super().__init__(message)

    def fields(self) -> dict[str, Any]:
        """Return code, message and what is known of the place, for a JSON document."""
        known = {name: getattr(self, name) for name in self._LOCATION}
        place = {name: value for name, value in known.items() if value is not None}
        return {"code": self.code, "message": self.message, **place}


class InvalidJsonError(ContractError):
    """A document that cannot be read as strict JSON within the limits."""

    code = "INVALID_JSON_INPUT"


class OutputError(ContractError):
    """An output file that cannot be written."""

    code = "JSON_OUTPUT_ERROR"


class PlaygroundUnavailableError(ContractError):
    """A playground that cannot be shown: its library is not installed, or there is no terminal."""

    code = "PLAYGROUND_UNAVAILABLE"


class PolicyError(ContractError):
    """A policy that breaks its schema."""

    code = "INVALID_POLICY"


class ResponseError(ContractError):
    """A response that is no object, or exceeds the limits."""

    code = "INVALID_RESPONSE"


class SynthesisError(ContractError):
    """A policy for which no verified pair of responses can be made."""

    code = "SYNTHETIC_GENERATION_FAILED"


class OrderCheckError(ContractError):
    """An order check that cannot be made, or an evaluator that broke the hook contract."""

    code = "ORDER_CHECK_INVALID"


class OrderCheckTooLargeError(OrderCheckError):
    """An order check beyond one of its bounds."""

    code = "ORDER_CHECK_TOO_LARGE"


class CommandError(ContractError):
    """A command line that cannot be understood."""

    code = "INVALID_COMMAND"


class EvaluatorFailure(OrderCheckError):  # noqa: N818 - the evaluator failed, not its caller
    """An evaluator that gave no result: it raised, hung, died or answered with something else.

    Parameters
    ----------
    kind : {"exception", "timeout", "crash", "garbage", "contract"}
        In which way it failed.
    reason : str
        What was observed; holds no text of the evaluator, which may quote the response.
    """

    def __init__(self, kind: str, reason: str) -> None:
        self.kind = kind
        self.reason = reason
        super().__init__(f"the evaluator gave no usable result ({kind}): {reason}")
