"""The predicate language: a small recursive-descent parser, nothing is ever executed.

::

    disjunction := conjunction ("or" conjunction)*
    conjunction := unit ("and" unit)*
    unit        := "not" unit | "(" disjunction ")" | path operator operand
    operator    := "==" | "!=" | "<" | "<=" | ">" | ">=" | "in"
    path        := "fact" "." KEY | "action" "." "name" | "action" "." "payload" "." KEY
    operand     := path | number | "true" | "false" | string | word | "[" operands "]"

A word that starts no path stands for itself as a string. The published language has no path on
the right side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from steelyard.evaluators.gate.predicate_lexer import PredicateError, Token, tokens_of

MAX_NESTING = 200
"""Deepest nesting of parentheses and lists."""

_CACHED_LENGTH = 300
_CACHED = 1024

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Path:
    """A place in the context: a fact, the action's name, or one of its arguments."""

    root: str  # "fact", "name" or "payload"
    key: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A path compared with a literal or, on request, with another path."""

    left: Path
    operator: str
    right: Any


@dataclass(frozen=True, slots=True)
class Negation:
    """The opposite of another condition."""

    operand: Any


@dataclass(frozen=True, slots=True)
class Junction:
    """All of several conditions, or any of them.

    Attributes
    ----------
    decisive : bool
        The value that decides the whole: False for "and", True for "or".
    operands : tuple
        At least two.
    """

    decisive: bool
    operands: tuple[Any, ...]


Node = Comparison | Negation | Junction


@dataclass(frozen=True, slots=True)
class Predicate:
    """A parsed predicate.

    Attributes
    ----------
    root : Comparison, Negation or Junction, or None
        The condition; None if the text could not be parsed.
    cited_fact_keys : tuple of str
        Keys of the facts that it names, each once, in the order of the text.
    error : str
        Why it could not be parsed; empty otherwise.
    """

    root: Node | None
    cited_fact_keys: tuple[str, ...] = ()
    error: str = ""


def parse_predicate(text: str, *, literals_only: bool = False) -> Predicate:
    """Parse a predicate; a text that is none gives a predicate with an error.

    Parameters
    ----------
    text : str
        Any text, however hostile: time and memory are linear in its length, which is bounded,
        and so is the depth.
    literals_only : bool, default False
        Whether a path on the right side is refused, and every script's digits make numbers, as
        published.

    Returns
    -------
    Predicate
        With ``root`` or with ``error``.
    """
    parse = _parse_cached if len(text) <= _CACHED_LENGTH else _parse
    try:
        return parse(text, literals_only)
    except RecursionError:  # the caller stands so deep that a predicate cannot be read
        return Predicate(None, error="nested too deeply for where it is read")


def _parse(text: str, literals_only: bool) -> Predicate:
    try:
        parser = _Parser(tokens_of(text, any_number=literals_only), literals_only)
        root = parser.disjunction(0)
        parser.expect_end()
    except PredicateError as error:
        return Predicate(None, error=str(error))
    return Predicate(root, tuple(parser.cited))


_parse_cached = lru_cache(maxsize=_CACHED)(_parse)


class _Parser:
    """One pass over the tokens; a method for each rule of the grammar."""

    def __init__(self, tokens: list[Token], literals_only: bool) -> None:
        self.tokens = tokens
        self.position = 0
        self.literals_only = literals_only
        self.cited: dict[str, None] = {}

    def disjunction(self, depth: int) -> Node:
        operands = [self._conjunction(depth)]
        while self._take("keyword", "or"):
            operands.append(self._conjunction(depth))
        return operands[0] if len(operands) == 1 else Junction(True, tuple(operands))

    def _conjunction(self, depth: int) -> Node:
        operands = [self._unit(depth)]
        while self._take("keyword", "and"):
            operands.append(self._unit(depth))
        return operands[0] if len(operands) == 1 else Junction(False, tuple(operands))

    def _unit(self, depth: int) -> Node:
        self._check_depth(depth)
        negated = False
        while self._take("keyword", "not"):  # two negations cancel out, also of what is unbound
            negated = not negated
        if self._take("punctuation", "("):
            inner = self.disjunction(depth + 1)
            self._expect("punctuation", ")")
        else:
            left = self._path()
            operator = self._operator()
            inner = Comparison(left, operator, self._value(depth))
        return Negation(inner) if negated else inner

    def _operator(self) -> str:
        if self._take("keyword", "in"):
            return "in"
        token = self._next("a comparison")
        if token.kind != "operator" or token.value not in _COMPARISONS:
            self._refuse(token, "a comparison")
        return str(token.value)

    def _path(self) -> Path:
        token = self._next("a condition")
        if token.kind != "word" or token.value not in {"fact", "action"}:
            self._refuse(token, "fact.KEY, action.name or action.payload.KEY")
        return self._rest_of_path(token)

    def _rest_of_path(self, token: Token) -> Path:
        name = self._after_point()
        if token.value == "fact":
            self.cited.setdefault(name)
            return Path("fact", name)
        if name == "payload":
            return Path("payload", self._after_point())
        if name != "name":
            raise PredicateError(f"action.{name[:40]} does not exist; name and payload.KEY do")
        return Path("name", "")

    def _after_point(self) -> str:
        self._expect("punctuation", ".")
        token = self._next("a name")
        if token.kind != "word":
            self._refuse(token, "a name")
        return str(token.value)

    def _value(self, depth: int) -> Any:
        self._check_depth(depth)
        token = self._next("a value")
        if token.kind in {"number", "string"}:
            return token.value
        if token.kind == "keyword" and token.value in {"true", "false"}:
            return token.value == "true"
        if token.kind == "word":
            return self._word_or_path(token)
        if token.kind != "punctuation" or token.value != "[":
            self._refuse(token, "a value")
        return self._list(depth + 1)

    def _word_or_path(self, token: Token) -> Any:
        follower = self._peek()
        if follower is None or follower.kind != "punctuation" or follower.value != ".":
            return token.value
        if self.literals_only or token.value not in {"fact", "action"}:
            self._refuse(follower, "the end of the condition")
        return self._rest_of_path(token)

    def _list(self, depth: int) -> list[Any]:
        if self._take("punctuation", "]"):
            return []
        members = [self._member(depth)]
        while self._take("punctuation", ","):
            members.append(self._member(depth))
        self._expect("punctuation", "]")
        return members

    def _member(self, depth: int) -> Any:
        member = self._value(depth)
        if isinstance(member, Path):
            raise PredicateError("a list holds literals, no paths")
        return member

    def expect_end(self) -> None:
        """Raise if anything is left."""
        token = self._peek()
        if token is not None:
            self._refuse(token, "the end")

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_NESTING:
            raise PredicateError(f"nested deeper than {MAX_NESTING} levels")

    def _peek(self) -> Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def _next(self, wanted: str) -> Token:
        token = self._peek()
        if token is None:
            raise PredicateError(f"the text ends where {wanted} is expected")
        self.position += 1
        return token

    def _take(self, kind: str, value: str) -> bool:
        token = self._peek()
        if token is None or token.kind != kind or token.value != value:
            return False
        self.position += 1
        return True

    def _expect(self, kind: str, value: str) -> None:
        if not self._take(kind, value):
            token = self._peek()
            if token is None:
                raise PredicateError(f"the text ends where {value!r} is expected")
            self._refuse(token, repr(value))

    def _refuse(self, token: Token, wanted: str) -> NoReturn:
        shown = str(token.value)[:40]
        raise PredicateError(f"{shown!r} at {token.position} where {wanted} is expected")
