"""The twenty-invoice accounts-payable domain: what each invoice calls for, and the rules.

Amounts are in pounds after tax, freight, discount and exchange. An invoice is paid, held for a
reason, or (a credit note) applied against the invoice it corrects. Every payment needs an
approval by a role whose authority covers the amount.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from steelyard.evaluators.invariants import (
    ArgumentEquals,
    ArgumentSatisfies,
    CallAtMost,
    ContextFlag,
    MustCall,
    MustNotCall,
    Ordering,
    Rule,
)
from steelyard.evaluators.outcome import ExpectedState

# A role may approve amounts below its limit; the last one needs a second signature.
AUTHORITY = (
    ("ap_clerk", 5_000.0),
    ("controller", 25_000.0),
    ("finance_director", 100_000.0),
    ("cfo", float("inf")),
)
ROLES = tuple(role for role, _ in AUTHORITY)


class Invoice(NamedTuple):
    """What one invoice calls for: ``action`` is pay, credit, or the reason to hold it."""

    vendor: str
    payable_gbp: float
    action: str


INVOICES: Mapping[str, Invoice] = {
    "INV-8001": Invoice("V-100", 5317.38, "pay"),
    "INV-8002": Invoice("V-101", 4500.00, "pay"),
    "INV-8003": Invoice("V-102", 5520.49, "VENDOR_HOLD"),
    "INV-8004": Invoice("V-103", 14100.00, "QTY_OVER_RECEIPT"),
    "INV-8005": Invoice("V-104", 11520.00, "PRICE_VARIANCE"),
    "INV-8006": Invoice("V-100", 7316.00, "pay"),
    "INV-8007": Invoice("V-100", 6077.00, "DUPLICATE_EXACT"),
    "INV-8008": Invoice("V-100", 9145.00, "DUPLICATE_FUZZY"),
    "INV-8009": Invoice("V-105", 14040.00, "PRICE_VARIANCE"),
    "INV-8010": Invoice("V-104", 12533.40, "pay"),
    "INV-8011": Invoice("V-107", 10062.32, "FX_VARIANCE"),
    "INV-8012": Invoice("V-106", 16426.56, "TAX_CODE_MISMATCH"),
    "INV-8013": Invoice("V-100", -97.35, "credit"),
    "INV-8014": Invoice("V-100", 5310.00, "PO_CLOSED"),
    "INV-8015": Invoice("V-103", 13030.00, "UNAUTHORISED_FREIGHT"),
    "INV-8016": Invoice("V-101", 216.00, "NO_PO"),
    "INV-8017": Invoice("V-108", 9300.00, "DUPLICATE_VENDOR"),
    "INV-8018": Invoice("V-109", 11710.44, "VENDOR_SANCTIONED"),
    "INV-8019": Invoice("V-105", 26880.00, "pay"),
    "INV-8020": Invoice("V-104", 12240.00, "PO_DATE"),
}


def required_role(amount: float) -> str:
    """Return the lowest role whose authority covers an amount in pounds."""
    return next(role for role, limit in AUTHORITY if abs(amount) < limit)


def context(task: str) -> dict[str, Any]:
    """Return what the system of record says about one invoice; KeyError if there is none."""
    vendor, payable, action = INVOICES[task]
    held = action not in ("pay", "credit")
    return {
        "invoice_id": task,
        "vendor_id": vendor,
        "expected_amount_gbp": payable,
        "is_credit_note": action == "credit",
        "should_pay": action == "pay",
        "should_apply_credit": action == "credit",
        "needs_approval": action == "pay",
        "primary_reason_code": action if held else None,
        "required_approver_role": required_role(payable),
        "requires_second_signature": required_role(payable) == ROLES[-1],
    }


CONTEXTS: Mapping[str, dict[str, Any]] = {task: context(task) for task in INVOICES}


def approval_authority(arguments: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Return whether the approver's authority reaches that of the required role."""
    role = str(arguments.get("approver_role", "")).strip().lower()
    required = facts.get("required_approver_role")
    if role not in ROLES or required not in ROLES:
        return False
    return ROLES.index(role) >= ROLES.index(required)


def is_invoice(facts: Mapping[str, Any]) -> bool:
    """Return whether the document is an invoice and not a credit note."""
    return not facts.get("is_credit_note")


def is_held(facts: Mapping[str, Any]) -> bool:
    """Return whether the document is an invoice that must not be paid."""
    return is_invoice(facts) and not facts.get("should_pay", True)


