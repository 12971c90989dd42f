"""What a file holds reaches the terminal as text and never as a command to it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("written", "shown"),
    [(r"\u001b[2Jx", r"\x1b[2Jx"), (r"\u009bx", r"\x9bx"), (r"\u0007x", r"\x07x")],
)
def test_a_control_character_in_a_key_is_shown_escaped(small_project, program, written, shown):
    project = small_project()
    path = project / "experiments" / "small" / "study.toml"
    path.write_text(f'"{written}" = 1\n{path.read_text()}')
    done = program("reproduce", "--root", project)
    assert done.code == 2
    assert f"study.toml:1: {shown}: unknown key" in done.err
    assert done.err.rstrip("\n").isprintable()
