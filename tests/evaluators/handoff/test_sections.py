"""Level-2 headings: which lines are one, and which only look like it."""

from __future__ import annotations

import pytest

from steelyard.evaluators.handoff.sections import section_map


@pytest.mark.parametrize(
    ("hidden", "is_hidden"),
    [
        ("```\n## Hidden\n```", True),
        ("~~~ text\n## Hidden\n~~~", True),
        ("````\n```\n## Hidden\n```\n````", True),
        ("   ```\n## Hidden\n   ```", True),
        ("```\n~~~\n## Hidden\n```", True),
        ("    ```\n## Hidden\n    ```", False),
        ("`` `\n## Hidden\n`` `", False),
        ("```a`b\n## Hidden", False),
        ("<!-- to be filled in\n## Hidden\n-->", True),
        ("<!-- in one line -->\n## Hidden", False),
        ("<pre>\n## Hidden\n</pre>", True),
        ("<preface>\n## Hidden\n", False),
        ("    ## Hidden", True),
        (" ## Hidden", True),
        ("### Hidden", True),
        ("##Hidden", True),
        ("##\tHidden  ##", False),
        ("text\r## Hidden\rmore", False),
    ],
)
def test_a_heading_is_what_a_reader_sees_as_one(hidden, is_hidden):
    found = section_map(f"## First\n\n{hidden}\n\n## Last\r\nx\r\n")
    assert list(found) == (["First", "Last"] if is_hidden else ["First", "Hidden", "Last"])
    assert found["Last"] == "x"


def test_a_fence_that_is_never_closed_hides_the_rest():
    assert list(section_map("## First\n```\n## Second\n")) == ["First"]
    assert list(section_map("## First\n<!--\n## Second\n")) == ["First"]
    assert list(section_map("## First\n```\n## Second\n", compatibility=True)) == [
        "First",
        "Second",
    ]


def test_any_space_within_a_line_makes_a_published_heading():
    text = "##\u00a0First\n## \nSecond\n##\nThird"
    assert list(section_map(text, compatibility=True)) == ["First"]
    assert section_map(text) == {"": "Third"}
