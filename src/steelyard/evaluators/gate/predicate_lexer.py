"""Tokens of the predicate language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

MAX_LENGTH = 20_000
"""Longest predicate in characters."""

MAX_DIGITS = 4_300
"""Longest number in characters; Python converts no integer of more than 4,300 digits."""

MAX_TOKENS = 10_000
"""Most tokens of one predicate."""

KEYWORDS = ("and", "or", "not", "in", "true", "false")
"""Words with a meaning of their own, in any case."""

_OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
_PUNCTUATION = "()[],."

TokenKind = Literal["operator", "punctuation", "string", "number", "word", "keyword"]


class PredicateError(ValueError):
    """A predicate that cannot be read or evaluated; the text says what and where."""


@dataclass(slots=True)
class Token:
    """One token.

    Attributes
    ----------
    kind : str
        What it is.
    value : object
        A number, the content of a string, a keyword in lower case, or the text itself.
    position : int
        Where it starts.
    """

    kind: TokenKind
    value: Any
    position: int


def tokens_of(text: str, *, any_number: bool = False) -> list[Token]:
    """Split a predicate into tokens.

    Parameters
    ----------
    text : str
        At most `MAX_LENGTH` characters.
    any_number : bool, default False
        Whether digits of every script are digits, and a number beyond the doubles is infinite,
        as published.

    Returns
    -------
    list of Token
        In order; at most `MAX_TOKENS`.

    Raises
    ------
    PredicateError
        A character that starts no token, a string without its end, a number with two points, with
        too many digits or beyond the doubles, or too much text.
    """
    if len(text) > MAX_LENGTH:
        raise PredicateError(f"{len(text)} characters; at most {MAX_LENGTH} are accepted")
    found: list[Token] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        if len(found) == MAX_TOKENS:
            raise PredicateError(f"more than {MAX_TOKENS} tokens")
        token, position = _token_at(text, position, any_number)
        found.append(token)
    return found


def _token_at(text: str, start: int, any_number: bool) -> tuple[Token, int]:
    character = text[start]
    for operator in _OPERATORS:
        if text.startswith(operator, start):
            return Token("operator", operator, start), start + len(operator)
    if character in _PUNCTUATION:
        return Token("punctuation", character, start), start + 1
    if character in "'\"":
        return _string_at(text, start)
    is_digit = str.isdigit if any_number else _is_plain_digit
    if is_digit(character) or (character == "-" and is_digit(text[start + 1 : start + 2])):
        return _number_at(text, start, any_number)
    if character == "_" or character.isalpha():
        return _word_at(text, start)
    raise PredicateError(f"the character {character!r} at {start} starts nothing")


def _is_plain_digit(character: str) -> bool:
    """Return whether a character is one of 0 to 9; Unicode has digits that look like them."""
    return character != "" and character in "0123456789"


def _string_at(text: str, start: int) -> tuple[Token, int]:
    quote, position = text[start], start + 1
    content: list[str] = []
    while position < len(text):
        character = text[position]
        if character == quote:
            return Token("string", "".join(content), start), position + 1
        if character == "\\" and position + 1 < len(text):
            position += 1
            character = text[position]
        content.append(character)
        position += 1
    raise PredicateError(f"the string at {start} has no end")


def _number_at(text: str, start: int, any_number: bool) -> tuple[Token, int]:
    is_digit = str.isdigit if any_number else _is_plain_digit
    end = start + 1
    while end < len(text) and (is_digit(text[end]) or text[end] == "."):
        end += 1
    digits = text[start:end]
    if digits.count(".") > 1:
        raise PredicateError(f"the number at {start} has more than one point")
    if len(digits) > MAX_DIGITS:
        raise PredicateError(f"the number at {start} has more than {MAX_DIGITS} digits")
    try:
        value: int | float = float(digits) if "." in digits else int(digits)
    except ValueError:  # a superscript is a digit and has no place in a number
        raise PredicateError(f"{digits[:40]!r} at {start} is no number") from None
    if value in (float("inf"), float("-inf")) and not any_number:
        raise PredicateError(f"the number at {start} is too large")
    return Token("number", value, start), end


def _word_at(text: str, start: int) -> tuple[Token, int]:
    end = start + 1
    while end < len(text) and (text[end] == "_" or text[end].isalnum()):
        end += 1
    word = text[start:end]
    folded = word.lower()
    if folded in KEYWORDS:
        return Token("keyword", folded, start), end
    return Token("word", word, start), end
