"""The notebooks run from top to bottom and show what they are committed with."""

from __future__ import annotations

import json

import pytest

import notebooks

PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert {path.name for path in PATHS} >= {
        "01_first_look.ipynb",
        "02_retry_study.ipynb",
        "03_reading_trajectories.ipynb",
        "04_where_would_bound_have_stopped.ipynb",
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
class TestNotebook:
    def test_shows_what_is_committed(self, path):
        committed = notebooks.outputs(notebooks.read(path))
        again = notebooks.outputs(notebooks.execute(path))
        for number, (before, now) in enumerate(zip(committed, again, strict=True), start=1):
            assert now == before, f"cell {number}; `make notebooks` writes the outputs anew"

    def test_is_committed_without_traces_of_a_run(self, path):
        committed = notebooks.read(path)
        before = json.dumps(committed, sort_keys=True)
        assert json.dumps(notebooks.without_traces(committed), sort_keys=True) == before

    def test_every_code_cell_is_run_and_none_warns(self, path):
        code = [cell for cell in notebooks.read(path).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        shown = [output for cell in code for output in cell.outputs]
        assert not [output for output in shown if output.get("name") == "stderr"]
        assert not [output for output in shown if output.output_type == "error"]

    def test_holds_no_logic(self, path):
        code = [cell for cell in notebooks.read(path).cells if cell.cell_type == "code"]
        words = {word for cell in code for word in cell.source.split()}
        assert not words & {"def", "class", "for", "while", "lambda", "try:", "if"}

    def test_a_figure_renders(self, path):
        shown = [output for cell in notebooks.outputs(notebooks.read(path)) for output in cell]
        figures = [
            o["data"]["image/svg+xml"] for o in shown if "image/svg+xml" in o.get("data", {})
        ]
        assert figures
        assert all("".join(figure).rstrip().endswith("</svg>") for figure in figures)
