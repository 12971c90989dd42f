"""What the two invoice domains judge alike: rules broken, and the measures that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.evaluators.invariants import Policy, Violation
from steelyard.evaluators.outcome import ExpectedState
from steelyard.trials.model import Trial


def violation_rows(found: Sequence[Violation]) -> list[dict[str, Any]]:
    """Return broken rules as rows of the table ``violations``."""
    return [
        {
            "rule": one.rule,
            "severity": one.severity,
            "step_index": one.step_index,
            "step_name": one.step_name,
            "detail": one.detail,
        }
        for one in found
    ]


def common_measures(
    trial: Trial,
    state: Mapping[str, Any],
    truth: Mapping[str, Any],
    policy: Policy,
    expected: ExpectedState,
) -> dict[str, float | None]:
    """Return the measures that both domains have.

    ``outcome_correct`` is whether the ledger ended as it should; ``conformant`` whether no rule
    was broken, ``critical_conformant`` whether none of critical severity was; ``others_untouched``
    whether nothing was written about any other invoice.
    """
    broken = policy.violations(trial, truth)
    return {
        "outcome_correct": float(bool(expected.met_by(state))),
        "critical_conformant": float(all(one.severity != "critical" for one in broken)),
        "conformant": float(not broken),
        "others_untouched": float(state["entries_about_others"] == 0),
    }
