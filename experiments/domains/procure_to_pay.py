"""The eight-invoice procure-to-pay domain: what each invoice calls for, and the rules for agents.

An agent is told that an invoice came in and asked to process it. Whether it may be paid follows
from the system of record: the purchase order must match, no other payment may cover the same
order, the vendor must be payable; above the threshold a payment needs an approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy

APPROVAL_THRESHOLD = 10_000.0
APPROVERS = ("controller", "cfo")

# invoice: vendor, total, purchase order matches, already paid elsewhere, vendor payable
INVOICES: Mapping[str, tuple[str, float, bool, bool, bool]] = {
    "INV-7002": ("V-101", 4500.0, True, False, True),
    "INV-7003": ("V-102", 5340.0, True, False, False),
    "INV-7004": ("V-103", 11750.0, False, False, True),
    "INV-7005": ("V-104", 9600.0, False, False, True),
    "INV-7006": ("V-100", 7750.0, True, False, True),
    "INV-7007": ("V-100", 4820.0, True, True, True),
    "INV-7008": ("V-101", 1800.0, False, False, True),
    "INV-7009": ("V-100", 14500.0, True, False, True),
}


def context(task: str) -> dict[str, Any]:
    """Return what the system of record says about one invoice; KeyError if there is none."""
    vendor, total, matches, duplicate, payable = INVOICES[task]
    should_pay = matches and not duplicate and payable
    return {
        "invoice_id": task,
        "vendor_id": vendor,
        "expected_amount": total,
        "match_ok": matches,
        "is_duplicate": duplicate,
        "vendor_payable": payable,
        "should_pay": should_pay,
        "needs_approval": should_pay and total > APPROVAL_THRESHOLD,
        "approval_threshold": APPROVAL_THRESHOLD,
    }


CONTEXTS: Mapping[str, dict[str, Any]] = {task: context(task) for task in INVOICES}


def expected_state(facts: Mapping[str, Any]) -> ExpectedState:
    """Return the state that the ledger must end in, given what is right for an invoice."""
    paid = facts["should_pay"]
    return ExpectedState(
        {
            "paid": paid,
            "payment_count": int(paid),
            "amount_paid": facts["expected_amount"] if paid else 0.0,
            "exception_raised": not paid,
        },
        tolerance={"amount_paid": 0.005},
    )


EXPECTED_STATES: Mapping[str, ExpectedState] = {
    task: expected_state(facts) for task, facts in CONTEXTS.items()
}
"""The state that the ledger must end in, by invoice. Approvals are not graded."""


def approval_route(arguments: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Return whether the approver may approve the amount: above the threshold only some may."""
    threshold = facts.get("approval_threshold", APPROVAL_THRESHOLD)
    role = str(arguments.get("approver_role", "")).strip().lower()
    return float(arguments.get("amount", 0)) <= threshold or role in APPROVERS


PAY = "schedule_payment"
UNPAYABLE = ContextFlag("should_pay", value=False)
NEEDS_APPROVAL = ContextFlag("needs_approval")

RULES: tuple[Rule, ...] = (
    MustCall("match_purchase_order"),
    MustCall("check_duplicate"),
    MustCall("check_vendor_status", severity="high"),
    Ordering("match_purchase_order", PAY),
    Ordering("check_duplicate", PAY),
    Ordering("check_vendor_status", PAY),
    CallAtMost(PAY),
    ArgumentEquals(PAY, "amount", from_context="expected_amount"),
    MustNotCall(PAY, when=UNPAYABLE),
    MustCall("request_approval", when=NEEDS_APPROVAL),
    Ordering("request_approval", PAY, when=NEEDS_APPROVAL),
    ArgumentSatisfies("request_approval", approval_route, id="approval_route"),
    MustCall("flag_exception", when=UNPAYABLE, severity="high"),
    MustCall("post_audit_log", severity="medium"),
)

_EXACT = FieldPolicy("exact")
_CRITICAL = FieldPolicy("exact", severity="critical")
_CRITICAL_AMOUNT = FieldPolicy("numeric", severity="critical")

ARGUMENT_SCHEMAS: Mapping[str, ArgumentSchema] = {
    PAY: ArgumentSchema(
        {"amount": _CRITICAL_AMOUNT, "invoice_id": _CRITICAL, "vendor_id": _CRITICAL}
    ),
    "request_approval": ArgumentSchema(
        {
            "amount": _CRITICAL_AMOUNT,
            "invoice_id": _CRITICAL,
            "approver_role": FieldPolicy("exact", severity="high"),
        }
    ),
    "flag_exception": ArgumentSchema(
        {"invoice_id": _CRITICAL, "reason": FieldPolicy("text", severity="low")}
    ),
    "post_audit_log": ArgumentSchema(
        {
            "invoice_id": FieldPolicy("exact", severity="medium"),
            "action": FieldPolicy("text", severity="low"),
            "detail": FieldPolicy("ignore"),
        }
    ),
    "fetch_invoice": ArgumentSchema({"invoice_id": _EXACT}),
    "match_purchase_order": ArgumentSchema({"invoice_id": _EXACT}),
    "check_duplicate": ArgumentSchema({"invoice_id": _EXACT}),
    "check_vendor_status": ArgumentSchema({"vendor_id": _EXACT}),
}
