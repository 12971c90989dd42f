"""The twenty-invoice accounts-payable domain: the executor's procedure, and the guard's vetoes."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from domains.accounts_payable import PAY
from domains.accounts_payable_reference import (
    INVOICE_CHECKS,
    VENDOR_CHECK,
    Check,
    first_reason,
)
from domains.requests import invoice_in_prompt
from steelyard.harness.arms import Answer, Ask, Call, Interpret, PlanExecute, Refusal, Seen
from steelyard.harness.protocols import TrialSetup
from steelyard.harness.tools import ToolError

CENT = 0.005
FALLBACK_APPROVAL = {"required_role": "controller", "requires_second_signature": False}


class Executor(PlanExecute):
    """Runs the procedure of the domain; see `Processing`.

    Parameters
    ----------
    retries : int
        Attempts after the first at most, at every tool.
    compatibility : {"plumbline"}, optional
        Ignore whether the calculation, approval, payment, credit, hold and log succeeded, as
        Plumbline 0.3.0 does: an amount that could not be worked out is then paid as 0.
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
    """Check a document, then pay, apply or hold it.

    Parameters
    ----------
    ask : callable
        Calls tools.
    invoice_id : str
    heed_failures : bool
        Whether a step that failed after the checks keeps the document from being paid or applied,
        and is reported. Without it such failures pass unnoticed.

    Returns
    -------
    str
        The report.
    """
    fetched = ask("fetch_invoice", invoice_id=invoice_id)
    if fetched.error is not None:
        return f"{invoice_id} could not be fetched: {fetched.error}"
    invoice = fetched.output["invoice"]
    processing = Processing(ask, invoice, heed_failures)
    reasons = processing.checks()
    if reasons:
        return processing.hold(first_reason(reasons))
    if invoice["doc_type"] == "credit_note":
        return processing.apply_credit()
    return processing.pay()


class Processing:
    """One document being processed; see `process` for the parameters."""

    def __init__(self, ask: Ask, invoice: dict[str, Any], heed_failures: bool) -> None:
        self.ask = ask
        self.invoice = invoice
        self.invoice_id = invoice["invoice_id"]
        self.heed_failures = heed_failures

    def checks(self) -> list[str]:
        """Make the checks in order and return the reasons to hold the document."""
        vendor = self.ask(VENDOR_CHECK.tool, vendor_id=self.invoice["vendor_id"])
        results = [(VENDOR_CHECK, vendor)]
        if self.invoice["doc_type"] != "credit_note":
            results += [
                (check, self.ask(check.tool, invoice_id=self.invoice_id))
                for check in INVOICE_CHECKS
            ]
        return [reason for reason in (_reason(*result) for result in results) if reason]

    def pay(self) -> str:
        """Work out the amount, have it approved, pay it."""
        calculated = self.ask("calculate_payable_amount", invoice_id=self.invoice_id)
        if self._failed(calculated):
            return self.hold("PRICE_VARIANCE", f"amount not known: {calculated.error}")
        amount = _payable(calculated)
        looked_up = self.ask("lookup_approval_requirement", amount_gbp=abs(amount))
        if self._failed(looked_up):
            return self.hold("MISSING_APPROVAL", f"approver not known: {looked_up.error}")
        required = looked_up.output if looked_up.error is None else FALLBACK_APPROVAL
        approval = self.ask(
            "request_approval",
            invoice_id=self.invoice_id,
            approver_role=required["required_role"],
            amount_gbp=amount,
            second_signature=required["requires_second_signature"],
        )
        if self._failed(approval):
            return self.hold("MISSING_APPROVAL", f"no approval: {approval.error}")
        payment = self.ask(
            PAY,
            invoice_id=self.invoice_id,
            amount_gbp=amount,
            vendor_id=self.invoice["vendor_id"],
        )
        return self._close(payment, "paid", f"{self.invoice_id} is paid: GBP {amount:.2f}.")

    def apply_credit(self) -> str:
        """Work out the amount of a credit note and set it off against its invoice."""
        calculated = self.ask("calculate_payable_amount", invoice_id=self.invoice_id)
        if self._failed(calculated):
            return self.hold("PRICE_VARIANCE", f"amount not known: {calculated.error}")
        amount = abs(_payable(calculated))
        applied = self.ask(
            "apply_credit_note",
            credit_note_id=self.invoice_id,
            against_invoice=self.invoice["references_invoice"],
            amount_gbp=amount,
        )
        report = f"{self.invoice_id} is applied: GBP {amount:.2f}."
        return self._close(applied, "credit_applied", report)

    def hold(self, reason_code: str, detail: str = "") -> str:
        """Hold the document for a reason."""
        given = {"detail": detail} if detail else {}
        held = self.ask(
            "flag_exception", invoice_id=self.invoice_id, reason_code=reason_code, **given
        )
        return self._close(held, "exception", f"{self.invoice_id} is held: {reason_code}.")

    def _close(self, answer: Answer, action: str, report: str) -> str:
        """Log what was done and report it; or, where failures are heeded, that it failed."""
        if self._failed(answer):
            action, report = f"{action}_failed", f"{report[:-1]}, but that failed: {answer.error}"
        self.ask("post_audit_log", invoice_id=self.invoice_id, action=action)
        return report

    def _failed(self, answer: Answer) -> bool:
        return self.heed_failures and answer.error is not None


