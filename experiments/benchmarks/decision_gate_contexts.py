"""The contexts of the decision gate's benchmark: the reference vectors', and random ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors" / "prismthinker" / "engine.json"
SEED = 20261201
TOOLS = ["wire", "refund"]

QUERIES = [
    "Decide about the transfer",
    "May we allow this under the sla budget",
    "Check the sample distribution first",
    "retention of pii must not break policy",
    "refund",
    "1 + 2 * 3",
    "1/0",
    "Is the p99 latency within the throughput budget? " * 6,
]
PREDICATES = [
    "fact.amount > 100",
    "fact.amount <= 400 and fact.tier in [std, gold]",
    "fact.flag == true or fact.amount > 100",
    "not fact.tier == gold",
    "action.name in [wire, refund]",
    "action.payload.amount >= 50",
    "fact.latency_ms < 200",
    "fact.missing == 1 and fact.amount > 0",
    "fact.tier > 5",
    "fact.amount >",
]
VALUES: dict[str, list[Any]] = {
    "amount": [20, 95, 150, 150.0, 500, "500", True, -3],
    "latency_ms": [90, 140, 650.5],
    "flag": [True, False],
    "tier": ["std", "gold", "none"],
}
SPECS: dict[str, dict[str, Any]] = {
    "amount": {"fact_type": "int", "minimum": 0, "maximum": 400},
    "latency_ms": {"fact_type": "duration_ms", "maximum": 600},
    "flag": {"fact_type": "bool"},
    "tier": {"fact_type": "enum", "enum_values": ["std", "gold"]},
}


def from_vectors() -> list[dict[str, Any]]:
    """Return the contexts of the reference vectors that need no settings of their own."""
    document = json.loads(VECTORS.read_text(encoding="utf-8"))
    return [
        {
            "context": decoded(case["input"]["context"]),
            "allowed_tools": case["input"]["allowed_tools"],
        }
        for case in document["cases"]
        if "config" not in case["input"]
    ]


def decoded(value: Any) -> Any:
    """Read the vectors' spelling of numbers that are not finite."""
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return float(value["$float"])
        return {name: decoded(member) for name, member in value.items()}
    return [decoded(member) for member in value] if isinstance(value, list) else value


def at_random(count: int) -> list[dict[str, Any]]:
    """Return contexts drawn from a fixed seed; they hold a bit of everything."""
    random = Random(SEED)  # noqa: S311 - no secret
    return [{"context": _context(random), "allowed_tools": TOOLS} for _ in range(count)]


def _context(random: Random) -> dict[str, Any]:
    fields: dict[str, Any] = {"query": random.choice(QUERIES)}
    if random.random() < 0.8:
        fields["hypothesis"] = {"id": "h1", "statement": "under test", "action": _action(random)}
    keys = [key for key in VALUES if random.random() < 0.6]
    fields["facts"] = {key: random.choice(VALUES[key]) for key in keys}
    fields["specs"] = {key: _spec(random, key) for key in SPECS if random.random() < 0.4}
    fields["policy_rules"] = [_rule(random, n) for n in range(random.randint(0, 3))]
    fields["constraints"] = [
        {"id": f"c{n}", "predicate": random.choice(PREDICATES)} for n in range(random.randint(0, 2))
    ]
    fields["evidence"] = [_evidence(random, n) for n in range(random.randint(0, 4))]
    fields["aligned_claims"] = [_claim(random, n) for n in range(random.choice([0, 0, 2, 3]))]
    if random.random() < 0.3:
        fields["causal_graph"] = _graph(random)
    if random.random() < 0.4:
        fields["objective"] = _objective(random)
    if random.random() < 0.5:
        fields["domain"] = random.choice(["finance", "sre", "science", "retail"])
    return fields


def _action(random: Random) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    if random.random() < 0.5:
        payload["amount"] = random.choice([20, 100, 150, 160])
    if random.random() < 0.3:
        payload |= {"treatment": "x", "outcome": "y"}
    if random.random() < 0.2:
        payload["effect_sign"] = random.choice([1, -1, 0, "1"])
    kind = random.choice(["tool_invocation", "parameter_change", "assertion", "binary_decision"])
    return {"id": "a1", "kind": kind, "name": random.choice(TOOLS), "payload": payload}


def _spec(random: Random, key: str) -> dict[str, Any]:
    flags = {"required": random.random() < 0.5, "mutable": random.random() < 0.5}
    step = {"step": random.choice([50, 100])} if key == "amount" and random.random() < 0.5 else {}
    return {**SPECS[key], **flags, **step}


def _rule(random: Random, number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": f"r{number}",
        "modality": random.choice(["prohibition", "prohibition", "obligation", "permission"]),
        "severity": random.choice(["hard_veto", "block", "caution"]),
        "predicate": random.choice(PREDICATES),
    }
    optional = {
        "authority": "unknown",
        "action_name": "wire",
        "applies_when": random.choice(PREDICATES),
        "conflict_group": "g",
    }
    chances = {"authority": 0.1, "action_name": 0.2, "applies_when": 0.2, "conflict_group": 0.3}
    return fields | {k: v for k, v in optional.items() if random.random() < chances[k]}


def _evidence(random: Random, number: int) -> dict[str, Any]:
    claims = {
        key: random.choice([90, 95, 100, 150])
        for key in ("amount", "latency_ms", "other")
        if random.random() < 0.4
    }
    fields: dict[str, Any] = {
        "id": f"e{number}",
        "content": "text",
        "source": random.choice(["s1", "s2"]),
        "trust": random.choice([0.1, 0.5, 0.6, 0.9]),
        "numeric_claims": claims,
    }
    if random.random() < 0.3:
        fields["freshness_hours"] = random.choice([1, 500])
    if random.random() < 0.3:
        name = random.choice(["negates_id", "superseded_by"])
        fields["metadata"] = {name: f"e{random.randint(0, 3)}"}
    return fields


def _claim(random: Random, number: int) -> dict[str, Any]:
    return {
        "id": f"k{number}",
        "subject": "account",
        "proposition": "limit",
        "time_scope": "2026",
        "source": "s",
        "value": random.choice([1, 2, True]),
        "kind": random.choice(["evidence", "authority"]),
        "authority": random.choice(["trusted", "trusted", "unknown"]),
        "status": random.choice(["active", "active", "superseded", "unknown"]),
        "fact_keys": [random.choice(list(VALUES))] if random.random() < 0.5 else [],
    }


def _graph(random: Random) -> dict[str, Any]:
    pairs = [("x", "y"), ("x", "m"), ("m", "y"), ("y", "x"), ("x", "latency_ms")]
    edges = [
        {
            "source": s,
            "target": t,
            "signed": random.choice([1, 1, -1, 0, None]),
            "edge_id": f"{s}-{t}",
        }
        for s, t in pairs
        if random.random() < 0.6
    ]
    return {"nodes": ["x", "y", "m", "latency_ms"], "edges": edges}


def _objective(random: Random) -> dict[str, Any]:
    terms = [
        {
            "fact_key": key,
            "weight": random.choice([1.0, 2.5]),
            "direction": random.choice(["minimize", "maximize", "hit"]),
            "target": random.choice([None, 100, 500]),
            "sla_breach_is_reject": random.random() < 0.3,
        }
        for key in random.sample(["amount", "latency_ms"], random.randint(1, 2))
    ]
    limits = {
        "reject_below": random.choice([None, 0.3]),
        "caution_below": random.choice([None, 0.8]),
    }
    return {"id": "o1", "terms": terms, **limits}
