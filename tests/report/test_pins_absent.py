"""A study's pins that are not there, or are no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.analysis.evidence import Evidence
from steelyard.errors import StudyError
from steelyard.report.compute import _pins

CLAIM = {"claim": "c1", "successes": 1, "total": 1, "value": 1.0}


def folder(root: Path) -> Path:
    made = root / "experiments" / "small"
    made.mkdir(parents=True)
    return made


def test_published_numbers_need_pins(small_study, tmp_path):
    folder(tmp_path)
    evidence = Evidence(small_study([{"success": 1}], claims=[CLAIM]))
    with pytest.raises(StudyError, match=r"pins\.toml is absent; 1 published numbers need a pin"):
        _pins(tmp_path, evidence)


def test_a_study_without_published_numbers_needs_none(small_study, tmp_path):
    folder(tmp_path)
    assert _pins(tmp_path, Evidence(small_study([{"success": 1}]))) == []


@pytest.mark.parametrize("claims", [[], [CLAIM]])
def test_a_folder_of_that_name_is_an_error(small_study, tmp_path, claims):
    (folder(tmp_path) / "pins.toml").mkdir()
    evidence = Evidence(small_study([{"success": 1}], claims=claims))
    with pytest.raises(StudyError, match=r"small/pins\.toml: a directory stands where"):
        _pins(tmp_path, evidence)


def test_a_link_to_nowhere_is_an_error(small_study, tmp_path):
    (folder(tmp_path) / "pins.toml").symlink_to(tmp_path / "nowhere.toml")
    with pytest.raises(StudyError, match=r"small/pins\.toml: there is no such file"):
        _pins(tmp_path, Evidence(small_study([{"success": 1}])))
