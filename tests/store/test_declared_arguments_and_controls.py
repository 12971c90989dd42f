"""``[arguments]`` and ``[[controls]]`` of a study's declaration."""

from __future__ import annotations

import pytest

from steelyard.errors import StudyError
from steelyard.store.declaration import Declaration
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy

BASE = {
    "study": {
        "id": "one",
        "title": "t",
        "question": "q",
        "origin": "run",
        "source": "s",
        "licence": "MIT",
    },
    "data": {"source": "one"},
    "design": {"arms": ["a"], "perturbations": ["baseline"]},
    "measures": {"primary": "ok"},
    "rules": {"must_call:check": {"severity": "critical"}},
}
CONTROL = {"id": "C1", "title": "t", "rules": ["must_call:check"], "tolerable_rate": 0.05}


def test_argument_schemas_are_those_of_the_trials_room():
    fields = {"amount": {"policy": "numeric", "absolute_tolerance": 0.5, "severity": "critical"}}
    declaration = Declaration.of(**BASE, arguments={"pay": fields})
    assert declaration.argument_schemas == {
        "pay": ArgumentSchema({"amount": FieldPolicy("numeric", 0.5, 0.0, "critical")})
    }
    assert Declaration.of(**BASE).argument_schemas == {}


def test_controls_survive_the_database():
    declaration = Declaration.of(**BASE, controls=[CONTROL])
    assert Declaration.from_json(declaration.to_json()).controls == declaration.controls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": []}, r"controls\[0\]\.rules: accepted is .*at least 1 item"),
        ({"rules": ["must_call:chekc"]}, "which \\[rules\\] does not declare"),
        ({"tolerable_rate": 1.0}, "accepted is less than 1"),
        ({"tolerable_rate": -0.1}, "accepted is 0 or more"),
        ({"tolerable_rate": "0.1"}, "accepted is a number; found '0.1'"),
        ({"owner": "x"}, "owner"),
    ],
)
def test_a_control_that_cannot_be_tested_is_refused(change, message):
    with pytest.raises(StudyError, match=message):
        Declaration.of(**BASE, controls=[{**CONTROL, **change}])


def test_two_controls_with_one_id_are_refused():
    with pytest.raises(StudyError, match="two controls have one id"):
        Declaration.of(**BASE, controls=[CONTROL, CONTROL])


@pytest.mark.parametrize("field", [{"policy": "fuzzy"}, {"severity": "fatal"}, {"tolerance": 1}])
def test_an_argument_policy_that_does_not_exist_is_refused(field):
    with pytest.raises(StudyError, match=next(iter(field))):
        Declaration.of(**BASE, arguments={"pay": {"amount": field}})
