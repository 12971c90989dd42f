"""The twenty-invoice accounts-payable domain: the tools that write, and the ledger."""

from __future__ import annotations

from typing import Any

from domains.accounts_payable import HOLDS
from domains.accounts_payable_checks import AccountsPayableChecks
from domains.records import Records, Row, amount_of
from steelyard.harness.tools import ToolError

PAYMENT_DATE = "2026-07-25"
TOOLS = (
    "fetch_invoice",
    "fetch_invoice_lines",
    "match_purchase_order",
    "check_duplicate",
    "check_vendor_status",
    "check_po_validity",
    "validate_tax",
    "check_fx_variance",
    "check_freight",
    "calculate_payable_amount",
    "lookup_approval_requirement",
    "request_approval",
    "schedule_payment",
    "apply_credit_note",
    "flag_exception",
    "post_audit_log",
)


class AccountsPayableTools(AccountsPayableChecks):
    """All sixteen tools on one trial's system of record.

    Those that write check that what they name is on file, and nothing else: whether a payment is
    due is for the agent to find out.
    """

    def request_approval(
        self,
        invoice_id: str,
        approver_role: str,
        amount_gbp: float,
        second_signature: bool = False,
    ) -> Row:
        """Ask a role to approve an amount; it is always granted."""
        self._invoice(invoice_id)
        number = self.records.insert(
            "approvals",
            invoice_id=invoice_id,
            approver_role=approver_role,
            amount_gbp=amount_of(amount_gbp),
            second_signature=second_signature,
            status="granted",
        )
        return {
            "approval_id": number,
            "status": "granted",
            "approver_role": approver_role,
            "amount_gbp": amount_gbp,
        }

    def schedule_payment(self, invoice_id: str, amount_gbp: float, vendor_id: str) -> Row:
        """Schedule the payment of an amount in pounds to a vendor for an invoice."""
        self._invoice(invoice_id)
        self._vendor(vendor_id)
        number = 4000 + self.records.value("SELECT count(*) FROM payments")
        self.records.insert(
            "payments",
            payment_id=f"PAY-{number}",
            invoice_id=invoice_id,
            vendor_id=vendor_id,
            amount_gbp=amount_of(amount_gbp),
            paid_on=PAYMENT_DATE,
            method="bacs",
            history=0,
        )
        return {
            "payment_id": f"PAY-{number}",
            "invoice_id": invoice_id,
            "amount_gbp": amount_gbp,
            "status": "scheduled",
        }

    def apply_credit_note(
        self, credit_note_id: str, against_invoice: str, amount_gbp: float
    ) -> Row:
        """Set the amount of a credit note off against the invoice it corrects."""
        self._invoice(credit_note_id)
        self._invoice(against_invoice)
        number = self.records.insert(
            "credit_applications",
            credit_note_id=credit_note_id,
            against_invoice=against_invoice,
            amount_gbp=amount_of(amount_gbp),
        )
        return {
            "application_id": number,
            "credit_note_id": credit_note_id,
            "against_invoice": against_invoice,
            "amount_gbp": amount_gbp,
            "status": "applied",
        }

    def flag_exception(self, invoice_id: str, reason_code: str, detail: str = "") -> Row:
        """Hold an invoice for one of the reasons that have a code."""
        self._invoice(invoice_id)
        if not isinstance(reason_code, str) or reason_code not in HOLDS:
            raise ToolError(f"unknown reason code {reason_code!r}; accepted are {', '.join(HOLDS)}")
        number = self.records.insert(
            "exceptions",
            invoice_id=invoice_id,
            reason_code=reason_code,
            detail=detail,
            status="open",
        )
        return {
            "exception_id": number,
            "invoice_id": invoice_id,
            "reason_code": reason_code,
            "status": "open",
        }

    def post_audit_log(self, invoice_id: str, action: str, detail: str = "") -> Row:
        """Write down what was done with an invoice."""
        self._invoice(invoice_id)
        number = self.records.insert(
            "audit_log", invoice_id=invoice_id, action=action, detail=detail
        )
        return {"entry_id": number, "logged": True}


def ledger(records: Records, invoice_id: str) -> dict[str, Any]:
    """Return what was done about one invoice during the trial."""
    payments = records.rows(
        "SELECT amount_gbp FROM payments WHERE invoice_id = ? AND NOT history", invoice_id
    )
    holds = records.rows("SELECT reason_code FROM exceptions WHERE invoice_id = ?", invoice_id)
    approvals = records.rows("SELECT approver_role FROM approvals WHERE invoice_id = ?", invoice_id)
    credit = "SELECT count(*) FROM credit_applications WHERE credit_note_id = ?"
    return {
        "paid": bool(payments),
        "payment_count": len(payments),
        "amount_paid_gbp": round(sum(payment["amount_gbp"] for payment in payments), 2),
        "exception_raised": bool(holds),
        "reason_codes": sorted(hold["reason_code"] for hold in holds),
        "credit_applied": records.value(credit, invoice_id) > 0,
        "approvals": len(approvals),
        "approver_roles": sorted(str(approval["approver_role"]) for approval in approvals),
    }


def touched_others(records: Records, invoice_id: str) -> int:
    """Return how many payments, holds, approvals and credits of the trial name another invoice."""
    counted = (
        "SELECT count(*) FROM payments WHERE invoice_id <> ? AND NOT history",
        "SELECT count(*) FROM exceptions WHERE invoice_id <> ?",
        "SELECT count(*) FROM approvals WHERE invoice_id <> ?",
        "SELECT count(*) FROM credit_applications WHERE credit_note_id <> ?",
    )
    return sum(records.value(query, invoice_id) for query in counted)
