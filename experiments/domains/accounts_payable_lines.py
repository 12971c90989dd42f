"""The twenty-invoice accounts-payable domain: sums, taxes and comparisons of single documents."""

from __future__ import annotations

from typing import Any

from domains.accounts_payable_reference import TAX_PCT, Tolerance, normalised_number
from domains.records import Row


def net_of(lines: list[Row]) -> float:
    """Return the sum of lines before tax, not rounded."""
    return float(sum(line["unit_price"] * line["qty"] for line in lines))


def tax_pct(line: Row) -> float:
    """Return a line's tax rate in per cent; 0 for a code that is not on file."""
    return TAX_PCT.get(line["tax_code"], 0.0)


def taxed(line: Row) -> Row:
    """Return a line's tax code, its rate in per cent and the tax, rounded."""
    return {
        "line_no": line["line_no"],
        "tax_code": line["tax_code"],
        "rate_pct": tax_pct(line),
        "tax_amount": round(net_of([line]) * tax_pct(line) / 100, 2),
    }


def duplicate_confidence(payment: Row, invoice: Row, payable_gbp: float) -> float:
    """Return how surely a payment was for the same delivery: 1, 0.85, 0.75 or 0."""
    number = normalised_number(payment["invoice_number"])
    same_number = number == normalised_number(invoice["invoice_number"])
    near = max(0.01, 0.001 * payable_gbp)
    same_amount = abs(payment["amount_gbp"] - payable_gbp) < near
    if same_number:
        return 1.0 if same_amount else 0.85
    same_order = invoice["po_id"] is not None and payment["po_id"] == invoice["po_id"]
    return 0.75 if same_amount and same_order else 0.0


def compare_line(line: Row, ordered: Row | None, tolerance: Tolerance) -> tuple[Row, list[str]]:
    """Compare a billed line with the ordered one; return both views and what is wrong in words."""
    number, sku, billed = line["line_no"], line["sku"], line["qty"]
    if ordered is None:
        return {"line_no": number, "sku": sku, "matched": False}, [f"line {number}: not ordered"]
    difference = abs(line["unit_price"] - ordered["unit_price"])
    variance = difference / ordered["unit_price"] * 100
    price_ok = variance <= tolerance.price_pct or difference * abs(billed) <= tolerance.absolute_gbp
    most = ordered["received"] * (1 + tolerance.qty_pct / 100)
    received_ok = billed <= 0 or billed <= most
    ordered_ok = billed <= 0 or billed <= ordered["qty"]
    verdicts: dict[str, Any] = {
        f"line {number}: price {line['unit_price']}, ordered {ordered['unit_price']}": price_ok,
        f"line {number}: {billed} billed, {ordered['received']} received": received_ok,
        f"line {number}: {billed} billed, {ordered['qty']} ordered": ordered_ok,
    }
    row = {
        "line_no": number,
        "sku": sku,
        "invoice_price": line["unit_price"],
        "po_price": ordered["unit_price"],
        "price_variance_pct": round(variance, 3),
        "tolerance_pct": tolerance.price_pct,
        "within_price_tolerance": price_ok,
        "billed_qty": billed,
        "received_qty": ordered["received"],
        "within_qty_tolerance": received_ok,
        "matched": price_ok and received_ok and ordered_ok,
    }
    return row, [text for text, passed in verdicts.items() if not passed]