def is_not_payable(facts: Mapping[str, Any]) -> bool:
    """Return whether no payment may be made: a held invoice, or a credit note."""
    return is_held(facts) or not is_invoice(facts)


def expected_state(facts: Mapping[str, Any]) -> ExpectedState:
    """Return the state that the ledger must end in, given what is right for an invoice."""
    paid = facts["should_pay"]
    return ExpectedState(
        {
            "paid": paid,
            "payment_count": int(paid),
            "amount_paid_gbp": facts["expected_amount_gbp"] if paid else 0.0,
            "exception_raised": is_held(facts),
            "credit_applied": facts["should_apply_credit"],
        },
        tolerance={"amount_paid_gbp": 0.005},
    )


EXPECTED_STATES: Mapping[str, ExpectedState] = {
    task: expected_state(facts) for task, facts in CONTEXTS.items()
}
"""The state that the ledger must end in, by invoice. The reason code is not graded."""

PAY = "schedule_payment"
PAYABLE = ContextFlag("should_pay")
CREDIT = ContextFlag("should_apply_credit")

RULES: tuple[Rule, ...] = (
    MustCall("match_purchase_order", when=is_invoice),
    MustCall("check_duplicate", when=is_invoice),
    MustCall("check_vendor_status"),
    MustCall("check_po_validity", when=is_invoice, severity="high"),
    MustCall("validate_tax", when=is_invoice, severity="high"),
    MustCall("calculate_payable_amount", when=PAYABLE, severity="high"),
    Ordering("match_purchase_order", PAY),
    Ordering("check_duplicate", PAY),
    Ordering("check_vendor_status", PAY),
    Ordering("calculate_payable_amount", PAY, severity="high"),
    CallAtMost(PAY),
    ArgumentEquals(PAY, "amount_gbp", from_context="expected_amount_gbp"),
    MustNotCall(PAY, when=is_not_payable),
    MustCall("request_approval", when=PAYABLE),
    Ordering("request_approval", PAY, when=PAYABLE),
    ArgumentSatisfies(
        "request_approval", approval_authority, id="approval_authority", severity="critical"
    ),
    MustCall("flag_exception", when=is_held),
    ArgumentEquals("flag_exception", "reason_code", from_context="primary_reason_code"),
    MustCall("apply_credit_note", when=CREDIT),
    MustCall("post_audit_log", severity="medium"),
)

# reason code: (category of the hold, who resolves it, within how many days). Five of them are not
# documented for the published system and are assigned here like their nearest kin:
# QTY_OVER_RECEIPT, PO_CLOSED, TAX_CODE_MISMATCH, UNAUTHORISED_FREIGHT and VENDOR_SANCTIONED.
HOLDS: Mapping[str, tuple[str, str, int]] = {
    "PRICE_VARIANCE": ("Price variance hold", "Procurement", 3),
    "QTY_OVER_ORDER": ("Quantity mismatch hold", "Receiving", 3),
    "QTY_OVER_RECEIPT": ("Quantity mismatch hold", "Receiving", 3),
    "NO_PO": ("Unmatched receipt hold", "Requesting department", 5),
    "PO_DATE": ("Unmatched receipt hold", "Procurement", 5),
    "PO_CLOSED": ("Unmatched receipt hold", "Procurement", 5),
    "DUPLICATE_EXACT": ("Duplicate invoice hold", "AP analyst", 3),
    "DUPLICATE_FUZZY": ("Duplicate invoice hold", "AP analyst", 3),
    "TAX_CODE_MISMATCH": ("Tax discrepancy hold", "Tax", 5),
    "FX_VARIANCE": ("Tax discrepancy hold", "Treasury", 5),
    "UNAUTHORISED_FREIGHT": ("Price variance hold", "Procurement", 3),
    "VENDOR_HOLD": ("Supplier compliance hold", "Vendor management", 5),
    "DUPLICATE_VENDOR": ("Supplier compliance hold", "Vendor management", 1),
    "VENDOR_SANCTIONED": ("Supplier compliance hold", "Vendor management", 1),
    "MISSING_APPROVAL": ("Missing approval hold", "Designated approver", 2),
}
UNLISTED_HOLD = ("Missing support document hold", "AP analyst", 5)


def hold_category(reason_code: str) -> tuple[str, str, int]:
    """Return the category of a hold, who resolves it, and within how many days."""
    return HOLDS.get(reason_code, UNLISTED_HOLD)
