"""The eight-invoice procure-to-pay domain: its tables and what they hold at the start."""

from __future__ import annotations

from domains.records import Template

SCHEMA = """
CREATE TABLE vendors (vendor_id TEXT PRIMARY KEY, name TEXT, status TEXT, payment_terms TEXT);
CREATE TABLE purchase_orders (
    po_id TEXT PRIMARY KEY, vendor_id TEXT, sku TEXT, unit_price REAL, qty_ordered INTEGER,
    status TEXT
);
CREATE TABLE goods_receipts (receipt_id TEXT PRIMARY KEY, po_id TEXT, qty_received INTEGER);
CREATE TABLE invoices (
    invoice_id TEXT PRIMARY KEY, vendor_id TEXT, po_id TEXT, sku TEXT, unit_price REAL,
    qty_billed INTEGER, total REAL, received_on TEXT
);
CREATE TABLE payments (
    number INTEGER PRIMARY KEY, payment_id TEXT, invoice_id TEXT, vendor_id TEXT, amount REAL,
    paid_on TEXT, history INTEGER
);
CREATE TABLE exceptions (
    exception_id INTEGER PRIMARY KEY, invoice_id TEXT, reason TEXT, status TEXT
);
CREATE TABLE approvals (
    approval_id INTEGER PRIMARY KEY, invoice_id TEXT, approver_role TEXT, amount REAL, status TEXT
);
CREATE TABLE audit_log (
    entry_id INTEGER PRIMARY KEY, invoice_id TEXT, action TEXT, detail TEXT
);
"""

VENDORS = (
    ("V-100", "Ridgeline Components", "active", "NET30"),
    ("V-101", "Ashfield Logistics", "active", "NET45"),
    ("V-102", "Corvin Industrial", "hold", "NET30"),
    ("V-103", "Delmar Packaging", "active", "NET15"),
    ("V-104", "Northgate Fasteners", "active", "NET30"),
)
PURCHASE_ORDERS = (
    ("PO-5001", "V-100", "RC-88", 120.50, 40, "open"),
    ("PO-5002", "V-101", "AL-FRT", 15.00, 300, "open"),
    ("PO-5003", "V-102", "CI-VAL", 890.00, 6, "open"),
    ("PO-5004", "V-103", "DP-BOX", 2.35, 5000, "open"),
    ("PO-5005", "V-104", "NF-M8", 0.42, 20000, "open"),
    ("PO-5006", "V-100", "RC-90", 310.00, 25, "open"),
    ("PO-5007", "V-100", "RC-92", 580.00, 25, "open"),
)
GOODS_RECEIPTS = (
    ("GR-9001", "PO-5001", 40),
    ("GR-9002", "PO-5002", 300),
    ("GR-9003", "PO-5003", 6),
    ("GR-9004", "PO-5004", 4500),
    ("GR-9005", "PO-5005", 20000),
    ("GR-9006", "PO-5006", 25),
    ("GR-9007", "PO-5007", 25),
)
INVOICES = (
    ("INV-7001", "V-100", "PO-5001", "RC-88", 120.50, 40, 4820.0, "2026-07-02"),
    ("INV-7002", "V-101", "PO-5002", "AL-FRT", 15.00, 300, 4500.0, "2026-07-03"),
    ("INV-7003", "V-102", "PO-5003", "CI-VAL", 890.00, 6, 5340.0, "2026-07-05"),
    ("INV-7004", "V-103", "PO-5004", "DP-BOX", 2.35, 5000, 11750.0, "2026-07-06"),
    ("INV-7005", "V-104", "PO-5005", "NF-M8", 0.48, 20000, 9600.0, "2026-07-08"),
    ("INV-7006", "V-100", "PO-5006", "RC-90", 310.00, 25, 7750.0, "2026-07-09"),
    ("INV-7007", "V-100", "PO-5001", "RC-88", 120.50, 40, 4820.0, "2026-07-14"),
    ("INV-7008", "V-101", None, "AL-FRT", 15.00, 120, 1800.0, "2026-07-15"),
    ("INV-7009", "V-100", "PO-5007", "RC-92", 580.00, 25, 14500.0, "2026-07-16"),
)
# INV-7001 was paid before any trial began; INV-7007 bills the same order once more
PAYMENTS = ((1, "PAY-3001", "INV-7001", "V-100", 4820.0, "2026-07-10", 1),)

TEMPLATE = Template(
    SCHEMA,
    {
        "vendors": VENDORS,
        "purchase_orders": PURCHASE_ORDERS,
        "goods_receipts": GOODS_RECEIPTS,
        "invoices": INVOICES,
        "payments": PAYMENTS,
    },
)
