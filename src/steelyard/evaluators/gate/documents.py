"""Retrieved documents as evidence.

A document's metadata may hold facts, rules, constraints or a causal graph. Whoever can write
into the retriever's index can write those, so that they are lifted into the context only on
request, and a lifted rule is not trusted unless the published behaviour is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from steelyard.evaluators.gate.compatibility import DEFAULT, Compatibility
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.reading import validated

_TEXTS = ("text", "page_content", "content")
_LIFTED = ("facts", "policy_rule", "constraint", "causal_graph")


def context_from_documents(
    documents: Iterable[Any],
    query: str,
    *,
    host: Mapping[str, Any] | None = None,
    lift: bool = False,
    compatibility: Compatibility = DEFAULT,
) -> ReasoningContext:
    """Return a context whose evidence is retrieved documents.

    Parameters
    ----------
    documents : iterable
        Objects or mappings with a text (``text``, ``page_content`` or ``content``) and, if they
        have them, ``id``, ``source``, ``score`` and ``metadata``. A document of LlamaIndex may
        be wrapped in ``node``.
    query : str
        The question.
    host : mapping, optional
        Fields of the context that the host states itself.
    lift : bool, default False
        Whether facts, rules, constraints and causal graphs are read from metadata. The host's
        own facts, and any rules or constraints that it states, take precedence.
    compatibility : Compatibility
        Whether the published, lenient reading is wanted. By default the host's own evidence
        stands before that of the documents.

    Raises
    ------
    GateInputError
        A document has no text, or the context does not fit its schema.
    """
    found = [_read(document, position) for position, document in enumerate(documents)]
    fields: dict[str, Any] = {"query": query, **(host or {})}
    lossy = compatibility.lossy_documents
    number, unrated = (_loose_number, 0.0) if lossy else (_number, 0.5)
    own = () if lossy else fields.get("evidence") or ()
    if isinstance(own, list | tuple):  # anything else is left to the schema to refuse
        fields["evidence"] = [*own, *(_evidence(one, number, unrated) for one in found)]
    if lift:
        _lift([one["metadata"] for one in found], fields, compatibility)
    return validated(ReasoningContext, fields, where="documents", compatibility=compatibility)


def _read(document: Any, position: int) -> dict[str, Any]:
    """Return text, id, source, score and metadata of a document of any framework."""
    inner = _member(document, "node")
    outer, document = document, document if inner is None else inner
    text = next((t for name in _TEXTS if isinstance(t := _member(document, name), str)), None)
    if text is None:
        raise GateInputError(f"document {position + 1} has no text; it needs one of {_TEXTS}")
    metadata = _member(document, "metadata")
    metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
    score = _member(outer, "score")
    identifier = _first(_member(document, "id"), _member(document, "id_"), metadata.get("id"))
    source = _first(_member(document, "source"), metadata.get("source"), "retriever")
    return {
        "text": text,
        "id": str(_first(identifier, f"document-{position + 1}")),
        "source": str(source),
        "score": score,
        "metadata": metadata,
    }


def _member(owner: Any, name: str) -> Any:
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _evidence(
    document: dict[str, Any], number: Callable[[Any], float | None], unrated: float
) -> dict[str, Any]:
    metadata = document["metadata"]
    trust = _first(number(metadata.get("trust")), number(document["score"]), unrated)
    claims = metadata.get("numeric_claims")
    numbers = claims.items() if isinstance(claims, Mapping) else ()
    return {
        "id": document["id"],
        "content": document["text"],
        "source": document["source"],
        "trust": max(0.0, min(1.0, trust)),
        "freshness_hours": number(metadata.get("freshness_hours")),
        "retrieved_at": metadata.get("retrieved_at"),
        "numeric_claims": {
            str(key): value
            for key, value in numbers
            if isinstance(value, int | float) and not isinstance(value, bool)
        },
        "metadata": {k: v for k, v in metadata.items() if k not in _LIFTED},
    }


def _number(value: Any) -> float | None:
    """Return a finite number, also of a text that is one; None for anything else."""
    number = None if isinstance(value, bool) else _loose_number(value)
    return number if number is not None and math.isfinite(number) else None


def _loose_number(value: Any) -> float | None:
    """Return what is a number to Python: also a boolean, NaN and the infinities."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _lift(
    metadata: list[dict[str, Any]], fields: dict[str, Any], compatibility: Compatibility
) -> None:
    """Add to a context's fields what the documents' metadata states; the first one wins.

    What is stated in the form of a rule, constraint or graph must be one: a rule that is left
    out for a fault in it would be a rule that nobody misses.
    """
    facts = dict(_mapping(fields.get("structured_facts")))
    rules: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    nodes: dict[str, None] = {}
    edges: dict[str, Any] = {}
    for position, one in enumerate(metadata, start=1):
        for key, value in _mapping(one.get("facts")).items():
            facts.setdefault(key, {"key": key, "value": value})
        for name, lifted in (("policy_rule", rules), ("constraint", constraints)):
            stated = one.get(name)
            if isinstance(stated, Mapping):
                lifted.setdefault(str(stated.get("id")), dict(stated))
        _lift_graph(one.get("causal_graph"), position, nodes, edges)
    if not compatibility.lenient_schemas:
        rules = {name: {**rule, "authority": "unknown"} for name, rule in rules.items()}
    if facts:
        fields["structured_facts"] = facts
    for name, lifted in (("policy_rules", rules), ("constraints", constraints)):
        if lifted and not fields.get(name):
            fields[name] = list(lifted.values())
    if edges and fields.get("causal_graph") is None:
        fields["causal_graph"] = {"nodes": list(nodes), "edges": list(edges.values())}


def _lift_graph(graph: Any, position: int, nodes: dict[str, None], edges: dict[str, Any]) -> None:
    if not isinstance(graph, Mapping):
        return
    for name in ("nodes", "edges"):
        if not isinstance(graph.get(name), list | tuple):
            raise GateInputError(
                f"document {position}: its causal_graph needs {name}, which is a list"
            )
    nodes.update(dict.fromkeys(map(str, graph["nodes"])))
    for edge in graph["edges"]:
        edges.setdefault(str(_mapping(edge).get("edge_id")), edge)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
