"""What a text claims about the outcome of a test: passing, failing, both or nothing.

A deterministic reading of prose, not an understanding of it. The published rules are kept under
``compatibility``; the default differs where they let a contradiction through.
"""

from __future__ import annotations

import re

PASSING, FAILING = "passing", "failing"

_OUTCOME = r"(?:pass(?:ed|ing)?|fail(?:ed|ing)?)"
_SYNONYMS = r"(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing|ures?)?|succeed(?:s|ed|ing)?|green|red)"
_CONTRACTED = "ca|is|was|were|does|did|has|have"
_NEGATOR = (
    r"(?:no|not|never|without|zero|none|neither|nor|cannot|"
    rf"(?:{_CONTRACTED})n{{apostrophe}}?t)"
)
_LIST = (
    r"\b(?:pass(?:ed|ing)?\s*,\s*fail(?:ed|ing)?|fail(?:ed|ing)?\s*,\s*pass(?:ed|ing)?)\s*,\s*"
    r"(?:and\s+)?not[- ]run\b(?:\s+(?:tests?|checks?|categor(?:y|ies)|sections?|results?|lists?))?"
)
_CATEGORY_LIST = re.compile(_LIST)
_HEADING = re.compile(r"^ *#{1,6}(?:\s.*)?$")
_FENCED_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$")

_PUBLISHED_NEGATION = re.compile(
    rf"\b{_NEGATOR.format(apostrophe=chr(39))}\b[^.;!?\n]{{0,64}}?\b{_OUTCOME}\b"
)
_PUBLISHED_CLAIM = re.compile(rf"\b{_OUTCOME}\b")

# "no question that it passed" affirms: the words between a negator and the outcome it negates
# hold neither a clause of their own nor another verb of saying.
_AFFIRMED_BETWEEN = re.compile(
    r"\b(?:question|doubt|that|but|yet|although|though|because|since|only)\b|,"
)
_NEGATION = re.compile(
    rf"\b{_NEGATOR.format(apostrophe='[' + chr(39) + chr(0x2019) + ']')}\b"
    rf"(?P<between>[^.;!?\n]{{0,64}}?)\b{_SYNONYMS}\b"
)
_CLAIM = re.compile(rf"\b{_SYNONYMS}\b")
_HYPOTHETICAL = re.compile(
    rf"\b(?:may|might|could|would|should|will|must|to|if|unless|until|when)\b[^.;!?\n,]{{0,24}}?"
    rf"\b{_SYNONYMS}\b"
)
_POSITIVE = ("pass", "succe", "green")


def outcome_claims(text: str, *, compatibility: bool = False) -> set[str]:
    """Return which outcomes a text claims.

    Headings name a section and lists such as "passing, failing, and not-run" name categories; both
    are taken out, then every outcome word that a negator governs (at most 64 characters before it
    in the same clause). The words that remain are the claims.

    Parameters
    ----------
    text : str
        Markdown.
    compatibility : bool, default False
        The published rules: a negator takes out the next outcome word whatever stands between, a
        line of any indent that starts with ``#`` is a heading, typographic apostrophes, synonyms
        and hypotheticals are not known.

    Returns
    -------
    set of str
        Some of ``passing`` and ``failing``.
    """
    heading = _HEADING if compatibility else _FENCED_HEADING
    kept = "\n".join(line for line in text.split("\n") if not heading.match(line.rstrip("\r")))
    kept = _CATEGORY_LIST.sub(" ", kept.lower())
    if compatibility:
        found = _PUBLISHED_CLAIM.findall(_PUBLISHED_NEGATION.sub(" ", kept))
    else:
        kept = _HYPOTHETICAL.sub(" ", kept)
        found = _CLAIM.findall(_NEGATION.sub(_without_negated, kept))
    return {PASSING if word.startswith(_POSITIVE) else FAILING for word in found}


def _without_negated(match: re.Match[str]) -> str:
    """Take a negated outcome out; leave it when a new clause starts between it and the negator."""
    return match.group() if _AFFIRMED_BETWEEN.search(match["between"]) else " "


def state_matches(
    section: str, command: str, outcome: str, marker: str, *, compatibility: bool = False
) -> bool:
    """Return whether a Test State section says what was measured and nothing against it.

    Parameters
    ----------
    section : str
        The section's text.
    command, outcome, marker : str
        The command that was run, ``passing`` or ``failing``, and a word of its output. Each must
        occur as written.
    compatibility : bool, default False
        Let the marker be part of a longer word, and read claims by the published rules.

    Returns
    -------
    bool
    """
    words = (command, outcome, marker)
    if compatibility:
        present = all(word in section for word in words)
    else:
        present = all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", section) for word in words)
    return present and outcome_claims(section, compatibility=compatibility) == {outcome}


def focused_summary_matches(
    text: str, command: str, outcome: str, *, compatibility: bool = False
) -> bool:
    """Return whether a test summary has one block for a command, and it claims the outcome only.

    Parameters
    ----------
    text : str
        ``test-summary.md``; blocks are separated by blank lines.
    command, outcome : str
        What was run and what came of it.
    compatibility : bool, default False
        Read claims by the published rules.

    Returns
    -------
    bool
        False too when another block claims the opposite, unless it is about commands of its own.
    """
    quoted = f"`{command}`"
    blocks = re.split(r"\n[ \t]*\r?\n", text.replace("\r\n", "\n"))
    own = [block for block in blocks if quoted in block]
    if len(own) != 1 or outcome_claims(own[0], compatibility=compatibility) != {outcome}:
        return False
    opposite = FAILING if outcome == PASSING else PASSING
    return all(
        block is own[0]
        or opposite not in outcome_claims(block, compatibility=compatibility)
        or _is_about_other_commands(block, command)
        for block in blocks
    )


def _is_about_other_commands(block: str, command: str) -> bool:
    named = [line for line in block.split("\n") if line.lstrip().startswith("- Command:")]
    return bool(named) and not any(command in line for line in named)
