"""The predicate language: what it means, and that no text can harm the one who reads it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.evaluators.gate.predicate_lexer import MAX_LENGTH, MAX_TOKENS
from steelyard.evaluators.gate.predicate_parser import MAX_NESTING, parse_predicate
from steelyard.evaluators.gate.predicates import Bindings, Outcome, evaluate_predicate
from steelyard.evaluators.gate.schemas import CandidateAction, FactValue

VALUES: dict[str, Any] = {"n": 10, "f": 2.5, "s": "gold", "b": True, "l": [1, 2], "nil": None}
FACTS = {key: FactValue(key=key, value=value) for key, value in VALUES.items()}
ACTION = CandidateAction(
    id="a", kind="tool_invocation", name="wire", payload={"amount": 12.5, "tags": ["x"]}
)
BINDINGS = Bindings(FACTS, ACTION)
PUBLISHED = Bindings(FACTS, ACTION, in_order=True, literals_only=True)


def value(text: str, bindings: Bindings = BINDINGS) -> bool | None:
    """Return what a predicate evaluates to."""
    return evaluate_predicate(text, bindings).value


def test_a_missing_operand_does_not_hide_a_decisive_one_on_either_side() -> None:
    for absent_first in ("fact.q == 1 or fact.n == 10", "fact.n == 10 or fact.q == 1"):
        assert value(absent_first) is True
    for absent_first in ("fact.q == 1 and fact.n == 1", "fact.n == 1 and fact.q == 1"):
        assert value(absent_first) is False
    assert value("fact.q == 1 or fact.n == 10", PUBLISHED) is None


def test_an_operand_that_cannot_be_compared_does_not_hide_a_decisive_one() -> None:
    assert value("fact.s > 5 or fact.n == 10") is True
    outcome = evaluate_predicate("fact.s > 5 or fact.n == 1", BINDINGS)
    assert (outcome.value, outcome.unbound) == (None, False)
    assert "str > int" in outcome.error


def test_a_fact_can_be_compared_with_an_argument_and_both_are_cited() -> None:
    outcome = evaluate_predicate("action.payload.amount > fact.n", BINDINGS)
    assert outcome == Outcome(True, unbound=False, error="", cited_fact_keys=("n",))
    assert evaluate_predicate("fact.n == fact.q", BINDINGS).unbound
    assert "'.'" in evaluate_predicate("fact.n == fact.f", PUBLISHED).error


def test_membership_in_a_fact_that_is_a_list() -> None:
    assert value("fact.n in fact.l") is False
    assert value("fact.n in [1, [2], 10]") is True
    assert "list" in evaluate_predicate("fact.n in fact.n", BINDINGS).error


@pytest.mark.parametrize(
    "look_alike",
    [
        "ｆact.n == 10",  # a fullwidth letter  # noqa: RUF001
        "fаct.n == 10",  # a Cyrillic letter  # noqa: RUF001
        "fact.n ＝= 10",  # a fullwidth sign  # noqa: RUF001
        "fact.n == １０",  # fullwidth digits  # noqa: RUF001
        "fact.n == ²",
        "fact.n == ٣",
        "fact\u200b.n == 10",  # a space of no width
        "fact.n == 10\u202e",  # a mark that turns the direction of writing
        "fact․n == 10",  # a one-dot leader  # noqa: RUF001
        "fact.n == ‘10’",  # noqa: RUF001
    ],
)
def test_a_look_alike_is_an_error_and_never_something_else(look_alike: str) -> None:
    outcome = evaluate_predicate(look_alike, BINDINGS)
    assert outcome.error
    assert outcome.value is None


@pytest.mark.parametrize(
    "bomb",
    [
        "(" * 100_000,
        "(" * 5_000 + "fact.n == 1" + ")" * 5_000,
        "not " * 4_000 + "fact.n == 1",
        "fact.n in " + "[" * 9_000,
        "fact.n == 1" + " or fact.n == 1" * 1_300,
        "fact.n == " + "9" * 19_000,
        "fact.n == 1" + "." * 18_000,
        "fact.n == -" + "9" * 4_000 + ".0",
        "'" * 20_000,
        "fact.n == '" + "\\" * 10_001,
        "[" * 20_000,
        "\x00" * 20_000,
    ],
)
def test_a_bomb_is_an_error(bomb: str) -> None:
    outcome = evaluate_predicate(bomb, BINDINGS)
    assert outcome.value is False or outcome.error  # the long disjunction is just false


def test_the_bounds_are_where_they_are_said_to_be() -> None:
    fits = "(" * MAX_NESTING + "fact.n == 10" + ")" * MAX_NESTING
    assert value(fits) is True
    assert "deeper" in evaluate_predicate(f"({fits})", BINDINGS).error
    padded = "fact.n == 10" + " " * (MAX_LENGTH - 12)
    assert value(padded) is True
    assert "characters" in evaluate_predicate(padded + " ", BINDINGS).error
    many = "fact.n in [" + "1," * (MAX_TOKENS // 2) + "1]"
    assert "tokens" in evaluate_predicate(many[:MAX_LENGTH], BINDINGS).error


PIECES = [
    *("fact", "action", "payload", "name", ".", "n", "s", "q", "amount", "and", "or", "not", "in"),
    *("true", "FALSE", "==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", " ", "  ", "\n"),
    *("1", "-2", "3.5", "1.2.3", "-", "'", '"', "\\", "'a'", '"b\\""', "gold", "é", "²", "\u200b"),
    *("fact.n == 10", "fact.q in [1, 2]", "not (", "action.payload.amount > 5", "\ud800", "💥"),
]
ANY_TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.text(max_size=60),
)


def test_every_text_ends_as_a_value_as_unbound_or_as_an_error() -> None:
    inputs: set[str] = set()

    @settings(max_examples=800, deadline=None, database=None)
    @given(ANY_TEXT, st.integers(0, 2**64))
    def check(text: str, seed: int) -> None:
        for variant in _variants(text, Random(f"{seed} {text!r}")):  # noqa: S311 (no secret)
            inputs.add(variant)
            for bindings in (BINDINGS, PUBLISHED):
                outcome = evaluate_predicate(variant, bindings)
                ends = (outcome.value is not None, outcome.unbound, bool(outcome.error))
                assert sum(ends) == 1
                assert outcome.cited_fact_keys == tuple(dict.fromkeys(outcome.cited_fact_keys))

    check()
    assert len(inputs) >= 20_000


def _variants(text: str, random: Random) -> Iterator[str]:
    """Yield a text and thirty-five others, each a small change of the one before."""
    yield text
    for _ in range(35):
        start, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        piece = random.choice([*PIECES, text[start:end] * 2])
        text = text[:start] + piece + text[end if random.random() < 0.6 else start :]
        yield text[:400]


CONDITIONS = st.sampled_from(
    [
        ("fact.n == 10", True),
        ("fact.n == 1", False),
        ("fact.q == 1", None),
        ("action.name == wire", True),
        ("fact.s in [silver]", False),
    ]
)
EXPRESSIONS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        inner.map(lambda e: (f"not ({e[0]})", None if e[1] is None else not e[1])),
        st.lists(inner, min_size=2, max_size=4).map(lambda es: _joined(es, "and", False)),
        st.lists(inner, min_size=2, max_size=4).map(lambda es: _joined(es, "or", True)),
    ),
    max_leaves=12,
)


def _joined(
    parts: list[tuple[str, bool | None]], word: str, decisive: bool
) -> tuple[str, bool | None]:
    """Join conditions; the value is written out from the definition."""
    text = f" {word} ".join(f"({part})" for part, _ in parts)
    values = [truth for _, truth in parts]
    if decisive in values:
        return text, decisive
    return text, None if None in values else not decisive


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS)
def test_values_follow_kleenes_definition(expression: tuple[str, bool | None]) -> None:
    text, expected = expression
    assert value(text) is expected


def test_the_order_of_operands_never_matters() -> None:
    parts = ["fact.n == 10", "fact.q == 1", "fact.s > 5", "fact.b == false"]
    for word in ("and", "or"):
        values = {value(f" {word} ".join(order)) for order in itertools.permutations(parts)}
        assert len(values) == 1


def test_a_predicate_is_parsed_once_whatever_surrounds_it() -> None:
    assert parse_predicate("fact.n == 1") is parse_predicate("fact.n == 1")
    assert parse_predicate("fact.n == fact.f", literals_only=True).error


def from_deep_down(frames: int, ask: Callable[[], Any]) -> Any:
    """Ask with so many more frames below."""
    return from_deep_down(frames - 1, ask) if frames else ask()


def test_digits_of_other_scripts_are_numbers_as_published_only() -> None:
    assert evaluate_predicate("fact.n == １０", PUBLISHED).value is True  # noqa: RUF001
    assert evaluate_predicate("fact.n == ٣", PUBLISHED).value is False
    assert "no number" in evaluate_predicate("fact.n == ²", PUBLISHED).error
    huge = "fact.n < " + "9" * 400 + ".5"
    assert evaluate_predicate(huge, PUBLISHED).value is True
    assert "too large" in evaluate_predicate(huge, BINDINGS).error


def test_deep_predicates_are_read_and_where_they_cannot_be_that_is_not_remembered() -> None:
    for text in ("not (" * 200 + "fact.n == 10" + ")" * 200, "not " * 4000 + "fact.n == 10"):
        for bindings in (BINDINGS, PUBLISHED):
            assert evaluate_predicate(text, bindings).value is True
    short = "(" * 90 + "fact.n == 10" + ")" * 90

    def ask() -> Any:
        return evaluate_predicate(short, BINDINGS)

    assert "deep" in from_deep_down(820, ask).error
    assert ask().value is True
