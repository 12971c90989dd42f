"""The whole of what a decision is made from, and the trust boundary's proposal."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from steelyard.evaluators.gate.enums import ActionKind, Regime
from steelyard.evaluators.gate.limits import (
    MAX_CLAIMS,
    MAX_EVIDENCE,
    MAX_KEYS,
    MAX_RULES,
    check_plain,
    check_text,
)
from steelyard.evaluators.gate.record import (
    Number,
    Record,
    Share,
    Text,
    check_unique,
    compatibility_of,
)
from steelyard.evaluators.gate.schemas import (
    AlignedClaim,
    CandidateAction,
    CausalGraph,
    ConstraintSpec,
    FactSpec,
    FactValue,
    Hypothesis,
    ObjectiveSpec,
    PolicyRule,
)


class EvidenceItem(Record):
    """A document or observation that somebody claims something in.

    Parameters
    ----------
    id, content, source : str
        Its name, text and origin.
    retrieved_at : datetime, optional
        When it was retrieved; without a zone it is UTC.
    trust : float in [0, 1], default 0.5
        How far the host trusts it.
    freshness_hours : float, optional
        Its age in hours, if known.
    provenance_hash : str, optional
        Kept, not read.
    numeric_claims : dict of str to float
        The numbers that it claims.
    metadata : dict
        ``superseded_by``, ``negates_id`` and ``negates_ids`` are read.
    """

    id: Text
    content: Text
    source: Text
    retrieved_at: datetime | None = None
    trust: Share = 0.5
    freshness_hours: Number | None = None
    provenance_hash: Text | None = None
    numeric_claims: Annotated[dict[Text, Number], Field(max_length=MAX_KEYS)] = Field(
        default_factory=dict
    )
    metadata: dict[Text, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _metadata_is_plain(self, info: ValidationInfo) -> EvidenceItem:
        if self.metadata:
            check_plain(self.metadata, finite=not compatibility_of(info).nonfinite_facts)
        return self


class ReasoningContext(Record):
    """Everything that a decision rests on; all of it is the host's.

    Parameters
    ----------
    query : str
        The question.
    hypothesis : Hypothesis, optional
        The statement under test; the query itself when absent.
    evidence, aligned_claims, policy_rules, constraints : list
        See their classes.
    structured_facts, fact_specs : dict
        Facts and specifications by key.
    rules : list of str
        Rules in prose. They are shown to people and decide nothing.
    causal_graph, objective : optional
        What the causal and the utility evaluator need.
    domain : str, optional
        Such as ``finance``; it adds evaluators.
    force_regime, force_evaluators : optional
        Override the choice of evaluators.
    """

    always_strict: ClassVar[bool] = True

    query: Text
    hypothesis: Hypothesis | None = None
    evidence: Annotated[list[EvidenceItem], Field(max_length=MAX_EVIDENCE)] = Field(
        default_factory=list
    )
    aligned_claims: Annotated[list[AlignedClaim], Field(max_length=MAX_CLAIMS)] = Field(
        default_factory=list
    )
    structured_facts: Annotated[dict[Text, FactValue], Field(max_length=MAX_RULES)] = Field(
        default_factory=dict
    )
    fact_specs: Annotated[dict[Text, FactSpec], Field(max_length=MAX_RULES)] = Field(
        default_factory=dict
    )
    policy_rules: Annotated[list[PolicyRule], Field(max_length=MAX_RULES)] = Field(
        default_factory=list
    )
    rules: list[Text] = Field(default_factory=list, max_length=MAX_RULES)
    constraints: Annotated[list[ConstraintSpec], Field(max_length=MAX_RULES)] = Field(
        default_factory=list
    )
    causal_graph: CausalGraph | None = None
    objective: ObjectiveSpec | None = None
    domain: Text | None = None
    force_regime: Regime | None = None
    force_evaluators: Annotated[list[Text], Field(max_length=MAX_KEYS)] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _names_are_unique(self, info: ValidationInfo) -> ReasoningContext:
        if self.aligned_claims:
            check_unique([claim.id for claim in self.aligned_claims], "aligned claims")
        if compatibility_of(info).lenient_schemas:
            return self
        check_unique([rule.id for rule in self.policy_rules], "policy rules")
        check_unique([constraint.id for constraint in self.constraints], "constraints")
        check_unique([item.id for item in self.evidence], "items of evidence")
        for name, members in (
            ("structured_facts", self.structured_facts),
            ("fact_specs", self.fact_specs),
        ):
            for key, member in members.items():
                if member.key != key:
                    raise PydanticCustomError(
                        "value_error", f"{name}: the entry {key!r} has another key inside"
                    )
        return self


class Proposal(Record):
    """What an untrusted model may say: a statement and an action, nothing else."""

    always_strict: ClassVar[bool] = True

    statement: Annotated[str, Field(min_length=1, max_length=16_000), AfterValidator(check_text)]
    action: CandidateAction


class RetrieveRequest(Record):
    """What a host asks a retriever for before it builds a context."""

    query: Text
    top_k: Annotated[int, Field(ge=1, le=64)] = 8


def materialised_hypothesis(context: ReasoningContext) -> Hypothesis:
    """Return the hypothesis of a context, or the query itself as an assertion.

    Parameters
    ----------
    context : ReasoningContext
        Any.

    Returns
    -------
    Hypothesis
        One that was given stays as it is, also without an action. The id of a made one is
        ``hyp:`` and the first 16 hexadecimal digits of the query's SHA-256.
    """
    if context.hypothesis is not None:
        return context.hypothesis
    return _asserted(context.query)


@lru_cache(maxsize=64)
def _asserted(query: str) -> Hypothesis:
    name = "hyp:" + hashlib.sha256(query.encode()).hexdigest()[:16]
    action = CandidateAction.model_construct(
        id=name, kind=ActionKind.ASSERTION, name="assert_query", payload={}, description=""
    )
    return Hypothesis.model_construct(id=name, statement=query, action=action)
