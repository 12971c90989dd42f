"""Tables that a study's report leaves out."""

from __future__ import annotations

import pytest

from steelyard.analysis.evidence import Evidence
from steelyard.errors import UnknownNameError
from steelyard.report import render
from steelyard.report.content import collect

TRIALS = [
    {"arm": arm, "task": task, "perturbation": perturbation, "success": 1}
    for arm in "ab"
    for task in "tu"
    for perturbation in ("baseline", "noise")
]


def collected(small_study, **report):
    return collect(Evidence(small_study(TRIALS, report=report)), ())


def test_a_table_and_the_figure_of_its_name_are_left_out(small_study) -> None:
    every = collected(small_study)
    assert {"rates", "certificates"} <= set(every.tables)
    assert "rates" in {drawing.name for drawing in every.drawings}
    fewer = collected(small_study, omit=["rates", "certificates", "spread", "trajectories"])
    assert set(every.tables) - set(fewer.tables) == {"rates", "certificates"}
    assert "rates" not in {drawing.name for drawing in fewer.drawings}


@pytest.mark.parametrize("name", ["certificate", "trials"])
def test_a_name_that_cannot_be_left_out_is_refused(small_study, name) -> None:
    with pytest.raises(UnknownNameError, match=r"study\.toml: report\.omit"):
        collected(small_study, omit=[name])


def test_a_report_without_tables_or_figures_has_no_empty_section(small_study, tmp_path) -> None:
    (tmp_path / "experiments").mkdir()
    templates = render.environment(tmp_path)
    every = collected(small_study)
    text = render.report_text(every, templates)
    assert ("## Tables" in text, "## Figures" in text) == (True, True)
    names = sorted(set(every.tables) - {"trials"})
    bare = collected(small_study, omit=[*names, "spread", "trajectories"])
    assert (set(bare.tables), bare.drawings) == ({"trials"}, ())
    text = render.report_text(bare, templates)
    assert ("## Tables" in text, "## Figures" in text) == (False, False)
    assert "\n## Audit\n" in text
    assert "\n\n\n" not in text
