"""The cases: requests with what is true about them, what is right, and what a decider is told.

Every domain has 40 requests drawn anew and 40 that are copies of these with one number moved just
inside or just outside its limit. What is right follows from `reference`, which reads the truth;
deciders read the context that `context_of` makes, which leaves out what is not written anywhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from decision_gate.domains import DOMAINS, Limit, RequestDomain

SEED = 20261202
PER_DOMAIN = 40
FRESH, STALE = 3.0, 2_000.0
"""Hours since the records that a request rests on were read."""

LARGEST_AGE = 168.0
STEP = {"float": 0.01, "int": 1}
"""How far outside its limit a boundary case is, for numbers that are no counts of things."""


@dataclass(frozen=True)
class Request:
    """One request: the truth about it.

    Attributes
    ----------
    case_id : str
    domain : RequestDomain
    facts : dict
        All that is true.
    hidden : tuple of str
        Facts that nobody has established.
    disputed : str
        A fact about which two trusted records disagree; empty for none.
    record_age : float
        Hours since the records were read.
    asked : float
        What the action would do, in the unit of the domain's size.
    boundary : bool
        Whether it was moved to a limit.
    """

    case_id: str
    domain: RequestDomain
    facts: dict[str, Any]
    hidden: tuple[str, ...] = ()
    disputed: str = ""
    record_age: float = FRESH
    asked: float = 0.0
    boundary: bool = False


def reference(request: Request) -> str:
    """Return what is right: refuse before escalate before gather before execute."""
    broken = [limit for limit in request.domain.limits if not limit.kept(request.facts)]
    known = [limit for limit in broken if limit.fact not in request.hidden]
    if any(limit.directive == "refuse" for limit in known):
        return "refuse"
    if known or request.disputed or request.asked != request.facts[request.domain.size]:
        return "escalate"
    if request.hidden or request.record_age > LARGEST_AGE:
        return "gather"
    return "execute"


def make_requests() -> list[tuple[Request, Request]]:
    """Return 120 pairs by domain: a request as drawn, and its copy at a limit."""
    source = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    found = []
    for domain in DOMAINS:
        drawn = [_drawn(domain, number, source) for number in range(PER_DOMAIN)]
        found += [(one, _moved(one, number, source)) for number, one in enumerate(drawn)]
    return found


def _drawn(domain: RequestDomain, number: int, source: random.Random) -> Request:
    facts = {name: _harmless(fact, source) for name, fact in domain.facts.items()}
    request = Request(f"{domain.name}-{number:02d}", domain, facts, asked=facts[domain.size])
    problems = [None, None, None, *domain.limits, "hidden", "disputed", "asked"]
    problem = problems[number % len(problems)]
    if isinstance(problem, Limit):
        return _with(request, problem.fact, _outside(problem, facts, source))
    written = [limit.fact for limit in domain.limits if limit.severity]
    if problem == "hidden":
        return replace(request, hidden=(source.choice(written),))
    if problem == "disputed":
        numbers = [name for name in written if domain.facts[name].kind != "bool"]
        return replace(request, disputed=source.choice(numbers))
    if problem == "asked":
        return replace(request, asked=request.asked * 2)
    return request


def _moved(request: Request, number: int, source: random.Random) -> Request:
    """Return a copy with one number just inside its limit, or just outside, by turns."""
    domain = request.domain
    numeric = [limit for limit in domain.limits if limit.relation != "=="]
    limit = numeric[source.randrange(len(numeric))]
    step = STEP[domain.facts[limit.fact].kind]
    sign = 1 if limit.relation == "<=" else -1
    value = limit.bound + (sign * step if number % 2 else 0)
    moved = _with(request, limit.fact, value)
    return replace(moved, case_id=f"{request.case_id}-moved", boundary=True)


def _with(request: Request, fact: str, value: Any) -> Request:
    """Change a fact; an action that repeats it goes along."""
    facts = {**request.facts, fact: value}
    repeats = fact == request.domain.size and request.asked == request.facts[fact]
    return replace(request, facts=facts, asked=value if repeats else request.asked)


def _harmless(fact: Any, source: random.Random) -> Any:
    if fact.kind == "bool":
        return bool(fact.low)
    if fact.kind == "int":
        return source.randint(int(fact.low), int(fact.high))
    return round(source.uniform(fact.low, fact.high), 2)


def _outside(limit: Limit, facts: dict[str, Any], source: random.Random) -> Any:
    """Return a value that clearly breaks a limit."""
    if limit.relation == "==":
        return not limit.bound
    far = source.uniform(1.2, 2.0)
    bound = limit.bound if limit.bound else 30
    if limit.relation == "<=":
        value = min(bound * far, 0.99) if isinstance(limit.bound, float) else bound * far
    else:
        value = bound / (2 * far)
    return round(value) if isinstance(facts[limit.fact], int) else round(value, 2)
