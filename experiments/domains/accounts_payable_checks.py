"""The twenty-invoice accounts-payable domain: the tools that only read."""

from __future__ import annotations

from domains.accounts_payable_lines import (
    compare_line,
    duplicate_confidence,
    net_of,
    tax_pct,
    taxed,
)
from domains.accounts_payable_reference import (
    FX_TOLERANCE_PCT,
    NO_TOLERANCE,
    SETTLEMENT_DISCOUNT_PCT,
    TAX_PCT,
    TOLERANCES,
    approval_for,
    rate_to_gbp,
)
from domains.records import Records, Row, amount_of


class AccountsPayableChecks:
    """The reading half of the tools on one trial's system of record.

    Every check returns ``reason_code``: None, or the reason to hold the invoice.
    """

    def __init__(self, records: Records) -> None:
        self.records = records

    def _invoice(self, invoice_id: str) -> Row:
        query = "SELECT * FROM invoices WHERE invoice_id = ?"
        return self.records.found("invoice", query, invoice_id)

    def _vendor(self, vendor_id: str) -> Row:
        query = "SELECT * FROM vendors WHERE vendor_id = ?"
        return self.records.found("vendor", query, vendor_id)

    def _order(self, po_id: str | None) -> Row | None:
        return self.records.row("SELECT * FROM purchase_orders WHERE po_id = ?", po_id)

    def _order_lines(self, po_id: str | None) -> dict[str, Row]:
        """Return the lines of an order by SKU, each with the quantity received."""
        lines = self.records.rows(
            "SELECT l.*, (SELECT coalesce(sum(qty_received), 0) FROM goods_receipts g "
            "WHERE g.po_id = l.po_id AND g.sku = l.sku) AS received "
            "FROM po_lines l WHERE l.po_id = ? ORDER BY l.line_no",
            po_id,
        )
        return {line["sku"]: line for line in lines}

    def _lines(self, invoice_id: str) -> list[Row]:
        query = "SELECT * FROM invoice_lines WHERE invoice_id = ? ORDER BY line_no"
        return self.records.rows(query, invoice_id)

    def fetch_invoice(self, invoice_id: str) -> Row:
        """Return the header of an invoice or credit note, with its net amount."""
        invoice, lines = self._invoice(invoice_id), self._lines(invoice_id)
        return {
            "invoice": invoice,
            "line_count": len(lines),
            "net_amount": round(net_of(lines), 2),
            "currency": invoice["currency"],
            "doc_type": invoice["doc_type"],
        }

    def fetch_invoice_lines(self, invoice_id: str) -> Row:
        """Return the lines of an invoice or credit note."""
        self._invoice(invoice_id)
        return {"lines": self._lines(invoice_id)}

    def match_purchase_order(self, invoice_id: str) -> Row:
        """Compare each line with the order and with what was received, within the tolerances."""
        invoice = self._invoice(invoice_id)
        order = self._order(invoice["po_id"])
        if order is None:
            unmatched = {"matched": False, "reason_code": "NO_PO", "po_id": invoice["po_id"]}
            return {**unmatched, "lines": [], "detail": "no purchase order on file"}
        tolerance = TOLERANCES.get(order["category"], NO_TOLERANCE)
        ordered = self._order_lines(order["po_id"])
        compared = [
            compare_line(line, ordered.get(line["sku"]), tolerance)
            for line in self._lines(invoice_id)
        ]
        problems = [text for _, texts in compared for text in texts]
        short = any(not line.get("within_qty_tolerance", True) for line, _ in compared)
        failed = "QTY_OVER_RECEIPT" if short else "PRICE_VARIANCE"
        return {
            "matched": not problems,
            "po_id": order["po_id"],
            "category": order["category"],
            "cost_centre": order["cost_centre"],
            "tolerance_policy": tolerance._asdict(),
            "lines": [line for line, _ in compared],
            "problems": problems,
            "reason_code": failed if problems else None,
        }

    def check_duplicate(self, invoice_id: str) -> Row:
        """Compare an invoice with the payments made to its vendor for other invoices."""
        invoice = self._invoice(invoice_id)
        payable = self._payable_gbp(invoice)
        payments = self.records.rows(
            "SELECT p.payment_id, p.invoice_id, p.vendor_id, p.amount_gbp, p.paid_on, p.method, "
            "i.invoice_number, i.po_id, i.invoice_date FROM payments p "
            "JOIN invoices i ON i.invoice_id = p.invoice_id "
            "WHERE p.vendor_id = ? AND p.invoice_id <> ? ORDER BY p.number",
            invoice["vendor_id"],
            invoice_id,
        )
        graded = [{**p, "confidence": duplicate_confidence(p, invoice, payable)} for p in payments]
        exact = [payment for payment in graded if payment["confidence"] == 1.0]
        probable = [payment for payment in graded if 0.0 < payment["confidence"] < 1.0]
        return {
            "is_duplicate": bool(exact),
            "is_probable_duplicate": bool(probable),
            "exact_matches": exact,
            "probable_matches": probable,
            "reason_code": "DUPLICATE_EXACT" if exact else "DUPLICATE_FUZZY" if probable else None,
        }

    def check_vendor_status(self, vendor_id: str) -> Row:
        """Return a vendor's standing: sanctions, holds, a bank account shared with another."""
        vendor = self._vendor(vendor_id)
        sharing = self.records.rows(
            "SELECT vendor_id, legal_name FROM vendors WHERE bank_account = ? AND vendor_id <> ? "
            "ORDER BY vendor_id",
            vendor["bank_account"],
            vendor_id,
        )
        query = "SELECT count(*) FROM payments WHERE vendor_id = ?"
        known = self.records.value(query, vendor_id) > 0
        reason = None
        if vendor["sanctioned"]:
            reason = "VENDOR_SANCTIONED"
        elif vendor["status"] != "active":
            reason = "VENDOR_HOLD"
        elif sharing and not known:
            reason = "DUPLICATE_VENDOR"
        return {
            "vendor_id": vendor_id,
            "legal_name": vendor["legal_name"],
            "status": vendor["status"],
            "sanctioned": bool(vendor["sanctioned"]),
            "payment_terms": vendor["payment_terms"],
            "currency": vendor["currency"],
            "shares_bank_account_with": sharing,
            "has_payment_history": known,
            "payable": reason is None,
            "reason_code": reason,
        }

    def check_po_validity(self, invoice_id: str) -> Row:
        """Check that the order was open on the date of the invoice."""
        invoice = self._invoice(invoice_id)
        order = self._order(invoice["po_id"])
        if order is None:
            return {"valid": False, "reason_code": "NO_PO"}
        if order["status"] != "open":
            return {"valid": False, "reason_code": "PO_CLOSED", "po_status": order["status"]}
        if invoice["invoice_date"] > order["expires_on"]:
            return {"valid": False, "reason_code": "PO_CLOSED", "po_status": "expired"}
        if invoice["invoice_date"] < order["created_on"]:
            return {"valid": False, "reason_code": "PO_DATE"}
        return {
            "valid": True,
            "reason_code": None,
            "po_status": order["status"],
            "created_on": order["created_on"],
            "expires_on": order["expires_on"],
        }

    def validate_tax(self, invoice_id: str) -> Row:
        """Compare the tax codes with those of the order and work out the tax."""
        invoice, lines = self._invoice(invoice_id), self._lines(invoice_id)
        ordered = self._order_lines(invoice["po_id"])
        issues = []
        for line in lines:
            code, expected = line["tax_code"], ordered.get(line["sku"], line)["tax_code"]
            if code not in TAX_PCT:
                issues.append(f"line {line['line_no']}: unknown tax code {code}")
            elif code != expected:
                issues.append(f"line {line['line_no']}: tax code {code}, the order says {expected}")
        per_line = [taxed(line) for line in lines]
        return {
            "valid": not issues,
            "issues": issues,
            "lines": per_line,
            "total_tax": round(sum(line["tax_amount"] for line in per_line), 2),
            "reason_code": "TAX_CODE_MISMATCH" if issues else None,
        }

    def check_fx_variance(self, invoice_id: str) -> Row:
        """Compare the exchange rate of the invoice's date with that of the order's."""
        invoice = self._invoice(invoice_id)
        order = self._order(invoice["po_id"])
        if invoice["currency"] == "GBP" or order is None:
            within = {"within_tolerance": True, "reason_code": None}
            return {"applicable": False, "variance_pct": 0.0, **within}
        then = rate_to_gbp(invoice["currency"], order["created_on"])
        now = rate_to_gbp(invoice["currency"], invoice["invoice_date"])
        variance = abs(now - then) / then * 100
        within_tolerance = variance <= FX_TOLERANCE_PCT
        return {
            "applicable": True,
            "po_rate": then,
            "invoice_rate": now,
            "variance_pct": round(variance, 3),
            "tolerance_pct": FX_TOLERANCE_PCT,
            "within_tolerance": within_tolerance,
            "reason_code": None if within_tolerance else "FX_VARIANCE",
        }

    def check_freight(self, invoice_id: str) -> Row:
        """Check that freight, where it is charged, was ordered."""
        invoice = self._invoice(invoice_id)
        ordered = any("FRT" in sku for sku in self._order_lines(invoice["po_id"]))
        authorised = invoice["freight"] <= 0 or ordered
        return {
            "freight_charged": invoice["freight"],
            "authorised": authorised,
            "reason_code": None if authorised else "UNAUTHORISED_FREIGHT",
        }

    def calculate_payable_amount(self, invoice_id: str) -> Row:
        """Work out what is to be paid: net, tax, freight, settlement discount, pounds."""
        invoice, lines = self._invoice(invoice_id), self._lines(invoice_id)
        terms = self._vendor(invoice["vendor_id"])["payment_terms"]
        net = round(net_of(lines), 2)
        tax = round(sum(taxed(line)["tax_amount"] for line in lines), 2)
        gross = round(net + tax + invoice["freight"], 2)
        discount = round(net * SETTLEMENT_DISCOUNT_PCT.get(terms, 0.0) / 100, 2)
        payable = round(gross - discount, 2)
        rate = rate_to_gbp(invoice["currency"], invoice["invoice_date"])
        return {
            "net": net,
            "tax": tax,
            "freight": invoice["freight"],
            "gross": gross,
            "payment_terms": terms,
            "settlement_discount": discount,
            "payable_in_invoice_currency": payable,
            "currency": invoice["currency"],
            "fx_rate": rate,
            "payable_gbp": round(payable * rate, 2),
        }

    def lookup_approval_requirement(self, amount_gbp: float) -> Row:
        """Return which role must approve an amount, and whether a second one must sign."""
        role, second = approval_for(amount_of(amount_gbp))
        return {
            "amount_gbp": amount_gbp,
            "required_role": role,
            "requires_second_signature": second,
        }

    def _payable_gbp(self, invoice: Row) -> float:
        """Return what is to be paid, rounded once at the end."""
        lines = self._lines(invoice["invoice_id"])
        terms = self._vendor(invoice["vendor_id"])["payment_terms"]
        net = net_of(lines)
        tax = sum(net_of([line]) * tax_pct(line) / 100 for line in lines)
        discount = net * SETTLEMENT_DISCOUNT_PCT.get(terms, 0.0) / 100
        rate = rate_to_gbp(invoice["currency"], invoice["invoice_date"])
        return float(round((net + tax + invoice["freight"] - discount) * rate, 2))