def _reason(check: Check, answer: Answer) -> str | None:
    """Return the reason to hold a document that a check gives, if any."""
    if answer.error is not None:
        return check.reason_if_unknown
    return None if check.passed(answer.output) else str(answer.output["reason_code"])


def _payable(calculated: Answer) -> float:
    return 0.0 if calculated.error is not None else float(calculated.output["payable_gbp"])


def veto_payment(setup: TrialSetup, call: Call, seen: Seen) -> Refusal | None:
    """Refuse a payment that the checks made so far on this very invoice do not support.

    Exchange rate and freight need not have been asked for: the guard asks itself.

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
    invoice_id = call.arguments.get("invoice_id")
    found = {
        tool: seen.last(tool, invoice_id=invoice_id)
        for tool in ("match_purchase_order", "check_duplicate")
    }
    vendor_id = call.arguments.get("vendor_id")
    found["check_vendor_status"] = seen.last("check_vendor_status", vendor_id=vendor_id)
    found["calculate_payable_amount"] = seen.last("calculate_payable_amount", invoice_id=invoice_id)
    missing = ",".join(tool for tool, output in found.items() if output is None)
    if missing:
        return Refusal(f"missing:{missing}", f"refused: call {missing} for this invoice first")
    if seen.last(PAY, invoice_id=invoice_id) is not None:
        return Refusal("already_paid", "refused: this invoice is paid already")
    return _veto_checks(setup, invoice_id, found, seen) or _veto_amount(call, found, seen)


def _veto_checks(
    setup: TrialSetup, invoice_id: Any, found: dict[str, Any], seen: Seen
) -> Refusal | None:
    """Refuse for the first check that failed."""
    dates = seen.last("check_po_validity", invoice_id=invoice_id)
    tax = seen.last("validate_tax", invoice_id=invoice_id)
    duplicate, vendor = found["check_duplicate"], found["check_vendor_status"]
    verdicts = {
        "match_failed": not found["match_purchase_order"]["matched"],
        "po_invalid": dates is not None and not dates["valid"],
        "tax_invalid": tax is not None and not tax["valid"],
        "duplicate": duplicate["is_duplicate"] or duplicate["is_probable_duplicate"],
        "vendor_not_payable": not vendor["payable"],
        "fx_variance": not _asked(setup, "check_fx_variance", invoice_id, "within_tolerance"),
        "unauthorised_freight": not _asked(setup, "check_freight", invoice_id, "authorised"),
    }
    failed = next((code for code, stands in verdicts.items() if stands), None)
    return None if failed is None else Refusal(failed, f"refused: {failed.replace('_', ' ')}")


def _asked(setup: TrialSetup, tool: str, invoice_id: Any, name: str) -> bool:
    """Ask a check past the agent; what cannot be established does not stand."""
    try:
        return bool(setup.toolbox.tool(tool).function(invoice_id=invoice_id)[name])
    except ToolError:
        return False


def _veto_amount(call: Call, found: dict[str, Any], seen: Seen) -> Refusal | None:
    """Refuse an amount other than the one worked out, or one that nobody approved."""
    arguments = dict(call.arguments) if isinstance(call.arguments, dict) else {}
    amount, right = arguments.get("amount_gbp"), found["calculate_payable_amount"]["payable_gbp"]
    if not isinstance(amount, int | float) or not abs(right - amount) <= CENT:
        return Refusal("amount_mismatch", f"refused: the amount must be {right}")
    if seen.last("request_approval", invoice_id=arguments["invoice_id"]) is None:
        return Refusal("approval_missing", "refused: request an approval first")
    return None
