"""Contracts on JSON responses, and whether the order of their rules matters."""

from __future__ import annotations

from steelyard.evaluators.contract.calls import Evaluator
from steelyard.evaluators.contract.errors import (
    CommandError,
    ContractError,
    EvaluatorFailure,
    InvalidJsonError,
    OrderCheckError,
    OrderCheckTooLargeError,
    OutputError,
    PlaygroundUnavailableError,
    PolicyError,
    ResponseError,
    SynthesisError,
)
from steelyard.evaluators.contract.evaluation import evaluate
from steelyard.evaluators.contract.loading import load_json, load_json_file
from steelyard.evaluators.contract.order_check import check_order
from steelyard.evaluators.contract.policy import Policy, validate_policy
from steelyard.evaluators.contract.rules import KINDS, Rule
from steelyard.evaluators.contract.subprocess_hook import (
    SubprocessEvaluator,
    is_importable,
    python_command,
)
from steelyard.evaluators.contract.synthesis import generate_synthetic
from steelyard.evaluators.contract.values import canonical_equal, canonical_text, fingerprint

__all__ = [
    "KINDS",
    "CommandError",
    "ContractError",
    "Evaluator",
    "EvaluatorFailure",
    "InvalidJsonError",
    "OrderCheckError",
    "OrderCheckTooLargeError",
    "OutputError",
    "PlaygroundUnavailableError",
    "Policy",
    "PolicyError",
    "ResponseError",
    "Rule",
    "SubprocessEvaluator",
    "SynthesisError",
    "canonical_equal",
    "canonical_text",
    "check_order",
    "evaluate",
    "fingerprint",
    "generate_synthetic",
    "is_importable",
    "load_json",
    "load_json_file",
    "python_command",
    "validate_policy",
]
