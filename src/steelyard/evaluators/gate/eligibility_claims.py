"""Claims and evidence that contradict each other, and the facts that they put in doubt."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.evaluators.gate.enums import CheckStatus, ConflictKind
from steelyard.evaluators.gate.relevance import keys_in_doubt, used_keys
from steelyard.evaluators.gate.results import AlignedDelta, EligibilityCheck
from steelyard.evaluators.gate.schemas import AlignedClaim
from steelyard.evaluators.gate.situation import Situation

_MATERIAL = (ConflictKind.NUMERIC_MISMATCH, ConflictKind.EXPLICIT_NEGATION)


@dataclass(slots=True)
class ClaimFindings:
    """What claims and evidence amount to.

    Attributes
    ----------
    material_conflict, authority_conflict : bool
        Whether evidence, or an authority, contradicts itself.
    pairs : list of (str, str)
        Ids of the claims that contradict each other.
    delta : AlignedDelta
        How many pairs could be compared.
    disputed : set of str
        Facts that a contradiction is about.
    unknown_provenance : bool
        Whether a contradiction names no facts.
    unsettled : list of EligibilityCheck
        Claims of unknown status or authority.
    """

    material_conflict: bool = False
    authority_conflict: bool = False
    pairs: list[tuple[str, str]] = field(default_factory=list)
    delta: AlignedDelta = field(default_factory=AlignedDelta)
    disputed: set[str] = field(default_factory=set)
    unknown_provenance: bool = False
    unsettled: list[EligibilityCheck] = field(default_factory=list)


def claim_findings(situation: Situation) -> ClaimFindings:
    """Compare claims with claims and evidence with evidence; see the module."""
    findings = ClaimFindings()
    if situation.context.aligned_claims:
        _compare_claims(situation, findings)
    if situation.weighty_conflicts:
        _weigh_evidence(situation, findings)
    return findings


def _compare_claims(situation: Situation, findings: ClaimFindings) -> None:
    claims = situation.context.aligned_claims
    name = situation.action.name if situation.action is not None else None
    in_scope = [claim for claim in claims if claim.action_name in {None, name}]
    compared = [c for c in in_scope if c.status == "active" and c.authority == "trusted"]
    about: dict[tuple[str, ...], list[tuple[int, AlignedClaim]]] = {}
    for index, claim in enumerate(compared):
        topic = (claim.subject, claim.proposition, claim.time_scope, claim.kind)
        about.setdefault(topic, []).append((index, claim))
    comparable = 0
    contradictory: list[tuple[int, int]] = []
    for members in about.values():
        comparable += len(members) * (len(members) - 1) // 2
        for position, (i, left) in enumerate(members):
            for j, right in members[position + 1 :]:
                if not _same_value(left, right):
                    contradictory.append((i, j))
    contradictory.sort()
    findings.delta = AlignedDelta(
        len(contradictory) / comparable if comparable else None,
        comparable,
        len(contradictory),
        len(claims) - len(compared),
    )
    for i, j in contradictory:
        _note_contradiction(situation, findings, compared[i], compared[j])
    for claim in in_scope:
        _note_unsettled(claim, findings)


def _same_value(left: AlignedClaim, right: AlignedClaim) -> bool:
    same_kind = isinstance(left.value, bool) == isinstance(right.value, bool)
    return same_kind and left.value == right.value


def _note_contradiction(
    situation: Situation, findings: ClaimFindings, left: AlignedClaim, right: AlignedClaim
) -> None:
    findings.pairs.append((left.id, right.id))
    keys = {*left.fact_keys, *right.fact_keys}
    unnamed = not left.fact_keys or not right.fact_keys
    published = situation.compatibility.any_conflict_counts
    if (
        not published
        and not unnamed
        and keys.isdisjoint(used_keys(situation.context, situation.action))
    ):
        return
    if left.kind == "authority":
        findings.authority_conflict = True
    else:
        findings.material_conflict = True
    findings.disputed |= keys
    findings.unknown_provenance |= unnamed and published


def _note_unsettled(claim: AlignedClaim, findings: ClaimFindings) -> None:
    unvouched = claim.status == "active" and claim.authority == "unknown"
    if claim.status == "unknown" or unvouched:
        findings.unsettled.append(
            EligibilityCheck(
                claim.id,
                claim.kind,
                CheckStatus.UNKNOWN,
                claim.authority,
                f"the {'authority' if unvouched else 'status'} of claim {claim.id} is unknown",
            )
        )


def _weigh_evidence(situation: Situation, findings: ClaimFindings) -> None:
    material = [c for c in situation.weighty_conflicts if c.kind in _MATERIAL]
    if not material:
        return
    findings.material_conflict = True
    if situation.compatibility.any_conflict_counts:
        # By id, and so every item of an id that repeats, as published.
        names = {name for conflict in material for name in (conflict.left, conflict.right)}
        sides = [item for item in situation.evidence if item.id in names]
        findings.disputed.update(*(side.numeric_claims for side in sides))
        findings.unknown_provenance |= any(not side.numeric_claims for side in sides)
        return
    items = {item.id: item for item in situation.evidence}
    for conflict in material:
        findings.disputed |= keys_in_doubt(conflict, (items[conflict.left], items[conflict.right]))
