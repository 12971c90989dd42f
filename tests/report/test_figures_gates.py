"""The matrix of gates and arms as a picture."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from steelyard.errors import InputError
from steelyard.report.figures_gates import gate_matrix_figure

GROUPS = {"doors": ["lock", "bell"], "windows": ["latch"]}


def frame(**changes: float) -> pd.DataFrame:
    rates = {"fine lock": 1.0, "sly lock": 0.5, "fine bell": 1.0, "sly bell": math.nan}
    rates |= {"fine latch": 1.0, "sly latch": 0.0} | changes
    return pd.DataFrame(
        [
            {
                "gate": gate,
                "arm": arm,
                "passed": 0 if math.isnan(rate) else int(2 * rate),
                "evaluated": 0 if math.isnan(rate) else 2,
                "rate": rate,
                "alone": int((arm, gate) == ("sly", "latch")),
            }
            for (arm, gate), rate in ((name.split(), rate) for name, rate in rates.items())
        ]
    )


def draw(table: pd.DataFrame, groups: dict[str, list[str]] | None = None):
    given = GROUPS if groups is None else groups
    blocks = [{"name": name, "gates": gates} for name, gates in given.items()]
    return gate_matrix_figure(table, title="Who?", subtitle="of trials", groups=blocks)


def test_the_words_say_what_the_picture_shows() -> None:
    found = draw(frame())
    assert found.name == "gate_matrix"
    assert found.description == (
        "doors. lock: sly 50%; bell: every arm passes. windows. latch: sly 0% alone."
    )


def test_every_state_of_a_cell_looks_different() -> None:
    pictures = {draw(frame(**{"sly lock": rate})).svg for rate in (1.0, 0.98, 0.5, 0.0, math.nan)}
    assert len(pictures) == 5
    assert draw(frame().assign(alone=0)).svg not in pictures


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"doors": ["lock", "bell"]}, "latch: in no group"),
        ({"doors": ["lock", "bell", "latch"], "more": ["lock"]}, "lock: named twice"),
        ({"doors": ["lock", "bell", "latch", "knob"]}, "knob: no gate of the frame"),
    ],
)
def test_every_gate_stands_in_one_group(groups: dict[str, list[str]], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        draw(frame(), groups)
