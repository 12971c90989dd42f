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
