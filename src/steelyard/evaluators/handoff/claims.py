"""What a text claims about the outcome of a test: passing, failing, both or nothing.

A deterministic reading of prose, not an understanding of it. The published rules are kept under
``compatibility``; the default differs where they let a contradiction through.
"""

from __future__ import annotations

import re

PASSING, FAILING = "passing", "failing"

_OUTCOME = r"(?:pass(?:ed|ing)?|fail(?:ed|ing)?)"
_NEGATOR = (
    r"(?:no|not|never|without|zero|none|neither|nor|cannot|"
    r"(?:ca|is|was|were|does|did|has|have)n'?t)"
)
_NOUN = r"(?:tests?|checks?|categor(?:y|ies)|sections?|results?|lists?)"
_CATEGORY_LIST = re.compile(
    r"\b(?:pass(?:ed|ing)?\s*,\s*fail(?:ed|ing)?|fail(?:ed|ing)?\s*,\s*pass(?:ed|ing)?)\s*,\s*"
    rf"(?:and\s+)?not[- ]run\b(?:\s+{_NOUN})?"
)
_HEADING = re.compile(r"^ *#{1,6}(?: .*)?$")
_PUBLISHED_NEGATION = re.compile(rf"\b{_NEGATOR}\b[^.;!?\n]{{0,64}}?\b{_OUTCOME}\b")
_PUBLISHED_CLAIM = re.compile(rf"\b{_OUTCOME}\b")

# Ours: more words for an outcome, every contraction, apostrophes as people type them.
_SYNONYMS = (
    r"(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing|ures?)?|succeed(?:s|ed|ing)?|"
    r"(?:un)?success(?:es|ful|fully)?|errored|green|red)"
)
_POSITIVE = ("pass", "succe", "green")
_CLAIM = re.compile(rf"\b{_SYNONYMS}\b")
_APOSTROPHES = "['\u2018\u2019\u02bc\uff07\u00b4`]"
_NEGATION = re.compile(
    r"\b(?:no|not|never|without|zero|none|nothing|neither|nor|cannot|"
    r"(?:ca|is|are|was|were|do|does|did|has|have|had|wo|would|could|should|need)"
    rf"n{_APOSTROPHES}?t)\b(?P<between>[^.;!?\n]{{0,64}}?)\b(?P<outcome>{_SYNONYMS})\b"
)
# "5 passed, 0 failed", but not "exited 0, passed"
_NONE_OF_THEM = re.compile(
    r"(?<!exit )(?<!exited )(?<!status )(?<!code )(?<![\w.])0[ \t]+"
    rf"(?:(?:tests?|checks?|cases?)[ \t]+)?{_SYNONYMS}\b"
)
# "no question that it passed", "cannot deny it passed" and "no flake: it passed" affirm: between a
# negator and the outcome it negates there is neither a clause of its own nor a second negation.
_AFFIRMED_BETWEEN = re.compile(
    r"\b(?:question|doubt|wonder|mind|mistake|surprise|den(?:y|ies|ied|ying)|disput\w*|"
    r"that|but|yet|although|though|because|since|only)\b|[,:(\u2013\u2014]|\s-\s"
)
_CONJUNCTION = re.compile(r"\band\b")

# What may happen is no claim. A modal verb governs the outcome only across words of its own kind
# ("may still have failed"), so that "you should know it passed" is one.
_BETWEEN_VERBS = (
    r"(?:(?:have|has|be|been|being|not|also|still|then|again|always|never|well|even|now|soon|just|"
    r"only|either|both|all|\w+ly)\s+)"
)
_HYPOTHETICAL = re.compile(
    r"\b(?:may|might|can|could|would|should|will|shall|must)\s+"
    rf"(?:(?:it|this|they|the(?:\s+\w+){{1,2}})\s+)?{_BETWEEN_VERBS}{{0,3}}{_SYNONYMS}\b"
    rf"|\bto\s+{_BETWEEN_VERBS}?(?:pass|fail|succeed)\b"
    rf"|\b(?:if|unless|until|whether)\b[^.;!?\n,:(]{{0,24}}?\b{_SYNONYMS}\b"
    r"|\b(?:when|whenever|once)\b[^.;!?\n,:(]{0,24}?\b(?:pass(?:es)?|fails?|succeeds?)\b"
)
_OUR_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]+(?P<text>.*))?$")
_CATEGORY = rf"(?:{_SYNONYMS}|not[- ]run|skipped)"
_CATEGORY_NAME = re.compile(
    rf"{_CATEGORY}(?:(?:\s*[,/&]\s*|\s+)(?:(?:and|or)\s+)?{_CATEGORY})*(?:\s+(?:{_NOUN}|cases?))?"
)


