"""What studies of the invoice domains perturb with: a ``study.toml`` may name the objects below.

Fault targets and decoys are those of Plumbline's published studies; the wording is ours.
"""

from __future__ import annotations

from steelyard.harness.perturbations import DecoyTools, PreparedParaphrase, ToolFault

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

# the request in other words, for trials without a model
PROCURE_TO_PAY_PARAPHRASES = (
    "{vendor_name} have sent us invoice {invoice_id}. Handle it, please, and report back.",
    "Could you take care of {invoice_id}, the invoice from {vendor_name}, and say what you did?",
    "There is a new invoice, {invoice_id}, by {vendor_name}. Process it and let me know.",
    "Please deal with invoice {invoice_id} ({vendor_name}) and write back with the result.",
    "Invoice {invoice_id}, received from {vendor_name}, is yours. What did you do with it?",
    "I have {invoice_id} from {vendor_name} here. Process this invoice and tell me the outcome.",
    "We received {vendor_name}'s invoice {invoice_id}; see to it and send me a short account.",
    "Process the invoice {invoice_id} that {vendor_name} sent, then describe what was done.",
)
ACCOUNTS_PAYABLE_PARAPHRASES = (
    "{document} {invoice_id} ({invoice_number}, {net} {currency} net) is here from {vendor_name}.",
    "Please deal with {invoice_id}: {vendor_name}, {invoice_number}, net {net} {currency}.",
    "{vendor_name} sent {invoice_id}, their {invoice_number}, {net} {currency} net. Handle it.",
    "Process {invoice_number} of {vendor_name}, our {invoice_id}, net {net} {currency}. Report.",
    "What becomes of {invoice_id} ({vendor_name}, {invoice_number}, {net} {currency} net)? Do it.",
)

TOOL_FAULT = ToolFault(FAULT_TARGETS)
DECOY_TOOLS = DecoyTools(DECOYS)
PROCURE_TO_PAY_PARAPHRASE = PreparedParaphrase(PROCURE_TO_PAY_PARAPHRASES)
ACCOUNTS_PAYABLE_PARAPHRASE = PreparedParaphrase(ACCOUNTS_PAYABLE_PARAPHRASES)
