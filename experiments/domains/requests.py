"""What a request is about, read without a model."""

from __future__ import annotations

import re

from steelyard.harness.protocols import TrialSetup
from steelyard.harness.replies import object_in

_INVOICE_ID = re.compile(r"\bINV-\d+\b")


def invoice_in_prompt(setup: TrialSetup) -> str | None:
    """Return the one invoice id that the prompt names; None if it names none or several."""
    named = set(_INVOICE_ID.findall(setup.prompt))
    return named.pop() if len(named) == 1 else None


def invoice_in_reply(reply: str) -> str | None:
    """Return the invoice id of a model's interpretation, a JSON object; None if it has none."""
    interpretation = object_in(reply) or {}
    return interpretation.get("invoice_id")


PARAPHRASES = (
    "{vendor_name} have sent us invoice {invoice_id}. Handle it, please, and report back.",
    "Could you take care of {invoice_id}, the invoice from {vendor_name}, and say what you did?",
    "There is a new invoice, {invoice_id}, by {vendor_name}. Process it and let me know.",
    "Please deal with invoice {invoice_id} ({vendor_name}) and write back with the result.",
    "Invoice {invoice_id}, received from {vendor_name}, is yours. What did you do with it?",
    "I have {invoice_id} from {vendor_name} here. Process this invoice and tell me the outcome.",
    "We received {vendor_name}'s invoice {invoice_id}; see to it and send me a short account.",
    "Process the invoice {invoice_id} that {vendor_name} sent, then describe what was done.",
)
"""The request of the eight-invoice domain in other words, for trials without a model."""
