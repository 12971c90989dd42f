"""How far the evaluators' results are from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import ConstraintStatus, Verdict
from steelyard.evaluators.gate.results import (
    AssumptionAtom,
    ConflictComponent,
    EvaluatorPair,
    EvaluatorResult,
    PairDelta,
)
from steelyard.evaluators.gate.settings import ContradictionWeights

_POSITION = {Verdict.APPROVE: 1.0, Verdict.CAUTION: 0.0, Verdict.REJECT: -1.0}

INVERTED_SHARE = 0.6
"""Weight of evidence read both ways; the rest is the weight of resting on other evidence."""


@dataclass(slots=True)
class _Facets:
    """The sets of one result that are compared, computed once."""

    evaluator: str
    position: float | None  # None abstains
    satisfied: frozenset[str]
    violated: frozenset[str]
    support: frozenset[str]
    against: frozenset[str]
    premises: frozenset[str]
    assumptions: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The distances between all pairs.

    Attributes
    ----------
    delta_max : float
        The largest distance of a pair of which at least one votes; 0 without such a pair.
    pairs : tuple of PairDelta
        Every pair, in the order of the results.
    shared_assumptions : tuple of AssumptionAtom
        What at least two voting evaluators assume alike.
    conflicting_assumptions : tuple of AssumptionAtom
        What they assume differently.
    """

    delta_max: float
    pairs: tuple[PairDelta, ...]
    shared_assumptions: tuple[AssumptionAtom, ...] = ()
    conflicting_assumptions: tuple[AssumptionAtom, ...] = ()

    def critical(self, tau: float) -> tuple[PairDelta, ...]:
        """Return the pairs that are further apart than a threshold."""
        return tuple(pair for pair in self.pairs if pair.delta > tau)


def jaccard_distance(left: Iterable[str], right: Iterable[str]) -> float:
    """Return 1 minus intersection over union; 0 for two empty sets."""
    left, right = frozenset(left), frozenset(right)
    if not left and not right:
        return 0.0
    common = len(left & right)
    return 1 - common / (len(left) + len(right) - common)


def contradiction_of(
    results: Mapping[str, EvaluatorResult],
    weights: ContradictionWeights,
    *,
    distance_of_agreement: bool = False,
) -> Contradiction:
    """Compare every pair of results.

    Parameters
    ----------
    results : mapping of str to EvaluatorResult
        By evaluator, in the order of their hearing.
    weights : ContradictionWeights
        Weights of the parts.
    distance_of_agreement : bool, default False
        Whether evaluators that do not disagree are apart for resting on different premises and
        evidence, as published.

    Returns
    -------
    Contradiction
        Distances and assumptions.
    """
    facets = [_facets(result) for result in results.values()]
    pairs = [
        _pair(left, right, weights, distance_of_agreement)
        for position, left in enumerate(facets)
        for right in facets[position + 1 :]
    ]
    counted = [
        pair.delta for pair in pairs if reasons.PAIR_BOTH_UNDETERMINED not in pair.reason_codes
    ]
    shared, conflicting = _partition(results)
    return Contradiction(max(counted, default=0.0), tuple(pairs), shared, conflicting)


def pairwise_delta(
    left: EvaluatorResult,
    right: EvaluatorResult,
    weights: ContradictionWeights,
    *,
    distance_of_agreement: bool = False,
) -> PairDelta:
    """Return the distance between two results; see `contradiction_of`."""
    return _pair(_facets(left), _facets(right), weights, distance_of_agreement)


def _facets(result: EvaluatorResult) -> _Facets:
    applied = result.constraints_applied
    return _Facets(
        result.evaluator,
        _POSITION.get(result.verdict),
        frozenset(c.constraint_id for c in applied if c.status is ConstraintStatus.SATISFIED),
        frozenset(c.constraint_id for c in applied if c.status is ConstraintStatus.VIOLATED),
        frozenset(result.supporting_evidence_ids),
        frozenset(result.contradicting_evidence_ids),
        frozenset(result.premise_ids),
        {atom.predicate: atom.polarity for atom in result.assumptions},
    )


def _pair(
    left: _Facets, right: _Facets, weights: ContradictionWeights, distance_of_agreement: bool
) -> PairDelta:
    pair = EvaluatorPair(left.evaluator, right.evaluator)
    if left.position is None and right.position is None:
        return PairDelta(pair, 0.0, ConflictComponent(), (reasons.PAIR_BOTH_UNDETERMINED,))
    codes_found: list[str] = []
    conclusion = 0.0
    if left.position is None or right.position is None:
        codes_found.append(reasons.PAIR_UNDETERMINED_SKIPPED)
    else:
        conclusion = abs(left.position - right.position) / 2
    grounds_count = distance_of_agreement or conclusion > 0
    constraint = _constraint_part(left, right)
    inverted, evidence = _evidence_part(left, right, grounds_count)
    assumption = _assumption_part(left, right)
    premise = jaccard_distance(left.premises, right.premises) if grounds_count else 0.0
    codes_found += [reasons.INVERTED_CONSTRAINT] * (constraint > 0)
    codes_found += [reasons.INVERTED_EVIDENCE] * inverted
    codes_found += [reasons.ASSUMPTION_FLIP] * (assumption > 0)
    delta = (
        weights.conclusion * conclusion
        + weights.constraint * constraint
        + weights.evidence * evidence
        + weights.assumption * assumption
        + weights.premise * premise
    )
    parts = ConflictComponent(conclusion, constraint, evidence, assumption, premise)
    return PairDelta(pair, min(1.0, max(0.0, delta)), parts, tuple(codes_found))


def _constraint_part(left: _Facets, right: _Facets) -> float:
    """Return the share of constraints that one finds satisfied and the other violated."""
    inverted = (left.satisfied & right.violated) | (right.satisfied & left.violated)
    if not inverted:
        return 0.0
    everything = left.satisfied | left.violated | right.satisfied | right.violated
    return len(inverted) / len(everything)


def _evidence_part(left: _Facets, right: _Facets, grounds_count: bool) -> tuple[bool, float]:
    """Return whether any evidence is read both ways, and the part."""
    inverted = (left.support & right.against) | (right.support & left.against)
    part = 0.0
    if inverted:
        everything = left.support | left.against | right.support | right.against
        part = INVERTED_SHARE * len(inverted) / len(everything)
    if grounds_count:
        part += (1 - INVERTED_SHARE) * jaccard_distance(left.support, right.support)
    return bool(inverted), min(1.0, part)


def _assumption_part(left: _Facets, right: _Facets) -> float:
    """Return the share of common assumptions that are held the other way round."""
    if left.assumptions.keys().isdisjoint(right.assumptions):
        return 0.0
    common = left.assumptions.keys() & right.assumptions.keys()
    flipped = sum(left.assumptions[name] != right.assumptions[name] for name in common)
    return flipped / len(common)


def _partition(
    results: Mapping[str, EvaluatorResult],
) -> tuple[tuple[AssumptionAtom, ...], tuple[AssumptionAtom, ...]]:
    """Return what voting evaluators assume alike (its first atom) and differently (all atoms)."""
    atoms: dict[str, list[AssumptionAtom]] = {}
    for result in results.values():
        if result.determined:
            for atom in result.assumptions:
                atoms.setdefault(atom.predicate, []).append(atom)
    shared: list[AssumptionAtom] = []
    conflicting: list[AssumptionAtom] = []
    for same in atoms.values():
        if len(same) < 2:
            continue
        if len({atom.polarity for atom in same}) == 1:
            shared.append(same[0])
        else:
            conflicting += same
    return tuple(shared), tuple(conflicting)
