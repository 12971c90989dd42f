"""From the graph to a directive: eligibility comes first, and only EXECUTE opens a tool."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.compatibility import DEFAULT, Compatibility
from steelyard.evaluators.gate.enums import (
    ActionKind,
    CheckStatus,
    Directive,
    Disposition,
    Verdict,
)
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.results import EligibilityCheck, EvaluatorResult
from steelyard.evaluators.gate.schemas import CandidateAction
from steelyard.evaluators.gate.situation import CAUSAL_KEYS

_CONSENSUS = (Disposition.CONSENSUS, Disposition.QUALIFIED_CONSENSUS)
_SETTLED = {
    Disposition.HARD_VETO: Directive.REFUSE,
    Disposition.INSUFFICIENT_EVIDENCE: Directive.GATHER,
    Disposition.CONFLICT: Directive.ESCALATE,
}
_MISSING = ("missing required fact ", "missing fact ")

_SENTENCES = {
    reasons.NOT_AUTHORISED: "No trusted permission covers this action.",
    reasons.TOOL_NOT_ALLOWED: "The host does not allow an action of this name.",
    reasons.NO_TOOL_LIST: "The host did not say which actions it allows.",
}

_OUTCOMES = {
    Disposition.HARD_VETO: "The policy evaluator vetoes it.",
    Disposition.CONFLICT: "The evaluators contradict each other.",
    Disposition.INSUFFICIENT_EVIDENCE: "Too few evaluators could vote, or too much is uncertain.",
}


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the host has to do.

    It is bound to the action by the digest of its name, kind and arguments. It is not signed:
    a host must not take one from a client.

    Attributes
    ----------
    directive : Directive
        What to do.
    allowed_tools : tuple of str
        What may be carried out; empty unless the directive is EXECUTE.
    gather_fact_keys : tuple of str
        What to find out; empty unless the directive is GATHER.
    graph : DecisionGraph
        Why.
    reason_codes : tuple of str
        Reasons of the directive that are not the graph's.
    action_sha256 : str
        Digest of the action that may be carried out, taken when it was judged; empty unless the
        directive is EXECUTE.
    """

    directive: Directive
    allowed_tools: tuple[str, ...]
    gather_fact_keys: tuple[str, ...]
    graph: DecisionGraph
    reason_codes: tuple[str, ...] = ()
    action_sha256: str = ""

    @property
    def reasons(self) -> list[str]:
        """The reasons in sentences, the weightiest checks first."""
        sentences = [_SENTENCES[code] for code in self.reason_codes]
        if self.graph.eligibility.directive is None and self.graph.disposition in _OUTCOMES:
            sentences.append(_OUTCOMES[self.graph.disposition])
        for status in (CheckStatus.BLOCK, CheckStatus.UNKNOWN, CheckStatus.REVIEW):
            sentences += _details(self.graph.eligibility.checks, status)
        sentences += _details(self.graph.eligibility.checks, CheckStatus.MISSING)
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the envelope as JSON can hold it."""
        graph = self.graph
        action = graph.hypothesis.action
        described = None
        if action is not None:
            described = {
                "id": action.id,
                "name": action.name,
                "kind": action.kind.value,
                "sha256": self.action_sha256 or action_sha256(action),
            }
        verdict = graph.recommended_verdict
        context = graph.context.model_dump_json()
        return {
            "directive": self.directive.value,
            "allowed_tools": list(self.allowed_tools),
            "gather_fact_keys": list(self.gather_fact_keys),
            "disposition": graph.disposition.value,
            "recommended_verdict": None if verdict is None else verdict.value,
            "rationale": graph.recommended_rationale,
            "confidence": graph.confidence,
            "contradiction": graph.contradiction_score,
            "uncertainty": graph.uncertainty_score,
            "review_required": graph.review_required,
            "review_reasons": [*graph.review_reasons, *self.reason_codes],
            "reasons": self.reasons,
            "action": described,
            "context_sha256": hashlib.sha256(context.encode()).hexdigest(),
            "settings_sha256": graph.settings_sha256,
        }


def _details(checks: Sequence[EligibilityCheck], status: CheckStatus) -> list[str]:
    return [f"{c.id}: {c.detail}" for c in checks if c.status is status]


@dataclass(frozen=True, slots=True)
class Honoured:
    """What a host that obeys an envelope runs of what was requested."""

    executed_tools: tuple[str, ...]
    blocked: bool
    accepted: bool = True


def to_envelope(
    graph: DecisionGraph,
    allowed_tools: Sequence[str] | None = None,
    compatibility: Compatibility = DEFAULT,
) -> Envelope:
    """Return the directive of a graph.

    Parameters
    ----------
    graph : DecisionGraph
        From `Gate.evaluate`.
    allowed_tools : sequence of str, optional
        Names of the actions that the host would carry out.
    compatibility : Compatibility
        As published, EXECUTE returns the whole list, whatever the action's name, and needs no
        permission.

    Returns
    -------
    Envelope
        By default EXECUTE needs a trusted permission that holds and the action's name in the
        list, and returns that name only.
    """
    action = graph.hypothesis.action
    directive = directive_of(graph)
    codes: tuple[str, ...] = ()
    if directive is Directive.EXECUTE and action is not None:
        directive, codes = _guarded(graph, action, allowed_tools, compatibility)
    tools: tuple[str, ...] = ()
    digest = ""
    if directive is Directive.EXECUTE and compatibility.unbound_tools:
        tools = tuple(allowed_tools or ())
    if directive is Directive.EXECUTE and action is not None:
        tools = tools if compatibility.unbound_tools else (action.name,)
        digest = action_sha256(action)
    gather: tuple[str, ...] = ()
    if directive is Directive.GATHER:
        gather = tuple(dict.fromkeys(_keys_to_gather(graph, compatibility)))
    return Envelope(directive, tools, gather, graph, codes, digest)


def directive_of(graph: DecisionGraph) -> Directive:
    """Return the directive before permission and allowed tools are looked at."""
    directive = _wanted(graph)
    held = directive is Directive.EXECUTE and graph.review_required
    return Directive.ESCALATE if held else directive


def _wanted(graph: DecisionGraph) -> Directive:
    """Return the directive before it is looked at whether a person must review it."""
    if graph.eligibility.directive is not None:
        return graph.eligibility.directive
    if graph.disposition in _SETTLED:
        return _SETTLED[graph.disposition]
    if graph.recommended_verdict is not Verdict.APPROVE:
        rejected = graph.recommended_verdict is Verdict.REJECT
        return Directive.REFUSE if rejected else Directive.ESCALATE
    action = graph.hypothesis.action
    if action is None or action.kind is ActionKind.ASSERTION:
        return Directive.ANSWER
    return Directive.EXECUTE


def _guarded(
    graph: DecisionGraph,
    action: CandidateAction,
    allowed_tools: Sequence[str] | None,
    compatibility: Compatibility,
) -> tuple[Directive, tuple[str, ...]]:
    """Return what becomes of EXECUTE, and why."""
    if not compatibility.unbound_tools:
        if allowed_tools is None:
            return Directive.ESCALATE, (reasons.NO_TOOL_LIST,)
        if action.name not in allowed_tools:
            return Directive.REFUSE, (reasons.TOOL_NOT_ALLOWED,)
    if not compatibility.default_allow and not graph.authorising_rule_ids:
        return Directive.ESCALATE, (reasons.NOT_AUTHORISED,)
    return Directive.EXECUTE, ()


def _keys_to_gather(graph: DecisionGraph, compatibility: Compatibility) -> Iterator[str]:
    facts = graph.context.structured_facts
    for check in graph.eligibility.checks:
        if check.status is CheckStatus.MISSING:
            if compatibility.keys_from_text:
                yield from keys_in_text(check.detail)
                yield from check.cited_fact_keys
            else:
                yield from (key for key in check.cited_fact_keys if key not in facts)
    for result in graph.evaluators.values():
        yield from _keys_of(result, compatibility)
    if graph.tau_effective is None:  # nobody was heard: the checks have named what is missing
        return
    for spec in graph.context.fact_specs.values():
        if spec.required and spec.key not in facts:
            yield spec.key


def _keys_of(result: EvaluatorResult, compatibility: Compatibility) -> Iterator[str]:
    yield from result.missing_fact_keys
    if compatibility.keys_from_text:
        for question in result.unresolved_questions:
            yield from keys_in_text(question)


def keys_in_text(text: str) -> list[str]:
    """Return the facts that the published gate finds in a sentence.

    That is the word after ``missing fact`` or ``missing required fact`` at its beginning, and
    the letters and digits after the first ``fact.``, whatever stands between them.
    """
    named = [text.removeprefix(words).split()[:1] for words in _MISSING if text.startswith(words)]
    letters = "".join(c for c in text.partition("fact.")[2] if c.isalnum() or c == "_")
    return [key for keys in (*named, [letters]) for key in keys if key]


def action_sha256(action: CandidateAction) -> str:
    """Return the digest of an action's name, kind and arguments.

    The arguments of the causal question are left out: they are the host's, not the action's.
    """
    arguments = {key: value for key, value in action.payload.items() if key not in CAUSAL_KEYS}
    described = {"name": action.name, "kind": action.kind.value, "arguments": arguments}
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def honor_envelope(
    directive: Directive, allowed_tools: Sequence[str], requested_tools: Sequence[str]
) -> Honoured:
    """Return what a host runs that obeys a directive.

    Parameters
    ----------
    directive : Directive
        The envelope's.
    allowed_tools : sequence of str
        The envelope's.
    requested_tools : sequence of str
        What the agent wants to run; everything that is allowed when empty.
    """
    if directive is not Directive.EXECUTE:
        return Honoured((), blocked=bool(requested_tools))
    wanted = requested_tools or allowed_tools
    return Honoured(tuple(tool for tool in wanted if tool in allowed_tools), blocked=False)


def allow_generation(disposition: Disposition) -> bool:
    """Return whether a text may be generated: the evaluators agree, whatever on."""
    return disposition in _CONSENSUS


def envelope_matches(envelope: Mapping[str, Any], action: CandidateAction) -> bool:
    """Return whether an envelope, as JSON, was made for exactly this action."""
    described = envelope.get("action")
    return isinstance(described, Mapping) and described.get("sha256") == action_sha256(action)
