"""The small part of Markdown that our prose uses, as HTML.

Paragraphs, ``-`` lists, ``**bold**``, ``*emphasis*``, ``code`` and ``[links](target)``. The
reports are written in Markdown; the page shows the same sentences and must not say them twice in
two source files.
"""

from __future__ import annotations

import html
import re


def prose_html(text: str) -> str:
    """Return the HTML of Markdown prose; every other character is escaped."""
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    return "\n".join(_block(block) for block in blocks)


def _block(block: str) -> str:
    lines = block.splitlines()
    if lines[0].startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{inline_html(item)}</li>" for item in items) + "</ul>"
    return f"<p>{inline_html(block)}</p>"


def inline_html(text: str) -> str:
    """Return one paragraph's inner HTML."""
    text = html.escape(" ".join(text.split()), quote=True)
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{part[1:-1]}</code>" if part.startswith("`") and len(part) > 1 else _marks(part)
        for part in parts
    )


def _marks(text: str) -> str:
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<!\w)\*(\S(?:.*?\S)?)\*(?!\w)", r"<em>\1</em>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)
