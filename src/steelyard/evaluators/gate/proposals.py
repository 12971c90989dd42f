"""The trust boundary: what an untrusted model may propose about a host's context."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from steelyard.evaluators.gate.context import Proposal, ReasoningContext
from steelyard.evaluators.gate.engine import Decision, Gate
from steelyard.evaluators.gate.enums import ActionKind
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.reading import validated
from steelyard.evaluators.gate.schemas import CandidateAction, Hypothesis
from steelyard.evaluators.gate.situation import CAUSAL_KEYS


def evaluate_proposal(
    gate: Gate,
    proposal: Mapping[str, Any] | Proposal,
    *,
    trusted_context: ReasoningContext,
    allowed_action_names: Collection[str] | Mapping[str, ActionKind],
    allowed_tools: Sequence[str] | None,
    now: datetime | None = None,
) -> Decision:
    """Judge an untrusted proposal within a host's context.

    Facts, rules, evidence, objective, causal graph and allowed tools are the host's; nothing of
    the proposal can change them. By default the query, the kind of the action and the causal
    question are the host's as well.

    Parameters
    ----------
    gate : Gate
        What decides.
    proposal : mapping or Proposal
        ``{"statement": text, "action": {...}}`` and nothing else.
    trusted_context : ReasoningContext
        The host's; it is left as it is. Its own hypothesis is replaced, but a causal question
        in its payload is kept.
    allowed_action_names : collection of str, or mapping of str to ActionKind
        The actions that may be proposed. Of names alone each is a tool, which may also be
        asserted about.
    allowed_tools : sequence of str or None
        See `Gate.decide`.
    now : datetime, optional
        See `Gate.decide`.

    Raises
    ------
    GateInputError
        The proposal has other fields, its action is not allowed, is of another kind, or states
        a causal question.
    """
    if not isinstance(proposal, Proposal):
        proposal = validated(Proposal, proposal, where="proposal", compatibility=gate.compatibility)
    if proposal.action.name not in allowed_action_names:
        raise GateInputError(f"proposal: the action {proposal.action.name[:80]!r} is not allowed")
    action = _owned(proposal.action)
    update: dict[str, Any] = {}
    if gate.compatibility.statement_becomes_query:
        update["query"] = proposal.statement
    if not gate.compatibility.payload_unchecked:
        _check_kind(action, allowed_action_names)
        action = _with_host_question(action, trusted_context)
    update["hypothesis"] = Hypothesis.model_construct(
        id=action.id, statement=proposal.statement, action=action
    )
    return gate.decide(trusted_context.model_copy(update=update), allowed_tools, now=now)


def _owned(action: CandidateAction) -> CandidateAction:
    """Return the action with a payload that the proposer can no longer change."""
    return action.model_copy(update={"payload": copy.deepcopy(action.payload)})


def _check_kind(
    action: CandidateAction, allowed: Collection[str] | Mapping[str, ActionKind]
) -> None:
    if action.kind is ActionKind.ASSERTION:
        return
    kind = ActionKind.TOOL_INVOCATION
    if isinstance(allowed, Mapping):
        kind = ActionKind(allowed[action.name])
    if action.kind is not kind:
        raise GateInputError(
            f"proposal: {action.name[:80]!r} is a {kind.value}, not a {action.kind.value}"
        )


def _with_host_question(action: CandidateAction, context: ReasoningContext) -> CandidateAction:
    """Return the action with the host's causal question in place of the proposer's."""
    stated = sorted(set(CAUSAL_KEYS) & action.payload.keys())
    if stated:
        raise GateInputError(f"proposal: the argument {stated[0]!r} is the host's to state")
    own = context.hypothesis.action if context.hypothesis is not None else None
    question = {key: own.payload[key] for key in CAUSAL_KEYS if own and key in own.payload}
    if not question:
        return action
    return action.model_copy(update={"payload": {**action.payload, **question}})
