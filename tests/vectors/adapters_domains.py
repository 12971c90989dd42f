"""Adapters of the two invoice domains' tools and truths to Plumbline's vectors.

Where the vectors hold how many problems a tool found, ours says which; its remarks are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from invoice_domains import (
    accounts_payable_domain,
    accounts_payable_reference,
    procure_to_pay_domain,
)
from steelyard import SteelyardError
from steelyard.harness.tools import Toolbox, ToolError

DOMAINS = {
    "ap": procure_to_pay_domain.ProcureToPay(),
    "ap-full": accounts_payable_domain.AccountsPayable(),
}
ERROR_CODES = {
    "not found": "not_found",
    "there is no tool": "no_such_tool",
    "bad arguments": "bad_arguments",
    "unknown reason code": "unknown_reason_code",
}
COUNTED = {"problems": "n_problems", "issues": "n_issues"}
REMARKS = ("detail", "reason")


class CodedError(SteelyardError):
    """A tool's refusal, by the code that the vectors have for its text."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(str(error))
        self.code = error_code(str(error))


def error_code(text: str) -> str:
    """Return the code of a refusal, or its text where it has none."""
    return next((code for part, code in ERROR_CODES.items() if part in text), text)


def world_of(domain: str) -> Any:
    """Return a fresh system of record."""
    return DOMAINS[domain].world(DOMAINS[domain].tasks()[0])


def view(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's result as the vectors write it."""
    return {
        COUNTED.get(key, key): len(value) if key in COUNTED else value
        for key, value in result.items()
        if key not in REMARKS
    }


def tool_call(case: Mapping[str, Any]) -> dict[str, Any]:
    toolbox = Toolbox(world_of(case["domain"]).tools())
    try:
        return view(toolbox.call(case["tool"], case["args"]))
    except ToolError as error:
        raise CodedError(error) from error


def tool_sequence(case: Mapping[str, Any]) -> dict[str, Any]:
    world = world_of(case["domain"])
    toolbox = Toolbox(world.tools())
    results = [view(toolbox.call(call["tool"], call["args"])) for call in case["calls"]]
    return {"results": results, "ledger_state": world.ledger(case["ledger_invoice"])}


def context(case: Mapping[str, Any]) -> Mapping[str, Any]:
    if case["domain"] == "ap-full":
        return accounts_payable_domain.derive_truth(case["task_id"])
    truth = procure_to_pay_domain.derive_truth(case["task_id"])
    return {**truth, "blockers": len(truth["blockers"])}


def invoice_number(case: Mapping[str, Any]) -> str:
    return accounts_payable_reference.normalised_number(case["number"])


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("plumbline", "tool_call"): tool_call,
    ("plumbline", "tool_sequence"): tool_sequence,
    ("plumbline", "derive_context"): context,
    ("plumbline", "normalize_invoice_number"): invoice_number,
}
