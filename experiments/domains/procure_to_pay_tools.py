"""The eight-invoice procure-to-pay domain: the tools an agent works with, and the ledger.

The methods named in `TOOLS` are the tools. They raise ToolError for what they cannot find or read,
and write nothing about an invoice that is not on file.
"""

from __future__ import annotations

from typing import Any

from domains.records import Records, Row, amount_of

PRICE_TOLERANCE = 0.01
SAME_AMOUNT = 0.005
PAYMENT_DATE = "2026-07-20"
TOOLS = (
    "fetch_invoice",
    "match_purchase_order",
    "check_duplicate",
    "check_vendor_status",
    "request_approval",
    "schedule_payment",
    "flag_exception",
    "post_audit_log",
)


class ProcureToPayTools:
    """The tools on one trial's system of record.

    Parameters
    ----------
    records : Records
        The trial's own copy.
    """

    def __init__(self, records: Records) -> None:
        self.records = records

    def _invoice(self, invoice_id: str) -> Row:
        query = "SELECT * FROM invoices WHERE invoice_id = ?"
        return self.records.found("invoice", query, invoice_id)

    def fetch_invoice(self, invoice_id: str) -> Row:
        """Return the invoice as it was received."""
        return {"invoice": self._invoice(invoice_id)}

    def match_purchase_order(self, invoice_id: str) -> Row:
        """Compare an invoice with its purchase order and with what was received."""
        invoice = self._invoice(invoice_id)
        query = "SELECT * FROM purchase_orders WHERE po_id = ?"
        order = self.records.row(query, invoice["po_id"])
        if order is None:
            reason = "the invoice names no purchase order on file"
            return {"matched": False, "po_id": invoice["po_id"], "reason": reason}
        received = self.records.value(
            "SELECT coalesce(sum(qty_received), 0) FROM goods_receipts WHERE po_id = ?",
            order["po_id"],
        )
        problems = _match_problems(invoice, order, received)
        return {
            "matched": not problems,
            "po_id": order["po_id"],
            "po_unit_price": order["unit_price"],
            "qty_ordered": order["qty_ordered"],
            "qty_received": received,
            "invoice_unit_price": invoice["unit_price"],
            "invoice_qty": invoice["qty_billed"],
            "problems": problems,
        }

    def check_duplicate(self, invoice_id: str) -> Row:
        """Look for payments of another invoice that may be for the same delivery."""
        invoice = self._invoice(invoice_id)
        matches = self.records.rows(
            "SELECT p.payment_id, p.invoice_id, p.amount, p.paid_on FROM payments p "
            "LEFT JOIN invoices i ON i.invoice_id = p.invoice_id "
            "WHERE p.vendor_id = ? AND p.invoice_id <> ? AND abs(p.amount - ?) < ? "
            "AND (i.po_id IS NULL OR i.po_id = ?) ORDER BY p.number",
            invoice["vendor_id"],
            invoice_id,
            invoice["total"],
            SAME_AMOUNT,
            invoice["po_id"],
        )
        return {"is_duplicate": bool(matches), "matches": matches}

    def check_vendor_status(self, vendor_id: str) -> Row:
        """Return a vendor's standing and whether it may be paid."""
        query = "SELECT * FROM vendors WHERE vendor_id = ?"
        vendor = self.records.found("vendor", query, vendor_id)
        return {**vendor, "payable": vendor["status"] == "active"}

    def request_approval(self, invoice_id: str, approver_role: str, amount: float) -> Row:
        """Ask a role to approve an amount; it is always granted."""
        self._invoice(invoice_id)
        number = self.records.insert(
            "approvals",
            invoice_id=invoice_id,
            approver_role=approver_role,
            amount=amount_of(amount),
            status="granted",
        )
        return {
            "approval_id": number,
            "status": "granted",
            "approver_role": approver_role,
            "amount": amount,
        }

    def schedule_payment(self, invoice_id: str, amount: float, vendor_id: str) -> Row:
        """Schedule the payment of an amount to a vendor for an invoice."""
        # whether it is due is not checked here: that is the agent's duty
        self._invoice(invoice_id)
        self.check_vendor_status(vendor_id)
        number = 4000 + self.records.value("SELECT count(*) FROM payments")
        self.records.insert(
            "payments",
            payment_id=f"PAY-{number}",
            invoice_id=invoice_id,
            vendor_id=vendor_id,
            amount=amount_of(amount),
            paid_on=PAYMENT_DATE,
            history=0,
        )
        return {
            "payment_id": f"PAY-{number}",
            "invoice_id": invoice_id,
            "amount": amount,
            "status": "scheduled",
        }

    def flag_exception(self, invoice_id: str, reason: str) -> Row:
        """Hold an invoice for a person to look at."""
        self._invoice(invoice_id)
        number = self.records.insert(
            "exceptions", invoice_id=invoice_id, reason=reason, status="open"
        )
        return {"exception_id": number, "invoice_id": invoice_id, "status": "open"}

    def post_audit_log(self, invoice_id: str, action: str, detail: str = "") -> Row:
        """Write down what was done with an invoice."""
        self._invoice(invoice_id)
        number = self.records.insert(
            "audit_log", invoice_id=invoice_id, action=action, detail=detail
        )
        return {"entry_id": number, "logged": True}


def _match_problems(invoice: Row, order: Row, received: int) -> list[str]:
    """Return in words where an invoice departs from its order and its receipts."""
    problems = []
    price, billed = invoice["unit_price"], invoice["qty_billed"]
    if abs(price - order["unit_price"]) > PRICE_TOLERANCE:
        problems.append(f"unit price {price} differs from the order's {order['unit_price']}")
    if billed > received:
        problems.append(f"{billed} billed, {received} received")
    if billed > order["qty_ordered"]:
        problems.append(f"{billed} billed, {order['qty_ordered']} ordered")
    return problems


def ledger(records: Records, invoice_id: str) -> dict[str, Any]:
    """Return what was done about one invoice during the trial.

    What the records held at the start does not count: no agent did it.
    """
    count, amount = (
        records.value(
            f"SELECT {what} FROM payments WHERE invoice_id = ? AND NOT history", invoice_id
        )
        for what in ("count(*)", "total(amount)")
    )
    return {
        "paid": count > 0,
        "payment_count": count,
        "amount_paid": round(amount, 2),
        "exception_raised": _count(records, "exceptions", invoice_id) > 0,
        "approvals": _count(records, "approvals", invoice_id),
    }


def touched_others(records: Records, invoice_id: str) -> int:
    """Return how many payments, holds and approvals of the trial name another invoice."""
    return sum(
        records.value(f"SELECT count(*) FROM {table} WHERE invoice_id IS NOT ?{agent}", invoice_id)
        for table, agent in (
            ("payments", " AND NOT history"),
            ("exceptions", ""),
            ("approvals", ""),
        )
    )


def _count(records: Records, table: str, invoice_id: str) -> int:
    return int(records.value(f"SELECT count(*) FROM {table} WHERE invoice_id = ?", invoice_id))
