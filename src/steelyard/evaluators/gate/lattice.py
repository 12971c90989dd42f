"""What the votes amount to: the first rule that fits decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import Disposition, Verdict
from steelyard.evaluators.gate.results import EvaluatorResult

Results = Mapping[str, EvaluatorResult]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A disposition, the verdict that goes with it and why a person should look.

    Attributes
    ----------
    disposition : Disposition
        What the votes amount to.
    verdict : Verdict or None
        The recommended verdict; None where there is none.
    rationale : str
        The rule that decided.
    review_reasons : tuple of str
        Reason codes, each once.
    """

    disposition: Disposition
    verdict: Verdict | None
    rationale: str
    review_reasons: tuple[str, ...] = ()


def rule_on(
    results: Results,
    *,
    delta_max: float,
    uncertainty: float,
    tau: float,
    qualified_tau: float,
    u_insufficient: float,
    severe: bool,
    may_veto: Mapping[str, bool],
) -> Ruling:
    """Apply the lattice.

    Parameters
    ----------
    results : mapping of str to EvaluatorResult
        The votes.
    delta_max, uncertainty : float
        Largest distance and uncertainty.
    tau, qualified_tau, u_insufficient : float
        Thresholds; a conflict lies strictly above ``tau``.
    severe : bool
        Whether evidence is in severe conflict.
    may_veto : mapping of str to bool
        Who may veto; who is not listed may.
    """
    ruling = _first_match(
        results,
        delta_max=delta_max,
        uncertainty=uncertainty,
        tau=tau,
        qualified_tau=qualified_tau,
        u_insufficient=u_insufficient,
        may_veto=may_veto,
    )
    insufficient = uncertainty >= u_insufficient
    codes = _review_reasons(results, ruling.disposition, insufficient=insufficient, severe=severe)
    return Ruling(ruling.disposition, ruling.verdict, ruling.rationale, codes)


def _review_reasons(
    results: Results, disposition: Disposition, *, insufficient: bool, severe: bool
) -> tuple[str, ...]:
    """Return why a person should look, in a fixed order."""
    codes: dict[str, None] = {}
    if disposition is Disposition.HARD_VETO:
        codes.setdefault(reasons.REVIEW_VETO)
    if disposition is Disposition.CONFLICT:
        codes.setdefault(reasons.REVIEW_CONFLICT)
    if insufficient:
        codes.setdefault(reasons.REVIEW_UNCERTAINTY)
    if severe:
        codes.setdefault(reasons.REVIEW_EVIDENCE)
    policy = results.get("policy")
    if (
        disposition is Disposition.QUALIFIED_CONSENSUS
        and policy is not None
        and policy.verdict in {Verdict.CAUTION, Verdict.REJECT}
    ):
        codes.setdefault(reasons.REVIEW_POLICY_CAUTION)
    for result in results.values():
        held = set(result.reason_codes)
        codes.update(dict.fromkeys(code for code in reasons.EVALUATOR_REVIEWS if code in held))
    return tuple(codes)


def _first_match(
    results: Results,
    *,
    delta_max: float,
    uncertainty: float,
    tau: float,
    qualified_tau: float,
    u_insufficient: float,
    may_veto: Mapping[str, bool],
) -> Ruling:
    for name, result in results.items():
        if result.hard_veto and result.verdict is Verdict.REJECT and may_veto.get(name, True):
            return Ruling(Disposition.HARD_VETO, Verdict.REJECT, "lattice.hard_veto")
    votes: dict[Verdict, int] = {}
    for result in results.values():
        if result.determined:
            votes[result.verdict] = votes.get(result.verdict, 0) + 1
    if sum(votes.values()) < 2 or uncertainty >= u_insufficient:
        return Ruling(Disposition.INSUFFICIENT_EVIDENCE, None, "lattice.insufficient")
    if delta_max > tau:
        return Ruling(Disposition.CONFLICT, None, "lattice.conflict")
    most = max(votes.values())
    verdict, *tied = [verdict for verdict, count in votes.items() if count == most]
    if tied:
        return Ruling(Disposition.CONFLICT, None, "lattice.tie")
    if delta_max > qualified_tau or Verdict.CAUTION in votes or len(votes) > 1:
        return Ruling(Disposition.QUALIFIED_CONSENSUS, verdict, "lattice.qualified")
    return Ruling(Disposition.CONSENSUS, verdict, "lattice.consensus")
