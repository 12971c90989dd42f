"""Contents of the two made-up studies, collected once: it takes a second, and nothing changes."""

import pytest

from report import small
from steelyard.analysis.evidence import Evidence
from steelyard.report.content import collect
from steelyard.report.pins import PinResult

PINS = (
    PinResult("c1", "reproduced", "rates", {"successes": 5, "total": 6}, {"successes": 5}),
    PinResult("c2", "disputed", "other", {"value": 0.5}, {"value": 0.25}, reason="mixed | up"),
    PinResult("c3", "not determinable", reason="no table holds it"),
    PinResult("c4", "failed", "rates", {"value": 1.0}, {}, message="value expected <1>, *not* 2"),
)
_MADE = {}


def _once(name, make, small_study, pins):
    if name not in _MADE:
        _MADE[name] = collect(Evidence(make(small_study)), pins)
    return _MADE[name]


@pytest.fixture
def later(small_study):
    """The report's content of a study with a fault, compared with an earlier one."""
    return _once("later", small.pair, small_study, PINS)


@pytest.fixture
def solo(small_study):
    """The report's content of a study of one arm, in two splits."""
    return _once("solo", small.single, small_study, ())


@pytest.fixture
def pins():
    """One published number of each status."""
    return PINS
