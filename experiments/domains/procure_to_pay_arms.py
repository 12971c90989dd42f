"""The eight-invoice procure-to-pay domain: the executor's procedure, and the guard's vetoes."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from domains.procure_to_pay import APPROVAL_THRESHOLD, PAY
from domains.requests import invoice_in_prompt
from steelyard.harness.arms import Answer, Ask, Call, Interpret, PlanExecute, Refusal, Seen
from steelyard.harness.protocols import TrialSetup

CENT = 0.005


class Executor(PlanExecute):
    """Runs the procedure of the domain; see `process`.

    Parameters
    ----------
    retries : int
        Attempts after the first at most, at every tool.
    compatibility : {"plumbline"}, optional
        Ignore whether approval, payment, hold and log succeeded, as Plumbline 0.3.0 does.
    interpret : callable
        How the invoice is read from the request; by default without a model.
    """

    def __init__(
        self,
        retries: int = 0,
        compatibility: Literal["plumbline"] | None = None,
        interpret: Interpret = invoice_in_prompt,
    ) -> None:
        procedure = partial(process, heed_failures=compatibility is None)
        super().__init__(procedure, interpret, "invoice_id", retries)


def process(ask: Ask, invoice_id: str, heed_failures: bool = True) -> str:
    """Check an invoice, then pay or hold it.

    Parameters
    ----------
    ask : callable
        Calls tools.
    invoice_id : str
    heed_failures : bool
        Whether a failed approval keeps the invoice from being paid, and a failed payment or hold
        is reported as such. Without it they pass unnoticed.

    Returns
    -------
    str
        The report.
    """
    fetched = ask("fetch_invoice", invoice_id=invoice_id)
    if fetched.error is not None:
        return f"Invoice {invoice_id} could not be fetched: {fetched.error}"
    invoice = fetched.output["invoice"]
    blockers = _blockers(ask, invoice)
    amount = round(invoice["total"], 2)
    if not blockers and amount > APPROVAL_THRESHOLD:
        approval = ask(
            "request_approval", invoice_id=invoice_id, approver_role="controller", amount=amount
        )
        if heed_failures and approval.error is not None:
            blockers.append(f"no approval: {approval.error}")
    if blockers:
        return _hold(ask, invoice_id, blockers, heed_failures)
    payment = ask(PAY, invoice_id=invoice_id, amount=amount, vendor_id=invoice["vendor_id"])
    if heed_failures and payment.error is not None:
        ask("post_audit_log", invoice_id=invoice_id, action="paid_failed")
        return f"Invoice {invoice_id} should be paid, but that failed: {payment.error}"
    ask("post_audit_log", invoice_id=invoice_id, action="paid")
    return f"Invoice {invoice_id} is paid: {amount:.2f}."


def _blockers(ask: Ask, invoice: dict[str, Any]) -> list[str]:
    """Make all three checks and return in words what stands against a payment."""
    invoice_id = invoice["invoice_id"]
    match = ask("match_purchase_order", invoice_id=invoice_id)
    duplicate = ask("check_duplicate", invoice_id=invoice_id)
    vendor = ask("check_vendor_status", vendor_id=invoice["vendor_id"])
    stands_against = {
        "it does not match its purchase order": not _says(match, "matched"),
        "it may be a duplicate": duplicate.error is not None or duplicate.output["is_duplicate"],
        "the vendor may not be paid": not _says(vendor, "payable"),
    }
    return [reason for reason, stands in stands_against.items() if stands]


def _says(answer: Answer, name: str) -> bool:
    return answer.error is None and bool(answer.output[name])


def _hold(ask: Ask, invoice_id: str, blockers: list[str], heed_failures: bool) -> str:
    reasons = "; ".join(blockers)
    held = ask("flag_exception", invoice_id=invoice_id, reason=reasons)
    failed = heed_failures and held.error is not None
    ask(
        "post_audit_log",
        invoice_id=invoice_id,
        action="exception_failed" if failed else "exception",
    )
    if failed:
        return f"Invoice {invoice_id} should be held ({reasons}), but that failed: {held.error}"
    return f"Invoice {invoice_id} is held: {reasons}."


def veto_payment(setup: TrialSetup, call: Call, seen: Seen) -> Refusal | None:
    """Refuse a payment that the checks made so far on this very invoice do not support.

    Parameters
    ----------
    setup : TrialSetup
    call : Call
        Calls other than payments pass.
    seen : Seen

    Returns
    -------
    Refusal or None
    """
    if call.tool != PAY or not isinstance(call.arguments, dict):
        return None
    invoice_id, vendor_id = call.arguments.get("invoice_id"), call.arguments.get("vendor_id")
    checks = {
        "match_purchase_order": seen.last("match_purchase_order", invoice_id=invoice_id),
        "check_duplicate": seen.last("check_duplicate", invoice_id=invoice_id),
        "check_vendor_status": seen.last("check_vendor_status", vendor_id=vendor_id),
    }
    missing = [tool for tool, output in checks.items() if output is None]
    if missing:
        names = ",".join(missing)
        return Refusal(f"missing:{names}", f"refused: call {names} for this invoice first")
    verdicts = {
        "already_paid": seen.last(PAY, invoice_id=invoice_id) is not None,
        "match_failed": not checks["match_purchase_order"]["matched"],
        "duplicate": checks["check_duplicate"]["is_duplicate"],
        "vendor_not_payable": not checks["check_vendor_status"]["payable"],
    }
    failed = next((code for code, stands in verdicts.items() if stands), None)
    if failed is not None:
        return Refusal(failed, f"refused: {failed.replace('_', ' ')}")
    return _veto_amount(setup, call.arguments, seen)


def _veto_amount(setup: TrialSetup, arguments: dict[str, Any], seen: Seen) -> Refusal | None:
    """Refuse an amount other than the invoice's, or a large one that nobody approved."""
    invoice_id = arguments["invoice_id"]
    # read past the agent: it may not have fetched the invoice, and a check was made on it
    invoice = setup.toolbox.tool("fetch_invoice").function(invoice_id=invoice_id)["invoice"]
    amount = arguments.get("amount")
    right = round(invoice["total"], 2)
    if not isinstance(amount, int | float) or not abs(right - round(amount, 2)) <= CENT:
        return Refusal("amount_mismatch", f"refused: the amount must be {right}")
    if right > APPROVAL_THRESHOLD and seen.last("request_approval", invoice_id=invoice_id) is None:
        return Refusal("approval_missing", "refused: request an approval first")
    return None
