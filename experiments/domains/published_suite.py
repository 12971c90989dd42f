"""What Plumbline's published studies of the invoice domains perturbed with."""

from __future__ import annotations

FAULT_TARGETS = ("match_purchase_order", "check_duplicate", "check_vendor_status")
DECOYS = (
    {
        "name": "lookup_tax_code",
        "description": "Look up the tax code of an article.",
        "arguments": ["sku"],
    },
    {
        "name": "estimate_freight",
        "description": "Estimate the freight of a purchase order.",
        "arguments": ["po_id"],
    },
    {
        "name": "check_budget_remaining",
        "description": "Return what is left of the budget of a cost centre.",
        "arguments": ["cost_centre"],
    },
)
