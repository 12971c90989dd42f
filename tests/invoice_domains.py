"""The two invoice domains for tests; they stand in ``experiments``, outside the package."""

from __future__ import annotations

import sys
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
if str(EXPERIMENTS) not in sys.path:
    sys.path.insert(0, str(EXPERIMENTS))

from domains import (  # noqa: E402
    accounts_payable,
    accounts_payable_arms,
    accounts_payable_domain,
    accounts_payable_reference,
    procure_to_pay,
    procure_to_pay_arms,
    procure_to_pay_domain,
    requests,
    simulated_agent,
    suite,
)

__all__ = [
    "accounts_payable",
    "accounts_payable_arms",
    "accounts_payable_domain",
    "accounts_payable_reference",
    "procure_to_pay",
    "procure_to_pay_arms",
    "procure_to_pay_domain",
    "requests",
    "simulated_agent",
    "suite",
]
