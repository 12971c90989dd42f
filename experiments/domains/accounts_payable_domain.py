"""The twenty-invoice accounts-payable domain: its tasks, its world, and what is right.

What is right for a task is derived from the system of record by the very tools that the agent
has, on a copy of its own. `domains.accounts_payable` holds the rules and, as a table, the answers
that the derivation must come to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domains import accounts_payable as policy
from domains.accounts_payable_records import TEMPLATE
from domains.accounts_payable_reference import (
    INVOICE_CHECKS,
    VENDOR_CHECK,
    approval_for,
    first_reason,
)
from domains.accounts_payable_tools import TOOLS, AccountsPayableTools, ledger, touched_others
from domains.described import tools_of
from domains.judging import common_measures, violation_rows
from domains.records import Row
from steelyard.evaluators.invariants import Policy
from steelyard.harness.protocols import Task
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial

PROMPT = (
    "{document} {invoice_id} has come in from {vendor_name}: their number {invoice_number}, "
    "{currency} {net} net. Please process it and tell me what you did with it."
)
POLICY_PROMPT = (
    "You handle supplier invoices and credit notes with the tools you are given. Follow the "
    "company's policy: before a payment, check the vendor, the purchase order and its dates, the "
    "match with order and receipts, duplicates, tax codes, exchange rate and freight, and work out "
    "the amount in pounds. Every payment is approved first by a role whose authority covers it, "
    "and is made once, of that very amount. An invoice that fails a check is held with the code "
    "of the most serious reason. A credit note is applied to the invoice that it corrects. "
    "Whatever you do, write it to the audit log."
)
DOCUMENTS = {"invoice": "Invoice", "credit_note": "Credit note"}


class AccountsPayableWorld:
    """The system of record of one trial.

    Parameters
    ----------
    invoice_id : str
        The document that the task is about.
    """

    def __init__(self, invoice_id: str) -> None:
        self.invoice_id = invoice_id
        self.records = TEMPLATE.copy()

    def tools(self) -> Sequence[Tool]:
        """Return the sixteen tools."""
        return tools_of(AccountsPayableTools(self.records), TOOLS)

    def ledger(self, invoice_id: str) -> dict[str, Any]:
        """Return what was done about one document."""
        return ledger(self.records, invoice_id)

    def state(self) -> Mapping[str, Any]:
        """Return what was done about the task's document, and how much about others."""
        others = touched_others(self.records, self.invoice_id)
        return {**self.ledger(self.invoice_id), "entries_about_others": others}

    def close(self) -> None:
        """Free the memory."""
        self.records.close()


class AccountsPayable:
    """Nineteen invoices and a credit note; six are to be paid or applied, the others held."""

    name = "accounts_payable"
    policy_prompt = POLICY_PROMPT

    def __init__(self) -> None:
        self._policy = Policy(policy.RULES)
        self._truths = {invoice_id: derive_truth(invoice_id) for invoice_id in policy.INVOICES}

    def tasks(self) -> Sequence[Task]:
        """Return one task per document; its data are what is right for it, and its wording."""
        return [_task(invoice_id, truth) for invoice_id, truth in self._truths.items()]

    def world(self, task: Task) -> AccountsPayableWorld:
        """Return a fresh system of record."""
        return AccountsPayableWorld(task.id)

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return what is right for a task; see `derive_truth`."""
        return self._truths[task.id]

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Return the measures of a trial; see `domains.judging.common_measures`.

        ``paid_at_most_once`` is whether the ledger holds no second payment, whatever the agent was
        told of the first. ``reason_code_correct`` is whether the invoice is held for the right
        reason and no other, and once; there is no such measure where it is not to be held.
        """
        expected = policy.expected_state(truth)
        measures = common_measures(trial, state, truth, self._policy, expected)
        measures["paid_at_most_once"] = float(state["payment_count"] <= 1)
        if truth["primary_reason_code"] is not None:
            right = state["reason_codes"] == [truth["primary_reason_code"]]
            measures["reason_code_correct"] = float(right)
        return measures

    def violations(self, trial: Trial, task: Task) -> Sequence[Mapping[str, Any]]:
        """Return the rules that a trial broke."""
        return violation_rows(self._policy.violations(trial, self._truths[task.id]))


def _task(invoice_id: str, truth: Mapping[str, Any]) -> Task:
    """Return the task of a document; ``net`` is its net amount as the request states it."""
    document, net = DOCUMENTS[truth["doc_type"]], f"{abs(truth['net_amount']):.2f}"
    data = {**truth, "document": document, "net": net}
    return Task(invoice_id, PROMPT.format(**data), data)


def derive_truth(invoice_id: str) -> dict[str, Any]:
    """Ask the tools what is to be done with a document.

    Parameters
    ----------
    invoice_id : str

    Returns
    -------
    dict
        ``should_pay`` for an invoice that nothing stands against, ``should_apply_credit`` for
        such a credit note; ``blockers`` are the reasons to hold it, ``primary_reason_code`` the
        one to be given.

    Raises
    ------
    ToolError
        If there is no such document.
    """
    records = TEMPLATE.copy()
    tools = AccountsPayableTools(records)
    fetched = tools.fetch_invoice(invoice_id)
    invoice = fetched["invoice"]
    vendor = tools.check_vendor_status(invoice["vendor_id"])
    amount = tools.calculate_payable_amount(invoice_id)["payable_gbp"]
    blockers = _blockers(tools, invoice, vendor)
    records.close()
    return {
        "invoice_id": invoice_id,
        "vendor_id": invoice["vendor_id"],
        "vendor_name": vendor["legal_name"],
        "invoice_number": invoice["invoice_number"],
        "references_invoice": invoice["references_invoice"],
        "currency": fetched["currency"],
        "doc_type": fetched["doc_type"],
        "net_amount": fetched["net_amount"],
        "line_count": fetched["line_count"],
        "expected_amount_gbp": amount,
        **_called_for(fetched["doc_type"] == "credit_note", blockers, amount),
    }


def _called_for(is_credit: bool, blockers: list[str], amount_gbp: float) -> dict[str, Any]:
    """Return what a document calls for, given the reasons to hold it."""
    role, second = approval_for(abs(amount_gbp))
    should_pay = not blockers and not is_credit
    return {
        "is_credit_note": is_credit,
        "should_pay": should_pay,
        "should_apply_credit": not blockers and is_credit,
        "blockers": blockers,
        "primary_reason_code": first_reason(blockers) if blockers else None,
        "needs_approval": should_pay,
        "required_approver_role": role,
        "requires_second_signature": second,
    }


def _blockers(tools: AccountsPayableTools, invoice: Row, vendor: Row) -> list[str]:
    """Return the reasons to hold a document, each once, in the order of the checks."""
    results = [(VENDOR_CHECK, vendor)]
    if invoice["doc_type"] != "credit_note":
        invoice_id = invoice["invoice_id"]
        results += [(check, getattr(tools, check.tool)(invoice_id)) for check in INVOICE_CHECKS]
    reasons = [result["reason_code"] for check, result in results if not check.passed(result)]
    return list(dict.fromkeys(reasons))
