import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest

from report import frames
from steelyard.report.drawing import Drawing
from steelyard.report.figures import (
    difference_figure,
    manipulation_figure,
    rates_figure,
    reliability_figure,
)
from steelyard.report.formats import MISSING

WORDS = {"title": "Is it so?", "subtitle": "Success: outcome correct. 95% intervals."}


def all_drawings():
    return [
        rates_figure(frames.rates_frame(), **WORDS),
        rates_figure(
            frames.spread_frame(),
            group=None,
            series="group",
            panels=("± over repeats", "± over tasks"),
            bars=(("standard_error_over_repeats",), ("standard_error_over_tasks",)),
            **WORDS,
        ),
        manipulation_figure(frames.manipulation_frame(), **WORDS),
        difference_figure(frames.difference_frame(), group="head", **WORDS),
        difference_figure(frames.difference_frame(), **WORDS),
        reliability_figure(frames.reliability_frame(), **WORDS),
        reliability_figure(frames.reliability_frame(arms=8), **WORDS),
    ]


@pytest.fixture(scope="module")
def drawings():
    return all_drawings()


def test_same_frames_give_same_bytes(drawings):
    assert [d.svg for d in all_drawings()] == [d.svg for d in drawings]


def test_same_bytes_in_another_process(drawings):
    code = (
        "from report import frames; from steelyard.report.figures import manipulation_figure;"
        "print(manipulation_figure(frames.manipulation_frame(), title='Is it so?', "
        "subtitle='Success: outcome correct. 95% intervals.').svg, end='')"
    )
    tests = frames.__file__.rsplit("/report/", 1)[0]
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tests
    )
    assert run.stdout == drawings[2].svg


def test_every_figure_is_well_formed_and_complete(drawings):
    for drawing in drawings:
        root = ET.fromstring(drawing.svg)  # noqa: S314 - our own text
        assert root.tag.endswith("svg")
        assert root[0].text == "Is it so?"
        assert root[1].text == drawing.description
        assert drawing.svg.endswith("\n")
        assert "\r" not in drawing.svg


def test_nothing_of_day_or_machine_is_in_a_figure(drawings):
    for drawing in drawings:
        assert "<metadata" not in drawing.svg
        assert "dc:date" not in drawing.svg
        assert "Matplotlib" not in drawing.svg
        assert not re.search(r"20\d\d-\d\d-\d\d", drawing.svg)
        assert not re.search(r'\bd="[^"]*\d\.\d{3,}', drawing.svg)


def test_text_is_drawn_as_paths(drawings):
    for drawing in drawings:
        assert "<text" not in drawing.svg
        assert "DejaVuSans" in drawing.svg


def test_the_description_says_what_is_drawn(drawings):
    assert "react, tool_fault: 98.2% of 55/56" in drawings[0].description
    assert "± over repeats [60.5%, 63.5%]" in drawings[1].description
    assert f"high: 33.0% of 45, ± over repeats [33.0%, 33.0%], ± over tasks {MISSING}" in (
        drawings[1].description
    )
    assert "react, tool_fault: applied in 0/56" in drawings[2].description
    assert "not recorded for any of 64 trials" in drawings[2].description
    assert "52/64 → 55/56, difference +17.0 points" in drawings[3].description
    assert f"agent 0, k = 4: 20.0% {MISSING}" in drawings[5].description


def test_inline_ids_do_not_meet(drawings):
    first, second = drawings[0].inline("study-a"), drawings[0].inline("study-b")
    ids = re.findall(r'\bid="([^"]+)"', first + second)
    assert len(ids) == len(set(ids))
    for body in (first, second):
        own = set(re.findall(r'\bid="([^"]+)"', body))
        used = set(re.findall(r'href="#([^"]+)"', body)) | set(re.findall(r"url\(#([^)]+)\)", body))
        assert used <= own
        assert body.startswith('<svg role="img" aria-label="Is it so?')
        assert "<?xml" not in body


def test_a_drawing_shows_itself_in_a_notebook():
    drawing = Drawing("a", "A?", "B.", "<svg></svg>\n")
    assert drawing._repr_svg_() == "<svg></svg>\n"


def test_the_callers_settings_stay_as_they_were():
    before = dict(mpl.rcParams)
    rates_figure(frames.rates_frame(), **WORDS)
    with pytest.raises(KeyError):
        rates_figure(frames.rates_frame().drop(columns="estimate"), **WORDS)
    assert dict(mpl.rcParams) == before


def test_no_estimate_and_no_information_keep_their_place():
    frame = frames.rates_frame()
    frame["estimate"] = frame["estimate"].astype(object)
    frame.loc[0, ["estimate", "low", "high"]] = [np.nan, 0.0, 1.0]
    frame.loc[1, ["clustered_low", "clustered_high"]] = np.nan
    drawing = rates_figure(frame, **WORDS)
    assert "independent [0.0%, 100.0%]" in drawing.description
    assert f"the unit {MISSING}" in drawing.description


def test_long_names_are_cut_and_many_series_still_have_a_colour():
    frame = frames.rates_frame().assign(arm=[f"arm {'x' * 40} {i}" for i in range(4)])
    frame = frame.loc[[0, 1, 2, 3] * 3].reset_index(drop=True)
    frame["arm"] = [f"{name}{i}" for i, name in enumerate(frame["arm"])]
    assert rates_figure(frame, **WORDS).svg


def test_drawing_does_not_import_pyplot():
    code = (
        "import sys; from report import frames; from steelyard.report.figures import *;"
        "rates_figure(frames.rates_frame(), title='A', subtitle='B');"
        "print('matplotlib.pyplot' in sys.modules, 'scipy' in sys.modules)"
    )
    tests = frames.__file__.rsplit("/report/", 1)[0]
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tests
    )
    assert run.stdout.split() == ["False", "False"]


def test_importing_the_figures_does_not_load_matplotlib():
    code = "import sys, steelyard.report.figures; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
