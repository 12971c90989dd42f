import pytest

from steelyard.errors import StudyError, UnknownNameError
from steelyard.report.content_figures import short_names


def test_a_study_with_perturbations_has_what_they_need(later):
    assert list(later.tables) == [
        "trials",
        "rates",
        "missing_policies",
        "manipulation",
        "applied",
        "comparisons",
        "certificates",
        "repeats",
    ]
    assert [d.name for d in later.drawings] == ["rates", "manipulation", "differences"]


def test_a_study_of_one_condition_has_what_it_needs(solo):
    assert list(solo.tables) == ["trials", "rates", "reliability", "spread", "repeats"]
    assert [d.name for d in solo.drawings] == ["rates", "reliability", "spread"]
    assert list(solo.tables["spread"].frame["group"]) == ["easy", "hard", "all"]


def test_arms_of_other_studies_stand_first_and_keep_their_study(later):
    rates = later.tables["rates"].frame
    fault = rates[(rates["perturbation"] == "fault") & (rates["measure"] == "success")]
    assert list(fault["arm"]) == ["earlier:a", "a", "b"]
    assert later.row("manipulation", arm="earlier:a", perturbation="fault")["applied"] == 3
    assert later.row("manipulation", arm="earlier:b", perturbation="fault")["applied"] == 0
    assert later.row("manipulation", arm="b", perturbation="fault")["recorded"] == 0


def test_the_baseline_needs_no_manipulation(later):
    assert set(later.tables["manipulation"].frame["perturbation"]) == {"fault"}
    (view,) = later.tables["manipulation"].views
    assert set(view.frame["arm"]) == {"earlier:a", "earlier:b"}


def test_a_graded_measure_is_not_shown_as_a_rate(later):
    assert set(later.tables["rates"].frame["measure"]) == {"success"}


def test_comparisons_come_with_bounds_and_as_applied(later):
    frame = later.tables["comparisons"].frame
    readings = {tuple(row) for row in frame[["missing_policy", "case", "population"]].to_numpy()}
    assert readings == {
        ("exclude", "observed", "assigned"),
        ("bounds", "worst", "assigned"),
        ("bounds", "best", "assigned"),
        ("exclude", "observed", "applied"),
    }
    main = later.tables["comparisons"].views[0].frame
    assert set(main["case"]) == {"observed"}
    assert set(main["population"]) == {"assigned"}


def test_no_missing_trial_no_table_of_policies(solo):
    assert "missing_policies" not in solo.tables


def test_a_sentence_gets_exactly_one_row(later):
    assert later.claim("c1")["total"] == 6
    with pytest.raises(StudyError, match="0 rows with study='later', claim='c9'"):
        later.claim("c9")
    with pytest.raises(StudyError, match=r"rates: 2 rows with arm='b'; need one"):
        later.row("rates", arm="b")
    with pytest.raises(UnknownNameError, match="unknown table 'rate' in the report of later"):
        later.row("rate")
    with pytest.raises(UnknownNameError, match="unknown column 'amr'"):
        later.row("rates", amr="b")


def test_counts(later):
    assert later.pin_counts == {
        "reproduced": 1,
        "disputed": 1,
        "not determinable": 1,
        "failed": 1,
    }
    assert sum(later.verdict_counts.values()) == len(later.audit)


def test_short_names_drop_what_two_studies_share(later):
    design = later.design.model_copy(
        update={"study": later.design.study.model_copy(update={"id": "plumbline_retry"})}
    )
    assert short_names(design, ["plumbline_parity:react", "tau_bench:x", "react"]) == {
        "plumbline_parity:react": "parity:react",
        "tau_bench:x": "tau_bench:x",
    }
