"""Who an agent says it is, what may stand in a report, and what a sandbox says of itself."""

from __future__ import annotations

import pytest

from steelyard.evaluators.handoff.identity import (
    detect_product,
    detect_version,
    environment_block_reason,
    is_safe_label,
)


@pytest.mark.parametrize("value", ["Claude Code", "a" * 128, "\u00e9", "C:"])
def test_a_label_is_printable_text(value):
    assert is_safe_label(value)


@pytest.mark.parametrize(
    "value", ["", "a" * 129, " a", "a/b", "a\\b", "a\u00a0b", "a\u200bb", "a\n", None, 5, ["a"]]
)
def test_whatever_else_is_no_label(value):
    assert not is_safe_label(value)


@pytest.mark.parametrize(
    ("text", "product", "version"),
    [
        ("codex_cli 1", None, None),
        ("claude-code v1.2", "claude-code", "1.2"),
        ("Claude\nCode 1.2.3.4", "claude-code", "1.2.3"),
        ("x1 codexes", None, None),
        ("gemini and cursor 1.2-", "cursor", "1.2"),
    ],
)
def test_product_and_version_are_whole_words(text, product, version):
    assert (detect_product(text), detect_version(text)) == (product, version)


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("bwrap: setting up uid map: Permission denied", "user-namespace"),
        ("x\r\n BWRAP:cannot create user namespace\r\n", "user-namespace"),
        ("bwrap: loopback: Failed RTM_NEWADDR:\nOperation not permitted", None),
        ("bwrap: loopback: Failed RTM_NEWADDR: File exists", None),
        ("bwrap: Operation not permitted", None),
    ],
)
def test_a_sandbox_says_in_one_line_why_it_did_not_start(stderr, reason):
    assert environment_block_reason(stderr) == reason