_COMMAND = "- Command:"
_QUOTED = re.compile("`([^`]*)`")


def outcome_claims(text: str, *, compatibility: bool = False) -> set[str]:
    """Return which outcomes a text claims.

    Headings such as "Failing tests" and lists such as "passing, failing, and not-run" name
    categories; both are taken out, then what may happen, then every outcome word that a negator
    governs (at most 64 characters before it in the same clause). The words that remain are the
    claims.

    Parameters
    ----------
    text : str
        Markdown.
    compatibility : bool, default False
        The published rules: a negator takes out the next outcome word whatever stands between,
        every heading is taken out whatever it says, typographic apostrophes, synonyms and
        hypotheticals are not known.

    Returns
    -------
    set of str
        Some of ``passing`` and ``failing``.
    """
    is_dropped = _HEADING.match if compatibility else _is_category_heading
    kept = "\n".join(line for line in text.split("\n") if not is_dropped(line.rstrip("\r")))
    kept = _CATEGORY_LIST.sub(" ", kept.lower())
    if compatibility:
        found = _PUBLISHED_CLAIM.findall(_PUBLISHED_NEGATION.sub(" ", kept))
    else:
        kept = _NONE_OF_THEM.sub(" ", _HYPOTHETICAL.sub(" ", kept))
        found = _CLAIM.findall(_NEGATION.sub(_without_negated, kept))
    return {PASSING if word.startswith(_POSITIVE) else FAILING for word in found}


def _is_category_heading(line: str) -> bool:
    """Return whether a line is a heading that names outcomes and claims none: "Failing tests"."""
    heading = _OUR_HEADING.match(line)
    name = (heading["text"] or "").rstrip("# \t").strip(" \t*_:`").lower() if heading else ""
    return heading is not None and (not name or _CATEGORY_NAME.fullmatch(name) is not None)


def _without_negated(match: re.Match[str]) -> str:
    """Take a negated outcome out; leave it when a new clause starts between it and the negator."""
    between, outcome = match["between"], match["outcome"]
    is_affirmed = _AFFIRMED_BETWEEN.search(between) or (
        outcome.endswith(("ed", "s")) and outcome != "pass" and _CONJUNCTION.search(between)
    )
    return match.group() if is_affirmed else " "


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
        Let the marker be part of a longer word, and read claims by the published rules, those in
        the command's own words ("pytest -k failing") included.

    Returns
    -------
    bool
    """
    words = (command, outcome, marker)
    if compatibility:
        present = all(word in section for word in words)
    else:
        present = all(_whole(word).search(section) for word in words)
    return present and _claims_about(section, command, compatibility) == {outcome}


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
    blocks = re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n"))
    own = [block for block in blocks if quoted in block]
    if len(own) != 1 or _claims_about(own[0], command, compatibility) != {outcome}:
        return False
    opposite = FAILING if outcome == PASSING else PASSING
    return all(
        block is own[0]
        or opposite not in _claims_about(block, command, compatibility)
        or _is_about_other_commands(block, command, compatibility)
        for block in blocks
    )


def _claims_about(text: str, command: str, compatibility: bool) -> set[str]:
    """Return what a text claims besides naming a command, whose own words are no claim."""
    told = text if compatibility else _whole(command).sub(" ", text)
    return outcome_claims(told, compatibility=compatibility)


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")


def _is_about_other_commands(block: str, command: str, compatibility: bool) -> bool:
    lines = [line.strip() for line in block.split("\n")]
    named = [line.removeprefix(_COMMAND) for line in lines if line.startswith(_COMMAND)]
    if not compatibility:  # "make check -k beam" is another command than "make check"
        named = [_QUOTED.sub(lambda span: _other(span[1], command), name) for name in named]
    return bool(named) and not any(command in name for name in named)


def _other(quoted: str, command: str) -> str:
    """Return a quoted command if it is the one in question; another may begin with its words."""
    return quoted if quoted.strip() == command else " "
