"""The twenty-invoice accounts-payable domain: its eleven tables and what they hold at the start.

All dates are in 2026 and written as text that sorts; amounts are in the document's currency
unless a name ends in ``_gbp``.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from domains.records import Template

SCHEMA = """
CREATE TABLE vendors (
    vendor_id TEXT PRIMARY KEY, legal_name TEXT, status TEXT, sanctioned INTEGER,
    payment_terms TEXT, currency TEXT, bank_account TEXT
);
CREATE TABLE purchase_orders (
    po_id TEXT PRIMARY KEY, vendor_id TEXT, currency TEXT, cost_centre TEXT, category TEXT,
    created_on TEXT, expires_on TEXT, status TEXT
);
CREATE TABLE po_lines (
    po_id TEXT, line_no INTEGER, sku TEXT, unit_price REAL, qty INTEGER, tax_code TEXT,
    PRIMARY KEY (po_id, line_no)
);
CREATE TABLE goods_receipts (
    receipt_id TEXT PRIMARY KEY, po_id TEXT, sku TEXT, qty_received INTEGER
);
CREATE TABLE invoices (
    invoice_id TEXT PRIMARY KEY, vendor_id TEXT, po_id TEXT, invoice_number TEXT, doc_type TEXT,
    currency TEXT, invoice_date TEXT, received_on TEXT, freight REAL, references_invoice TEXT
);
CREATE TABLE invoice_lines (
    invoice_id TEXT, line_no INTEGER, sku TEXT, unit_price REAL, qty INTEGER, tax_code TEXT,
    PRIMARY KEY (invoice_id, line_no)
);
CREATE TABLE payments (
    number INTEGER PRIMARY KEY, payment_id TEXT, invoice_id TEXT, vendor_id TEXT,
    amount_gbp REAL, paid_on TEXT, method TEXT, history INTEGER
);
CREATE TABLE exceptions (
    exception_id INTEGER PRIMARY KEY, invoice_id TEXT, reason_code TEXT, detail TEXT, status TEXT
);
CREATE TABLE approvals (
    approval_id INTEGER PRIMARY KEY, invoice_id TEXT, approver_role TEXT, amount_gbp REAL,
    second_signature INTEGER, status TEXT
);
CREATE TABLE credit_applications (
    application_id INTEGER PRIMARY KEY, credit_note_id TEXT, against_invoice TEXT, amount_gbp REAL
);
CREATE TABLE audit_log (
    entry_id INTEGER PRIMARY KEY, invoice_id TEXT, action TEXT, detail TEXT
);
"""

# V-108 shares its bank account with V-100
VENDORS = (
    ("V-100", "Ridgeline Components Ltd", "active", 0, "2/10 NET30", "GBP", "B1"),
    ("V-101", "Ashfield Logistics PLC", "active", 0, "NET45", "GBP", "B2"),
    ("V-102", "Corvin Industrial GmbH", "hold", 0, "NET30", "EUR", "B3"),
    ("V-103", "Delmar Packaging Ltd", "active", 0, "NET15", "GBP", "B4"),
    ("V-104", "Northgate Fasteners Ltd", "active", 0, "NET30", "GBP", "B5"),
    ("V-105", "Meridian Consulting LLP", "active", 0, "NET30", "GBP", "B6"),
    ("V-106", "Halcyon Energy Supply", "active", 0, "NET60", "GBP", "B7"),
    ("V-107", "Kestrel Components SA", "active", 0, "NET30", "EUR", "B8"),
    ("V-108", "Ridgeline Components", "active", 0, "NET30", "GBP", "B1"),
    ("V-109", "Volkov Trading OOO", "active", 1, "NET30", "USD", "B9"),
)

YEAR_END = "2026-12-31"
# order, vendor, currency, cost centre, category, created, expires, status
ORDERS = (
    ("PO-5001", "V-100", "GBP", "CC-MFG", "manufactured", "2026-06-01", YEAR_END, "open"),
    ("PO-5002", "V-101", "GBP", "CC-LOG", "freight", "2026-06-01", YEAR_END, "open"),
    ("PO-5003", "V-102", "EUR", "CC-MFG", "manufactured", "2026-06-05", YEAR_END, "open"),
    ("PO-5004", "V-103", "GBP", "CC-PKG", "commodity", "2026-06-10", YEAR_END, "open"),
    ("PO-5005", "V-104", "GBP", "CC-MFG", "commodity", "2026-06-10", YEAR_END, "open"),
    ("PO-5006", "V-100", "GBP", "CC-MFG", "manufactured", "2026-06-15", YEAR_END, "open"),
    ("PO-5007", "V-105", "GBP", "CC-ADM", "services", "2026-06-20", YEAR_END, "open"),
    ("PO-5008", "V-106", "GBP", "CC-FAC", "utilities", "2026-01-01", YEAR_END, "open"),
    ("PO-5009", "V-107", "EUR", "CC-MFG", "manufactured", "2026-07-01", YEAR_END, "open"),
    ("PO-5010", "V-100", "GBP", "CC-MFG", "manufactured", "2026-02-01", "2026-05-31", "closed"),
    ("PO-5011", "V-104", "GBP", "CC-MFG", "commodity", "2026-06-25", YEAR_END, "open"),
    ("PO-5012", "V-105", "GBP", "CC-ADM", "services", "2026-07-01", YEAR_END, "open"),
)
# order: lines of sku, unit price, quantity ordered, tax code, quantity received (None: no receipt)
ORDER_LINES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "PO-5001": (("RC-88", 120.50, 40, "S20", 40), ("RC-88F", 8.25, 40, "S20", 40)),
    "PO-5002": (("AL-FRT", 15.00, 300, "S20", 300),),
    "PO-5003": (("CI-VAL", 890.00, 6, "S20", 6),),
    "PO-5004": (("DP-BOX", 2.35, 5000, "S20", 4500),),
    "PO-5005": (("NF-M8", 0.42, 20000, "S20", 20000),),
    "PO-5006": (("RC-90", 310.00, 25, "S20", 25),),
    "PO-5007": (("MC-ADV", 950.00, 12, "S20", 12),),
    "PO-5008": (("HE-KWH", 0.2840, 50000, "R05", 48200),),
    "PO-5009": (("KC-BRG", 14.60, 800, "RC0", 800),),
    "PO-5010": (("RC-77", 45.00, 100, "S20", None),),
    "PO-5011": (("NF-M10", 0.68, 15000, "S20", 15000),),
    "PO-5012": (("MC-IMP", 2800.00, 20, "S20", 8),),
}

# invoice, vendor, order, the vendor's number, currency, invoice date, received, freight
# (the date parts are month-day)
INVOICES = (
    ("INV-7901", "V-100", "PO-5001", "R-2026-4471", "GBP", "05-20", "05-25", 0.0),
    ("INV-7902", "V-100", "PO-5006", "R-2026-4520", "GBP", "06-18", "06-22", 0.0),
    ("INV-8001", "V-100", "PO-5001", "R-2026-4610", "GBP", "06-25", "07-02", 0.0),
    ("INV-8002", "V-101", "PO-5002", "ASH-88213", "GBP", "06-26", "07-03", 0.0),
    ("INV-8003", "V-102", "PO-5003", "CI-2026-0912", "EUR", "06-28", "07-05", 0.0),
    ("INV-8004", "V-103", "PO-5004", "DP-77120", "GBP", "06-30", "07-06", 0.0),
    ("INV-8005", "V-104", "PO-5005", "NF-2026-551", "GBP", "07-01", "07-08", 0.0),
    ("INV-8006", "V-100", "PO-5006", "R-2026-4655", "GBP", "07-02", "07-09", 0.0),
    ("INV-8007", "V-100", "PO-5001", "R-2026-4471", "GBP", "06-25", "07-14", 0.0),
    ("INV-8008", "V-100", "PO-5006", "RID-JUL-0093", "GBP", "07-02", "07-16", 0.0),
    ("INV-8009", "V-105", "PO-5007", "MER-2026-118", "GBP", "07-06", "07-12", 0.0),
    ("INV-8010", "V-104", "PO-5011", "NF-2026-559", "GBP", "07-11", "07-17", 0.0),
    ("INV-8011", "V-107", "PO-5009", "KES-2026-3391", "EUR", "07-15", "07-20", 0.0),
    ("INV-8012", "V-106", "PO-5008", "HAL-2026-07", "GBP", "07-05", "07-11", 0.0),
    ("INV-8013", "V-100", "PO-5001", "R-2026-CN-119", "GBP", "07-10", "07-15", 0.0),
    ("INV-8014", "V-100", "PO-5010", "R-2026-4102", "GBP", "07-08", "07-14", 0.0),
    ("INV-8015", "V-103", "PO-5004", "DP-77245", "GBP", "07-12", "07-18", 340.0),
    ("INV-8016", "V-101", None, "ASH-88999", "GBP", "07-14", "07-19", 0.0),
    ("INV-8017", "V-108", "PO-5006", "RID-2026-77", "GBP", "07-15", "07-20", 0.0),
    ("INV-8018", "V-109", None, "VLK-2026-001", "USD", "07-14", "07-19", 0.0),
    ("INV-8019", "V-105", "PO-5012", "MER-2026-140", "GBP", "07-16", "07-21", 0.0),
    ("INV-8020", "V-104", "PO-5011", "NF-2026-540", "GBP", "06-20", "07-20", 0.0),
)
CREDIT_NOTES = {"INV-8013": "INV-8001"}
# invoice: lines of sku, unit price, quantity billed, tax code
INVOICE_LINES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "INV-7901": (("RC-88", 120.50, 40, "S20"), ("RC-88F", 8.25, 40, "S20")),
    "INV-7902": (("RC-90", 310.00, 25, "S20"),),
    "INV-8001": (("RC-88", 120.50, 35, "S20"), ("RC-88F", 8.25, 35, "S20")),
    "INV-8002": (("AL-FRT", 15.00, 250, "S20"),),
    "INV-8003": (("CI-VAL", 890.00, 6, "S20"),),
    "INV-8004": (("DP-BOX", 2.35, 5000, "S20"),),
    "INV-8005": (("NF-M8", 0.48, 20000, "S20"),),
    "INV-8006": (("RC-90", 310.00, 20, "S20"),),
    "INV-8007": (("RC-88", 120.50, 40, "S20"), ("RC-88F", 8.25, 40, "S20")),
    "INV-8008": (("RC-90", 310.00, 25, "S20"),),
    "INV-8009": (("MC-ADV", 975.00, 12, "S20"),),
    "INV-8010": (("NF-M10", 0.6963, 15000, "S20"),),
    "INV-8011": (("KC-BRG", 14.60, 800, "RC0"),),
    "INV-8012": (("HE-KWH", 0.2840, 48200, "S20"),),
    "INV-8013": (("RC-88F", 8.25, -10, "S20"),),
    "INV-8014": (("RC-77", 45.00, 100, "S20"),),
    "INV-8015": (("DP-BOX", 2.35, 4500, "S20"),),
    "INV-8016": (("MISC", 180.00, 1, "S20"),),
    "INV-8017": (("RC-90", 310.00, 25, "S20"),),
    "INV-8018": (("VLK-01", 420.00, 30, "S20"),),
    "INV-8019": (("MC-IMP", 2800.00, 8, "S20"),),
    "INV-8020": (("NF-M10", 0.68, 15000, "S20"),),
}
# paid before any trial began
PAYMENTS = (
    (1, "PAY-3001", "INV-7901", "V-100", 6077.00, "2026-06-01", "bacs", 1),
    (2, "PAY-3002", "INV-7902", "V-100", 9145.00, "2026-06-28", "bacs", 1),
)


def _invoice_rows() -> list[tuple[Any, ...]]:
    rows = []
    for invoice_id, vendor, order, number, currency, dated, received, freight in INVOICES:
        credited = CREDIT_NOTES.get(invoice_id)
        kind = "invoice" if credited is None else "credit_note"
        dates = (f"2026-{dated}", f"2026-{received}")
        rows.append((invoice_id, vendor, order, number, kind, currency, *dates, freight, credited))
    return rows


def _line_rows(lines: dict[str, tuple[tuple[Any, ...], ...]]) -> list[tuple[Any, ...]]:
    return [
        (document, number, *line[:4])
        for document, members in lines.items()
        for number, line in enumerate(members, start=1)
    ]


def _receipt_rows() -> list[tuple[Any, ...]]:
    number = count(9001)
    return [
        (f"GR-{next(number)}", order, sku, received)
        for order, members in ORDER_LINES.items()
        for sku, _, _, _, received in members
        if received is not None
    ]


TEMPLATE = Template(
    SCHEMA,
    {
        "vendors": VENDORS,
        "purchase_orders": ORDERS,
        "po_lines": _line_rows(ORDER_LINES),
        "goods_receipts": _receipt_rows(),
        "invoices": _invoice_rows(),
        "invoice_lines": _line_rows(INVOICE_LINES),
        "payments": PAYMENTS,
    },
)
