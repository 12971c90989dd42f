"""Arms of two studies beside each other."""

import pytest

from steelyard.analysis.comparison import compare
from steelyard.analysis.rates import rates
from steelyard.analysis.side_by_side import compare_pairs, side_by_side, stack_arms
from steelyard.errors import InputError, StudyError, UnknownNameError

DESIGN = {"arms": ["a", "b"], "perturbations": ["baseline", "fault"]}


def trials(perturbations, failing):
    return [
        {
            "arm": arm,
            "task": task,
            "perturbation": perturbation,
            "success": int((arm, task, perturbation) not in failing),
            "perturbation_applied": None if perturbation == "baseline" else arm == "a",
        }
        for arm in ("a", "b")
        for task in ("t1", "t2", "t3")
        for perturbation in perturbations
        for _ in range(2)
    ]


@pytest.fixture
def tables(small_study):
    earlier = small_study(trials(["fault"], {("a", "t1", "fault")}), study="earlier", design=DESIGN)
    later = trials(["baseline", "fault"], {("b", "t2", "fault"), ("b", "t3", "fault")})
    return small_study(later, study="later", design=DESIGN, beside=earlier)


def test_one_row_per_group_and_what_an_arm_lacks_is_missing(tables):
    found = side_by_side(
        tables,
        "rates",
        {"then": "earlier:a", "now": "b"},
        ["successes", "total"],
        parameters={"missing": "exclude"},
    )
    assert list(found.columns) == [
        "perturbation",
        "then_successes",
        "then_total",
        "now_successes",
        "now_total",
    ]
    assert found["perturbation"].tolist() == ["fault", "baseline"]
    assert found["now_successes"].tolist() == [2, 6]
    assert found["then_successes"].iloc[0] == 4
    assert found["then_total"].isna().tolist() == [False, True]


def test_any_question_that_takes_an_arm_can_be_asked(tables):
    found = side_by_side(
        tables, "manipulation", {"a": "a", "b": "b", "then": "earlier:b"}, ["applied", "recorded"]
    )
    fault = found[found["perturbation"].eq("fault")].iloc[0]
    assert (fault["a_applied"], fault["b_applied"], fault["then_applied"]) == (6, 0, 0)
    assert fault["then_recorded"] == 6


def test_rows_may_be_finer(tables):
    found = side_by_side(tables, "rates", {"x": "a"}, ["estimate"], by=["task", "perturbation"])
    own = rates(tables, by=["task", "perturbation"], arm="a")
    assert found["x_estimate"].tolist() == own["estimate"].tolist()


def test_one_arm_may_be_asked_in_several_ways(tables):
    arms = {
        "fault": {"arm": "b", "perturbation": "fault"},
        "baseline": {"arm": "b", "perturbation": "baseline"},
    }
    found = side_by_side(tables, "rates", arms, ["successes"], by="task")
    assert found["fault_successes"].tolist() == [2, 0, 0]
    assert found["baseline_successes"].tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ask": "rats"}, UnknownNameError, "unknown question 'rats'"),
        ({"arms": {"x": "c"}}, UnknownNameError, "unknown arm 'c'"),
        ({"arms": {"x": "erlier:a"}}, UnknownNameError, "unknown study 'erlier'"),
        ({"arms": {}}, InputError, "must not be empty"),
        ({"arms": {"x": {"measure": "success"}}}, InputError, "'x' names no arm"),
        ({"columns": ["succeses"]}, UnknownNameError, "unknown column 'succeses'"),
        ({"parameters": {"missing": "bounds"}}, InputError, "several rows for one of perturbation"),
        ({"ask": "certify"}, StudyError, "question 'certify' takes no 'by'; it filters by arm"),
        ({"ask": "compare"}, StudyError, "missing a required argument"),
    ],
)
def test_what_does_not_fit_is_refused(tables, change, error, message):
    asked = {"ask": "rates", "arms": {"x": "a"}, "columns": ["successes"]}
    asked |= change
    with pytest.raises(error, match=message):
        side_by_side(tables, asked.pop("ask"), asked.pop("arms"), **asked)


def test_arms_one_below_another_keep_their_names_and_groups(tables):
    arms = [
        {"group": "then", "label": "slow", "arm": "earlier:a"},
        {"group": "now", "label": "slow", "arm": "a"},
        {"group": "now", "label": "quick", "arm": "b"},
    ]
    found = stack_arms(tables, "rates", arms, parameters={"perturbation": "fault"})
    assert found[["group", "label"]].to_numpy().tolist() == [
        ["then", "slow"],
        ["now", "slow"],
        ["now", "quick"],
    ]
    assert found["arm"].tolist() == ["earlier:a", "a", "b"]
    assert found["successes"].tolist() == [4, 6, 2]
    with pytest.raises(InputError, match="an arm has arm, group, label; found"):
        stack_arms(tables, "rates", [{"arm": "a"}])
    with pytest.raises(InputError, match="must not be empty"):
        stack_arms(tables, "rates", [])


def test_pairs_are_compared_one_by_one(tables):
    pairs = [
        {"label": "then", "reference": "earlier:a", "candidate": "earlier:b"},
        {"label": "now", "reference": "a", "candidate": "b"},
    ]
    found = compare_pairs(tables, pairs, measure="success", perturbation="fault")
    assert found["pair"].tolist() == ["then", "now"]
    own = compare(tables, "a", "b", "success", perturbation="fault")
    assert found.iloc[1]["p_stratified"] == own.iloc[0]["p_stratified"]
    assert found["difference"].tolist() == pytest.approx([1 / 3, -2 / 3])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "there must be a pair"),
        ([{"label": "x", "reference": "a", "candidate": "b"}] * 2, "no two with one label"),
        ([{"label": "x", "reference": "a"}], "a pair has candidate, label, reference"),
    ],
)
def test_pairs_that_are_none_are_refused(tables, pairs, message):
    with pytest.raises(InputError, match=message):
        compare_pairs(tables, pairs)
