"""What evaluators and checks return.

These are plain dataclasses, since the gate makes hundreds of them, and those made most often are
not frozen, which would double the cost of making them; nothing changes one after it was made.
`read_result` validates one that another process or a user's evaluator made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, TypeAdapter
from pydantic_core import PydanticCustomError

from steelyard.evaluators.gate.enums import (
    CheckStatus,
    CitationKind,
    ConflictKind,
    ConstraintStatus,
    Directive,
    Verdict,
)

Unit = Annotated[float, Field(ge=0, le=1)]
Backend = Literal["rules", "solver", "stats", "graph", "llm"]


def _known_backend(value: Any) -> Any:
    """Refuse what is none as every other closed vocabulary of the gate does."""
    if not isinstance(value, str) or value not in get_args(Backend):
        accepted = ", ".join(get_args(Backend))
        raise PydanticCustomError("enum", "accepted: {expected}", {"expected": accepted})
    return value


@dataclass(slots=True)
class Citation:
    """What a claim rests on: its kind and its name."""

    kind: CitationKind
    ref: str


@dataclass(slots=True)
class AssumptionAtom:
    """Something that an evaluator takes as true (or false), and how firmly."""

    id: str
    predicate: str
    polarity: bool
    confidence: Unit = 1.0


@dataclass(slots=True)
class ConstraintApplication:
    """What became of a constraint in one evaluator's hands."""

    constraint_id: str
    status: ConstraintStatus
    cited_fact_keys: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Claim:
    """One reason: for (polarity above 0) or against (below 0) the hypothesis."""

    id: str
    evaluator: str
    statement: str
    polarity: Annotated[float, Field(ge=-1, le=1)]
    confidence: Unit
    hypothesis_id: str
    citations: list[Citation] = field(default_factory=list)


@dataclass(slots=True)
class EvaluatorResult:
    """What one evaluator says.

    Attributes
    ----------
    evaluator : str
        Its name.
    verdict : Verdict
        Its vote; undetermined abstains.
    confidence : float in [0, 1]
        How sure it is.
    backend : str
        How it judges.
    claims, assumptions, constraints_applied : list
        Its reasons.
    supporting_evidence_ids, contradicting_evidence_ids, premise_ids : list of str
        What it rests on.
    unresolved_questions : list of str
        What it could not settle, in words.
    missing_fact_keys : list of str
        Facts that would have settled it.
    hard_veto : bool
        Whether nothing may outvote it.
    reason_codes : list of str
        See `reasons`.
    latency_ms : float
        Kept for callers; the gate measures nothing.
    """

    evaluator: str
    verdict: Verdict
    confidence: Unit
    backend: Annotated[Backend, BeforeValidator(_known_backend)]
    claims: list[Claim] = field(default_factory=list)
    supporting_evidence_ids: list[str] = field(default_factory=list)
    contradicting_evidence_ids: list[str] = field(default_factory=list)
    premise_ids: list[str] = field(default_factory=list)
    assumptions: list[AssumptionAtom] = field(default_factory=list)
    constraints_applied: list[ConstraintApplication] = field(default_factory=list)
    unresolved_questions: list[str] = field(default_factory=list)
    missing_fact_keys: list[str] = field(default_factory=list)
    hard_veto: bool = False
    reason_codes: list[str] = field(default_factory=list)
    latency_ms: float = 0.0

    @property
    def determined(self) -> bool:
        """Whether it votes."""
        return self.verdict is not Verdict.UNDETERMINED


@dataclass(frozen=True, slots=True)
class EvaluatorError:
    """Why an evaluator gave no usable result."""

    evaluator: str
    error_type: Literal["timeout", "crash", "invalid_output", "unauthorized_veto"]
    message: str


@dataclass(slots=True)
class EvaluatorPair:
    """Two different evaluators in the order of their names."""

    left: str
    right: str

    def __post_init__(self) -> None:
        if self.left == self.right:
            raise PydanticCustomError("value_error", "a pair needs two different evaluators")
        if self.left > self.right:
            self.left, self.right = self.right, self.left


@dataclass(slots=True)
class ConflictComponent:
    """The five parts of the distance between two evaluators, each in [0, 1]."""

    conclusion_conflict: Unit = 0.0
    constraint_conflict: Unit = 0.0
    evidence_conflict: Unit = 0.0
    assumption_conflict: Unit = 0.0
    premise_conflict: Unit = 0.0


@dataclass(slots=True)
class PairDelta:
    """The distance between two evaluators, its parts and why they are what they are."""

    pair: EvaluatorPair
    delta: float
    components: ConflictComponent
    reason_codes: tuple[str, ...]


@dataclass(slots=True)
class EvidenceConflict:
    """Two items of evidence that contradict each other in one respect."""

    left: str
    right: str
    kind: ConflictKind
    severity: Unit
    reason_code: str
    key: str | None = None


@dataclass(slots=True)
class EligibilityCheck:
    """One check that no vote can outweigh."""

    id: str
    kind: Literal["policy", "constraint", "fact", "evidence", "authority"]
    status: CheckStatus
    authority: Literal["trusted", "unknown"] = "trusted"
    detail: str = ""
    cited_fact_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConflictSignals:
    """Which kinds of conflict were found; see `DecisionGraph`."""

    material_evidence_conflict: bool = False
    policy_authority_conflict: bool = False
    evaluator_disagreement: bool = False
    decision_tie: bool = False
    aligned_conflict_pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AlignedDelta:
    """Share of contradictory pairs among the claims that can be compared."""

    score: float | None = None
    comparable_pairs: int = 0
    contradictory_pairs: int = 0
    excluded_claims: int = 0
    version: str = "aligned-shadow-v1"

    @property
    def sufficient_evidence(self) -> bool:
        """Whether any pair could be compared."""
        return self.comparable_pairs > 0


@dataclass(frozen=True, slots=True)
class EligibilityAssessment:
    """Every check, and the directive that they force (None if they force none)."""

    directive: Directive | None
    checks: tuple[EligibilityCheck, ...]
    behavior_version: str = "eligibility-v1"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """One changed fact and what it would have changed.

    Attributes
    ----------
    key : str
        The fact; None-like placeholder text when no fact may vary.
    original, probed : object
        Its value, and the value tried.
    delta : float
        The largest distance between evaluators with the changed fact.
    resolving : bool
        Whether the change would settle the matter. It never authorises anything.
    flips : tuple of str
        Evaluators whose verdict it changes.
    """

    key: str
    original: Any
    probed: Any
    delta: float
    resolving: bool
    flips: tuple[str, ...] = ()


@lru_cache(maxsize=16)
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_result(data: Any, kind: type = EvaluatorResult) -> Any:
    """Validate a result, or a part of one, that was not made here.

    Parameters
    ----------
    data : mapping or instance
        What was received.
    kind : type, default EvaluatorResult
        One of the dataclasses of this module.

    Returns
    -------
    object
        An instance of ``kind``.

    Raises
    ------
    pydantic.ValidationError
        It does not fit.
    """
    return _adapter(kind).validate_python(data)
