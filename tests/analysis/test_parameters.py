"""Parameters of the wrong kind, in a pin or a study's own table, are told as what they are."""

from __future__ import annotations

import pytest

from steelyard.analysis import questions
from steelyard.analysis.estimands import compute
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.questions import ask, find
from steelyard.errors import InputError, StudyError, UnknownNameError


@pytest.fixture
def evidence(tables):
    return Evidence(tables("plumbline_retry"))


@pytest.mark.parametrize(
    "parameters", [{"status": 5}, {"arm": [["a"]]}, {"task": {"a": 1}}, {"task": {"a": "b" * 999}}]
)
def test_an_estimand_names_itself_and_its_parameters(evidence, parameters):
    with pytest.raises(StudyError, match=r"estimand 'trial_count' cannot use") as refused:
        compute(evidence, "trial_count", parameters)
    assert repr(parameters)[:100] in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("question", "parameters", "said"),
    [
        ("rates", {"measure": ["a"]}, r"measure is \['a'\]; accepted: a name"),
        ("rates", {"arm": {"a": 1}}, r"filter arm is \{'a': 1\}"),
        ("event_bounds", {"confidence": "x"}, "confidence is 'x'"),
        ("event_bounds", {"confidence": [0.9]}, r"confidence is \[0\.9\]"),
        ("event_bounds", {"confidence": True}, "confidence is True"),
        ("paired", {"reference": 5, "candidate": "react"}, "reference is 5; accepted: a name"),
        ("paired", {"reference": "react", "candidate": None}, "candidate is None"),
        ("paired", {"reference": "react", "candidate": [["x"]]}, r"candidate is \['x'\]"),
        ("agreement", {"name": 5}, "name is 5"),
        ("agreement", {"name": ""}, "name is ''"),
        ("agreement", {"name": "x", "arms": 5}, "arms is 5"),
        ("discriminate", {"score": "x", "label": "y", "arm": None}, "arm is None"),
        ("risk_coverage", {"score": "x", "harm": "y", "arm": None}, "arm is None"),
    ],
)
def test_a_question_names_the_value(evidence, question, parameters, said):
    with pytest.raises(InputError, match=said):
        ask(evidence, question, parameters)
    with pytest.raises(InputError, match=said):
        compute(evidence, "answer", {"ask": question, "parameters": parameters, "column": "total"})


@pytest.mark.parametrize("failure", [KeyError, AttributeError, NotImplementedError, TypeError])
def test_a_question_without_a_check_of_its_own_is_told_too(evidence, monkeypatch, failure):
    def fail(tables, value):
        raise failure(f"about {value}")

    monkeypatch.setattr(questions, "find", lambda _: fail)
    with pytest.raises(StudyError, match=r"question 'odd' cannot use its parameters .*'value': 3"):
        ask(evidence, "odd", {"value": 3})


def test_names_that_are_no_text_are_unknown(evidence):
    with pytest.raises(UnknownNameError, match=r"unknown question \['rates'\]"):
        find(["rates"])
    with pytest.raises(UnknownNameError, match="unknown estimand 5"):
        compute(evidence, 5, {})
