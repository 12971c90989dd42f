"""The twenty-invoice accounts-payable domain: tolerances, taxes, terms, rates, and its checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from domains.accounts_payable import AUTHORITY, ROLES
from steelyard.harness.tools import ToolError


class Tolerance(NamedTuple):
    """What a purchase order of one category may be departed from by.

    A price within ``price_pct`` of the order's, or a line within ``absolute_gbp`` of it, passes.
    """

    price_pct: float
    qty_pct: float
    absolute_gbp: float


TOLERANCES = {
    "commodity": Tolerance(3.0, 2.0, 50.0),
    "manufactured": Tolerance(1.0, 0.0, 25.0),
    "services": Tolerance(0.0, 0.0, 0.0),
    "freight": Tolerance(5.0, 10.0, 100.0),
    "utilities": Tolerance(10.0, 0.0, 250.0),
}
NO_TOLERANCE = Tolerance(0.0, 0.0, 0.0)

TAX_PCT = {"S20": 20.0, "R05": 5.0, "Z00": 0.0, "E00": 0.0, "RC0": 0.0}
SETTLEMENT_DISCOUNT_PCT = {"2/10 NET30": 2.0, "1/15 NET45": 1.0}
FX_TOLERANCE_PCT = 2.0
FX_DATES = ("2026-07-15", "2026-07-01")  # a date without a rate of its own takes the first it can
FX_TO_GBP = {
    ("EUR", "2026-07-01"): 0.8420,
    ("EUR", "2026-07-15"): 0.8615,
    ("USD", "2026-07-01"): 0.7810,
    ("USD", "2026-07-15"): 0.7745,
}

# of several reasons to hold an invoice, the first of these is the one that is given
HOLD_PRIORITY = (
    "VENDOR_SANCTIONED",
    "DUPLICATE_EXACT",
    "DUPLICATE_FUZZY",
    "DUPLICATE_VENDOR",
    "VENDOR_HOLD",
    "PO_CLOSED",
    "PO_DATE",
    "NO_PO",
    "QTY_OVER_RECEIPT",
    "PRICE_VARIANCE",
    "TAX_CODE_MISMATCH",
    "FX_VARIANCE",
    "UNAUTHORISED_FREIGHT",
)


class Check(NamedTuple):
    """A check that an invoice has to pass, and the reason to hold it when it cannot be made."""

    tool: str
    passes: str
    unless: tuple[str, ...]
    reason_if_unknown: str

    def passed(self, result: Mapping[str, Any]) -> bool:
        """Return whether a result of the tool stands in nobody's way."""
        stands = bool(result[self.passes]) if self.passes else True
        return stands and not any(result[name] for name in self.unless)


VENDOR_CHECK = Check("check_vendor_status", "payable", (), "VENDOR_HOLD")
# in the order in which they are made; a credit note has to pass the vendor check alone
INVOICE_CHECKS = (
    Check("check_po_validity", "valid", (), "PO_CLOSED"),
    Check("match_purchase_order", "matched", (), "PRICE_VARIANCE"),
    Check("check_duplicate", "", ("is_duplicate", "is_probable_duplicate"), "DUPLICATE_EXACT"),
    Check("validate_tax", "valid", (), "TAX_CODE_MISMATCH"),
    Check("check_fx_variance", "within_tolerance", (), "FX_VARIANCE"),
    Check("check_freight", "authorised", (), "UNAUTHORISED_FREIGHT"),
)


def first_reason(reasons: list[str]) -> str:
    """Return which of several reasons an invoice is held for."""
    return next((reason for reason in HOLD_PRIORITY if reason in reasons), "NO_PO")


def rate_to_gbp(currency: str, date: str) -> float:
    """Return what a unit of a currency is worth in pounds on a date.

    Raises
    ------
    ToolError
        If no rate of the currency is on file.
    """
    if currency == "GBP":
        return 1.0
    for day in (date, *FX_DATES):
        if (currency, day) in FX_TO_GBP:
            return FX_TO_GBP[currency, day]
    raise ToolError(f"not found: exchange rate of {currency!r}")


def approval_for(amount_gbp: float) -> tuple[str, bool]:
    """Return the lowest role that may approve an amount, and whether a second must sign.

    A negative amount is in no band; it needs the highest role.
    """
    role = ROLES[-1]
    if amount_gbp >= 0:
        role = next(role for role, limit in AUTHORITY if amount_gbp < limit)
    return role, role == ROLES[-1]


def normalised_number(number: str | None) -> str:
    """Return a vendor's invoice number without its punctuation and one trailing letter.

    A vendor that sends an invoice again often adds a letter or other separators.
    """
    text = (number or "").upper()
    for mark in "-_/ ":
        text = text.replace(mark, "")
    return text[:-1] if text and "A" <= text[-1] <= "Z" else text
