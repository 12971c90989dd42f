"""The causal evaluator: whether every known path to the outcome has the stated sign."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import CitationKind, Verdict
from steelyard.evaluators.gate.results import AssumptionAtom, Citation, Claim, EvaluatorResult
from steelyard.evaluators.gate.schemas import CausalEdge
from steelyard.evaluators.gate.situation import CAUSAL_KEYS, Situation

PATH_BUDGET = 10_000
"""Paths that are followed at most: one for the treatment, and one for each arrow out of a path,
also where the outcome ends it or it would cross itself."""

CONFIDENCE = 0.85
INFERRED_CONFIDENCE = 0.5
"""Confidence when treatment and outcome are named, and when one of them was inferred."""

_CITED_EDGES = 8


@dataclass(frozen=True, slots=True)
class CausalReading:
    """The result, and whether something is lacking that could be gathered."""

    result: EvaluatorResult
    lacking: bool = False


@dataclass(frozen=True, slots=True)
class _Question:
    treatment: str
    outcome: str
    inferred: bool


def judge_causal(situation: Situation) -> EvaluatorResult:
    """Return the causal evaluator's vote; see `causal_reading`."""
    return causal_reading(situation).result


def causal_reading(situation: Situation) -> CausalReading:
    """Compare the sign of every path with the sign that the action states.

    A path's sign is the product of its edges' signs; an edge of sign 0 makes it 0 even beside
    an unknown one, otherwise an unknown edge makes it unknown. Any known path of another sign
    rejects. Incoming edges of nodes that are set from outside (``do``) are cut.

    Parameters
    ----------
    situation : Situation
        Its payload may name ``treatment``, ``outcome``, ``do`` and ``effect_sign`` (1 or -1,
        default 1).

    Returns
    -------
    CausalReading
        Undetermined without a graph, a treatment, an outcome, a path or a sign, and where the
        graph has more paths than `PATH_BUDGET`.
    """
    graph = situation.context.causal_graph
    if graph is None:
        return _abstain(
            "the action states a causal question and there is no causal graph",
            True,
            reasons.MISSING_CAUSAL_GRAPH,
        )
    question = _question(situation)
    if question is None:
        return _abstain("treatment or outcome is not named", True)
    signs = _path_signs(_open_edges(situation, graph.edges), question)
    if signs is None:
        return _abstain(f"the graph has more than {PATH_BUDGET} paths", False)
    wanted = situation.payload.get("effect_sign", 1)
    if type(wanted) is not int or wanted not in {1, -1}:
        return _abstain("effect_sign must be 1 or -1", False)
    return _judged(situation, question, signs, wanted)


def _abstain(why: str, lacking: bool, code: str = reasons.UNBOUND_PATH) -> CausalReading:
    result = EvaluatorResult(
        "causal",
        Verdict.UNDETERMINED,
        0.0,
        "graph",
        unresolved_questions=[why],
        reason_codes=[code],
    )
    return CausalReading(result, lacking)


def _question(situation: Situation) -> _Question | None:
    """Return treatment and outcome as named, or else inferred from payload and objective.

    A name that is empty, or no name at all (null, 0, false), counts as not given.
    """
    payload = situation.payload
    treatment, outcome = payload.get("treatment"), payload.get("outcome")
    inferred = not treatment or not outcome
    if not treatment:
        treatment = next((key for key in payload if key not in CAUSAL_KEYS), None)
    objective = situation.context.objective
    if not outcome and objective is not None and objective.terms:
        outcome = objective.terms[0].fact_key
    if not treatment or not outcome:
        return None
    return _Question(str(treatment), str(outcome), inferred)


def _open_edges(
    situation: Situation, edges: Sequence[CausalEdge]
) -> dict[str, list[tuple[str, int | None]]]:
    """Return the arrows by source, without those into nodes that are set from outside."""
    cut = _nodes_set(situation.payload)
    cut |= {key.removeprefix("do.") for key in situation.facts if key.startswith("do.")}
    arrows: dict[str, list[tuple[str, int | None]]] = {}
    for edge in edges:
        if edge.target not in cut:
            arrows.setdefault(edge.source, []).append((edge.target, edge.signed))
    return arrows


def _nodes_set(payload: Mapping[str, Any]) -> set[str]:
    named = payload.get("do")
    if isinstance(named, list | tuple):
        return {str(node) for node in named}
    return set() if named is None else {str(named)}


def _path_signs(
    arrows: dict[str, list[tuple[str, int | None]]], question: _Question
) -> list[int | None] | None:
    """Return the sign of every simple path, breadth first; None when there are too many.

    A path without edges (treatment and outcome are one) counts as unknown. Visited nodes are
    the bits of an integer, so that a long path costs bytes and not a copy of its nodes.
    """
    if question.treatment == question.outcome:
        return [None]
    bit: dict[str, int] = {}
    start = 1 << bit.setdefault(question.treatment, len(bit))
    waiting: deque[tuple[str, int, int | None]] = deque([(question.treatment, start, 1)])
    signs: list[int | None] = []
    followed = 1
    while waiting:
        node, visited, sign = waiting.popleft()
        outgoing = arrows.get(node, ())
        followed += len(outgoing)
        if followed > PATH_BUDGET:
            return None
        for target, signed in outgoing:
            mark = 1 << bit.setdefault(target, len(bit))
            if visited & mark:
                continue
            extended = _product(sign, signed)
            if target == question.outcome:
                signs.append(extended)
            else:
                waiting.append((target, visited | mark, extended))
    return signs


def _product(sign: int | None, signed: int | None) -> int | None:
    if sign == 0 or signed == 0:
        return 0
    return None if sign is None or signed is None else sign * signed


def _judged(
    situation: Situation, question: _Question, signs: list[int | None], wanted: int
) -> CausalReading:
    confidence = INFERRED_CONFIDENCE if question.inferred else CONFIDENCE
    path = f"{question.treatment}->{question.outcome}"
    known = [sign for sign in signs if sign is not None]
    if any(sign != wanted for sign in known):
        verdict, claim = Verdict.REJECT, ("causal-sign", -1.0, f"a path {path} has another sign")
    elif len(known) < len(signs):
        return _abstain(f"a path {path} has an edge of unknown sign", True)
    elif not signs:
        verdict, claim = Verdict.UNDETERMINED, ("causal-path", -1.0, f"there is no path {path}")
    else:
        verdict, claim = Verdict.APPROVE, ("causal-ok", 1.0, f"every path {path} has that sign")
    result = _result(situation, verdict, confidence, claim)
    result.assumptions = [
        AssumptionAtom("causal-faithful", "causal_graph.faithful", polarity=True),
        AssumptionAtom("causal-path", f"path({path})", polarity=bool(signs)),
    ]
    if not signs:
        result.unresolved_questions = [claim[2]]
    return CausalReading(result, lacking=not signs)


def _result(
    situation: Situation, verdict: Verdict, confidence: float, claim: tuple[str, float, str]
) -> EvaluatorResult:
    graph = situation.context.causal_graph
    edges = [edge.edge_id for edge in graph.edges] if graph is not None else []
    citations = [Citation(CitationKind.GRAPH_EDGE, edge) for edge in edges[:_CITED_EDGES]]
    name, polarity, statement = claim
    hypothesis = situation.hypothesis.id
    return EvaluatorResult(
        "causal",
        verdict,
        confidence,
        "graph",
        claims=[
            Claim(
                name,
                "causal",
                statement,
                polarity,
                CONFIDENCE,
                hypothesis,
                citations or [Citation(CitationKind.HYPOTHESIS, hypothesis)],
            )
        ],
        premise_ids=edges,
    )
