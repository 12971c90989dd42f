"""The closed vocabularies of the gate. Every value is the text that JSON holds."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What one evaluator says; undetermined is an abstention, not a vote."""

    APPROVE = "approve"
    REJECT = "reject"
    CAUTION = "caution"
    UNDETERMINED = "undetermined"


class Disposition(StrEnum):
    """What the evaluators' verdicts amount to together."""

    CONSENSUS = "consensus"
    QUALIFIED_CONSENSUS = "qualified_consensus"
    CONFLICT = "conflict"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    HARD_VETO = "hard_veto"


class Directive(StrEnum):
    """What the host has to do."""

    EXECUTE = "execute"
    ANSWER = "answer"
    REFUSE = "refuse"
    ESCALATE = "escalate"
    GATHER = "gather"


class ActionKind(StrEnum):
    """What kind of action is proposed; only an assertion changes nothing."""

    BINARY_DECISION = "binary_decision"
    PARAMETER_CHANGE = "parameter_change"
    TOOL_INVOCATION = "tool_invocation"
    ASSERTION = "assertion"


class Modality(StrEnum):
    """What a rule does with an action."""

    OBLIGATION = "obligation"
    PROHIBITION = "prohibition"
    PERMISSION = "permission"


class Severity(StrEnum):
    """What a violated rule costs."""

    HARD_VETO = "hard_veto"
    BLOCK = "block"
    CAUTION = "caution"


class FactType(StrEnum):
    """The type that a fact must have."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    DURATION_MS = "duration_ms"
    ENUM = "enum"
    STRING = "string"


class Regime(StrEnum):
    """What kind of question is asked; it decides which evaluators are heard."""

    CLOSED_FORMAL = "closed_formal"
    EMPIRICAL = "empirical"
    POLICY_NORMATIVE = "policy_normative"
    PRAGMATIC_SYSTEMS = "pragmatic_systems"
    OPEN_DIALECTIC = "open_dialectic"


class CitationKind(StrEnum):
    """What a claim rests on."""

    EVIDENCE = "evidence"
    FACT = "fact"
    RULE = "rule"
    CONSTRAINT = "constraint"
    GRAPH_EDGE = "graph_edge"
    HYPOTHESIS = "hypothesis"


class ConstraintStatus(StrEnum):
    """What became of a constraint."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    NOT_APPLICABLE = "not_applicable"
    UNCHECKED = "unchecked"


class CheckStatus(StrEnum):
    """How one eligibility check ended."""

    PASS = "pass"  # noqa: S105 (a status, no password)
    BLOCK = "block"
    MISSING = "missing"
    UNKNOWN = "unknown"
    REVIEW = "review"
    NOT_APPLICABLE = "not_applicable"


class ConflictKind(StrEnum):
    """How two items of evidence differ."""

    NUMERIC_MISMATCH = "numeric_mismatch"
    TEMPORAL = "temporal"
    SOURCE_TRUST = "source_trust"
    EXPLICIT_NEGATION = "explicit_negation"
    STALE = "stale"
