"""Claims about a test's outcome: where ours sees what the published rules let through."""

from __future__ import annotations

import pytest

from steelyard.evaluators.handoff.claims import (
    focused_summary_matches,
    outcome_claims,
    state_matches,
)


@pytest.mark.parametrize(
    ("text", "ours", "published"),
    [
        ("There is no question that it passed.", {"passing"}, set()),
        ("Not a flake, it passed.", {"passing"}, set()),
        ("It no longer fails and all is green.", {"passing"}, set()),
        ("It wasn\u2019t passing.", set(), {"passing"}),
        ("Every check succeeds.", {"passing"}, set()),
        ("Two failures remain.", {"failing"}, set()),
        ("It may fail on Sundays.", set(), {"failing"}),
        ("      # all passed", {"passing"}, set()),
        ("#\tPassing\nfailing", {"failing"}, {"passing", "failing"}),
        ("It is failing.", {"failing"}, {"failing"}),
        ("It did not fail.", set(), set()),
        ("It can't pass.", set(), set()),
        ("It cant have failed.", set(), set()),
        ("# All tests passed\n\nIt is failing.", {"passing", "failing"}, {"failing"}),
        ("## Passing checks ##\n# Not Run\n# **Failed**:\nIt is failing.", *[{"failing"}] * 2),
        ("It ran successfully.", {"passing"}, set()),
        ("Unsuccessful again.", {"failing"}, set()),
        ("You cannot deny it passed.", {"passing"}, set()),
        ("No flake: it passed.", {"passing"}, set()),
        ("No flake \u2014 it passed.", {"passing"}, set()),
        ("It was not skipped and passed.", {"passing"}, set()),
        ("It did not build and pass.", set(), set()),
        ("It could not be clearer: it passed.", {"passing"}, set()),
        ("You should know it passed.", {"passing"}, {"passing"}),
        ("It may still have failed.", set(), {"failing"}),
        ("The test is expected to pass.", set(), {"passing"}),
        ("It went from passing to failing.", {"passing", "failing"}, {"passing", "failing"}),
        ("It failed when it ran alone.", {"failing"}, {"failing"}),
        ("See what it prints when it fails.", set(), set()),
        ("If the clock is wrong it will fail.", set(), {"failing"}),
        ("They don't pass and aren\u2019t green.", set(), {"passing"}),
        ("It didn\u02bct fail.", set(), {"failing"}),
        ("1 failed, 0 passed", {"failing"}, {"failing", "passing"}),
        ("It exited 0 and passed.", {"passing"}, {"passing"}),
        ("Nothing was failing.", set(), {"failing"}),
    ],
)
def test_contradictions_are_not_laundered(text, ours, published):
    assert outcome_claims(text) == ours
    assert outcome_claims(text, compatibility=True) == published


def test_a_marker_inside_a_longer_word_is_not_the_marker():
    section = "`make check` is failing at xbeam_checky."
    assert not state_matches(section, "make check", "failing", "beam_check")
    assert state_matches(section, "make check", "failing", "beam_check", compatibility=True)
    assert state_matches(
        "`make check` is failing: beam_check", "make check", "failing", "beam_check"
    )


def test_a_contradiction_after_the_measured_outcome_fails():
    section = "`make check` is failing at beam_check. There is no doubt the rerun passed."
    assert not state_matches(section, "make check", "failing", "beam_check")
    assert state_matches(section, "make check", "failing", "beam_check", compatibility=True)


def test_one_block_speaks_for_a_command():
    block = "- Command: `make check`\n- Outcome: failing\n"
    assert focused_summary_matches(block, "make check", "failing")
    assert not focused_summary_matches(block, "make check", "passing")
    assert not focused_summary_matches(block + "\n" + block, "make check", "failing")
    elsewhere = block + "\n- Command: `make lint`\n- Outcome: passing\n"
    assert focused_summary_matches(elsewhere, "make check", "failing")
    bare = block + "\n- Command: make check\n- Outcome: passing\n"
    assert not focused_summary_matches(bare, "make check", "failing")


def test_the_words_of_a_command_are_no_claim():
    command, marker = "make pass-check failed.log", "beam_check"
    section = f"`{command}` is failing at `{marker}`."
    assert state_matches(section, command, "failing", marker)
    assert not state_matches(section, command, "failing", marker, compatibility=True)
    block = f"- Command: `{command}`\n- Outcome: failing\n"
    assert focused_summary_matches(block, command, "failing")
    assert not focused_summary_matches(block, command, "failing", compatibility=True)
    assert not focused_summary_matches(f"- Command: `{command}`\n", command, "failing")


@pytest.mark.parametrize("blank", ["", " \t", "\r", "\u00a0", "\f"])
@pytest.mark.parametrize("compatibility", [False, True])
def test_a_line_of_spaces_is_blank(blank, compatibility):
    text = f"- Command: `a`\n- Outcome: failing\n{blank}\n- Command: `b`\n- Outcome: passing"
    assert focused_summary_matches(text, "a", "failing", compatibility=compatibility)


@pytest.mark.parametrize(
    ("named", "ours", "published"),
    [
        ("`make lint`", True, True),
        ("make lint", True, True),
        ("`make check -k beam`", True, False),
        ("make check again", False, False),
        ("make check", False, False),
        ("`make lint`, then make check", False, False),
    ],
)
def test_the_opposite_may_be_said_of_other_commands(named, ours, published):
    text = f"- Command: `make check`\n- Outcome: failing\n\n- Command: {named}\n- Outcome: passing"
    assert focused_summary_matches(text, "make check", "failing") is ours
    matches = focused_summary_matches(text, "make check", "failing", compatibility=True)
    assert matches is published
