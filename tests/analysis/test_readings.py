import pytest

from report import walks
from steelyard.analysis.readings import AS_PUBLISHED, TOOK_EFFECT, equivalence_readings
from steelyard.errors import InputError, UnknownNameError


@pytest.fixture
def readings(small_study):
    return equivalence_readings(walks.study(small_study), "old", "new")


def counts(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    (row,) = frame.to_dict("records")
    return row["successes"], row["total"]


def test_a_failed_call_is_a_step_in_one_reading_only(readings):
    questions = readings.questions
    assert list(dict.fromkeys(questions["reading"])) == [AS_PUBLISHED, TOOK_EFFECT]
    assert counts(questions, reading=AS_PUBLISHED, question="path") == (0, 12)
    assert counts(questions, reading=TOOK_EFFECT, question="path") == (6, 12)
    assert counts(questions, reading=TOOK_EFFECT, question="argument") == (6, 6)


def test_readings_of_one_perturbation_stand_side_by_side(readings):
    frame = readings.by_perturbation
    assert list(frame["question"]) == ["outcome"] * 4 + ["path"] * 4
    assert list(frame["perturbation"]) == ["baseline", "baseline", "fault", "fault"] * 2
    assert list(frame["reading"]) == [AS_PUBLISHED, TOOK_EFFECT] * 4


def test_bounds_have_a_row_per_reading(readings):
    assert list(readings.bounds["reading"]) == [AS_PUBLISHED, TOOK_EFFECT]
    assert set(readings.bounds["worst_perturbation"]) == {"fault"}


def test_published_groups_stand_beside_ours_and_none_is_lost(readings):
    found = readings.divergences
    found = found[found["reading"] == AS_PUBLISHED]
    extra = found[found["kind"] == "extra"].iloc[0]
    assert (extra["count"], extra["published"]) == (12, 12)
    assert extra["change"] == "(nothing) → check"
    assert extra["perturbations"] == "baseline 6, fault 6"
    assert extra["tasks"] == "t1, t2, t3"
    assert extra["example"] == "new/t1/baseline/0/0"
    ghost = found[found["kind"] == "skipped"].iloc[0]
    assert (ghost["count"], ghost["published"]) == (0, 1)
    assert ghost["change"] == "look → (not called)"


def test_of_two_states_only_what_differs_is_said(readings):
    found = readings.divergences
    outcomes = found[found["kind"] == "outcome"]
    assert set(outcomes["change"]) == {"paid: False → True"}
    assert outcomes.loc[outcomes["reading"] == TOOK_EFFECT, "published"].isna().all()


def test_without_published_divergences_there_is_one_reading(small_study):
    tables = walks.study(small_study, divergences=())
    readings = equivalence_readings(tables, "old", "new", missing="recorded")
    assert set(readings.questions["reading"]) == {TOOK_EFFECT}
    assert set(readings.divergences["reading"]) == {TOOK_EFFECT}


def test_states_that_are_no_objects_are_shown_as_they_are():
    from steelyard.analysis.readings import _change

    row = {"kind": "outcome", "expected": "[1]", "got": "open("}
    assert _change(row) == "[1] → open("


@pytest.mark.parametrize(
    ("arms", "error"), [(("old", "nw"), UnknownNameError), (("old", "old"), InputError)]
)
def test_arms_that_cannot_be_compared(small_study, arms, error):
    with pytest.raises(error):
        equivalence_readings(walks.study(small_study), *arms)


def test_the_parity_study(tables):
    readings = equivalence_readings(tables("plumbline_parity"), "plan_execute", "react")
    questions = readings.questions
    expected = {"outcome": (336, 354), "path": (76, 354), "argument": (65, 76)}
    expected["incumbent_self_consistency"] = (372, 384)
    for question, pair in expected.items():
        assert counts(questions, reading=AS_PUBLISHED, question=question) == pair
    assert counts(questions, reading=TOOK_EFFECT, question="path") == (285, 354)
    assert counts(questions, reading=TOOK_EFFECT, question="argument") == (285, 285)
    found = readings.divergences
    published = found[found["reading"] == AS_PUBLISHED]
    assert len(published) == 13
    assert list(published["count"]) == list(published["published"])
    assert published["published"].sum() == 324
    assert f"{readings.bounds['plumbline_bound'][0]:.4f}" == "0.5666"
