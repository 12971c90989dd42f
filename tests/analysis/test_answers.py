"""Questions by name, and any cell of their answers as a number to pin."""

import inspect

import pytest

from steelyard.analysis import questions
from steelyard.analysis.estimands import compute
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.questions import QUESTIONS, ask, find
from steelyard.errors import InputError, UnknownNameError


def study(small_study):
    trials = [
        {"task": f"t{task}", "success": int(task > repeat)}
        for task in range(3)
        for repeat in range(2)
    ]
    return small_study(trials)


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_exists_and_takes_tables(name):
    assert next(iter(inspect.signature(find(name)).parameters)) == "tables"


def test_answers_are_computed_once_and_results_become_rows(small_study, monkeypatch):
    evidence = Evidence(study(small_study))
    assert ask(evidence, "rates", {"by": ["task"]}) is ask(evidence, "rates", {"by": ["task"]})
    assert ask(evidence, "certify", {"arm": "a"})["arm"].tolist() == ["a"]
    monkeypatch.setattr(questions, "find", lambda _: a_number)
    with pytest.raises(InputError, match="gives int, which is no table"):
        ask(evidence, "number", {})


def a_number(tables):
    return len(tables.study)


def test_any_cell_can_be_pinned(small_study):
    evidence = Evidence(study(small_study))
    asked = {"ask": "rates", "parameters": {"by": ["task"]}, "where": {"task": "t1"}}
    found = compute(
        evidence,
        "answer",
        {**asked, "column": "estimate", "columns": {"successes": "successes", "low": "low"}},
    )
    assert (found.value, found.successes, found.total) == (0.5, 1, None)
    assert 0 < found.low < 0.5
    assert compute(evidence, "answer", {**asked, "column": "case"}).text == "observed"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"where": {}}, InputError, "rates: 3 rows with no condition; need one"),
        ({"where": {"task": "t9"}}, InputError, "0 rows with task='t9'"),
        ({"where": {"tsk": "t1"}}, UnknownNameError, "unknown column 'tsk' in the answer to rates"),
        ({"column": "estimat"}, UnknownNameError, "unknown column 'estimat'"),
        ({"column": None}, InputError, "neither column nor columns"),
        ({"columns": {"hihg": "high"}}, UnknownNameError, "unknown figure 'hihg'"),
        ({"columns": {"high": "task"}}, InputError, "holds 't1', which is no number"),
        ({"columns": {"total": "estimate"}}, InputError, "holds 0.5, which is no count"),
        ({"ask": "rats"}, UnknownNameError, "unknown question 'rats'"),
        ({"column": "design_effect", "where": {"task": "t0"}}, InputError, "holds no value"),
    ],
)
def test_a_cell_that_does_not_exist_is_an_error(small_study, change, error, message):
    asked = {
        "ask": "rates",
        "parameters": {"by": ["task"]},
        "where": {"task": "t1"},
        "column": "estimate",
    }
    with pytest.raises(error, match=message):
        compute(Evidence(study(small_study)), "answer", asked | change)


def test_a_truth_value_is_no_number(small_study):
    evidence = Evidence(study(small_study))
    asked = {"ask": "seeds", "parameters": {"by": []}, "where": {}, "column": "balanced"}
    assert compute(evidence, "answer", asked).text in {"yes", "no"}
    with pytest.raises(InputError, match="0 rows with balanced=1"):
        compute(evidence, "answer", asked | {"where": {"balanced": 1}})
