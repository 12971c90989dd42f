"""Level-2 headings of a Markdown text and what stands below them."""

from __future__ import annotations

import re

COMMON_SECTIONS = (
    "Original Goal",
    "Current Status",
    "User Constraints",
    "Repo State",
    "Changed Files",
    "Commands Run",
    "Test State",
    "Failed Attempts",
    "Current Hypothesis",
    "Next Recommended Step",
    "Risks / Unknowns",
    "Instructions For Next Agent",
)
KIND_SECTIONS = {
    "handoff": (),
    "delegation_request": (
        "Delegation Request",
        "Child Agent Task",
        "Acceptance Criteria",
        "Return Instructions",
    ),
    "delegation_result": (
        "Delegation Result",
        "Work Completed",
        "Parent Review Notes",
        "Parent Next Step",
    ),
}
"""The sections that a WAYBILL.md must have; the order does not matter."""

_PUBLISHED_HEADING = re.compile(r"^##[^\S\n]+(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)\Z")
_HTML_BLOCKS = (
    (re.compile(r" {0,3}<!--"), re.compile("-->")),
    (
        re.compile(r" {0,3}<(?:pre|script|style|textarea)(?:[\s>]|\Z)", re.IGNORECASE),
        re.compile("</(?:pre|script|style|textarea)>", re.IGNORECASE),
    ),
)
"""What starts and what ends text of which a reader of the page sees no Markdown."""


def section_map(text: str, *, compatibility: bool = False) -> dict[str, str]:
    """Return the text of each level-2 section.

    Parameters
    ----------
    text : str
        Markdown.
    compatibility : bool, default False
        Count a heading inside a fenced code block or an HTML comment, as the published tool does.

    Returns
    -------
    dict of str to str
        By heading; of two equal headings the last. Bodies are trimmed.
    """
    if compatibility:
        found = list(_PUBLISHED_HEADING.finditer(text))
        ends = [match.start() for match in found[1:]] + [len(text)]
        bodies = zip(found, ends, strict=False)  # without a heading there is an end too many
        return {match[1].strip(): text[match.end() : end].strip() for match, end in bodies}
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    for line, name in _lines_with_headings(text):
        if name is None:
            body.append(line)
        else:
            body = sections[name] = []
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


def _lines_with_headings(text: str) -> list[tuple[str, str | None]]:
    """Return each line with the level-2 heading that it is, None for every other line."""
    lines: list[tuple[str, str | None]] = []
    fence, html_end = "", None
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for line in plain.split("\n"):
        marker = _FENCE.match(line)
        name = None
        if fence:
            if marker and marker["fence"].startswith(fence) and not marker["info"].strip():
                fence = ""
        elif html_end is not None:
            html_end = None if html_end.search(line) else html_end
        elif marker and not (marker["fence"][0] == "`" and "`" in marker["info"]):
            fence = marker["fence"]
        else:
            html_end = _html_end(line)
            name = _heading_name(line)
        lines.append((line, name))
    return lines


def _html_end(line: str) -> re.Pattern[str] | None:
    """Return what ends the HTML block that a line opens, None if it opens none or closes it too."""
    for start, end in _HTML_BLOCKS:
        opened = start.match(line)
        if opened is not None:
            return None if end.search(line, opened.end()) else end
    return None


def _heading_name(line: str) -> str | None:
    """Return the name in a level-2 heading, without a closing row of ``#``."""
    if line.rstrip() != "##" and not line.startswith(("## ", "##\t")):
        return None
    name = line[2:].strip()
    bare = name.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) or not bare else name


def missing_sections(text: str, kind: str) -> list[str]:
    """Return the sections that a WAYBILL.md of a kind lacks, in the order of the contract.

    A section is there when its heading is a line of its own outside fenced code.
    """
    present = section_map(text)
    return [name for name in required_sections(kind) if name not in present]


def required_sections(kind: str) -> tuple[str, ...]:
    """Return the common sections and those of a kind; an unknown kind has none of its own."""
    return COMMON_SECTIONS + KIND_SECTIONS.get(kind, ())
