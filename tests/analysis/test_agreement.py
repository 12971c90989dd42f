"""Agreement of several arms, and risk against coverage."""

from __future__ import annotations

import math

import pytest

from analysis.audit_cases import SmallStudy
from steelyard.analysis.agreement import agreement
from steelyard.analysis.risk_coverage import risk_coverage
from steelyard.errors import InputError, UnknownNameError


def answers(table: dict[str, dict[str, str]]) -> list[dict[str, object]]:
    """Return trials from ``{arm: {task: answer}}``."""
    return [
        {"arm": arm, "task": task, "success": 1, "covariates": {"directive": answer}}
        for arm, given in table.items()
        for task, answer in given.items()
    ]


def test_alpha_of_krippendorffs_nominal_example(small_study: SmallStudy) -> None:
    # Krippendorff (2011), section C: four observers, twelve units, values missing; alpha 0.743.
    observers = {
        "a": "1 2 3 3 2 1 4 1 2 . . .",
        "b": "1 2 3 3 2 2 4 1 2 5 . 3",
        "c": ". 3 3 3 2 3 4 2 2 5 1 .",
        "d": "1 2 3 3 2 4 4 1 2 5 1 .",
    }
    table = {
        arm: {f"u{n:02d}": value for n, value in enumerate(text.split()) if value != "."}
        for arm, text in observers.items()
    }
    row = agreement(small_study(answers(table)), "directive", n_resamples=50).iloc[0]
    assert row["alpha"] == pytest.approx(0.743, abs=5e-4)
    assert (row["arms"], row["cases"], row["n_clusters"]) == (4, 11, 11)
    assert row["low"] <= row["alpha"] <= row["high"]


def test_one_answer_everywhere_has_no_alpha(small_study: SmallStudy) -> None:
    tables = small_study(answers({"a": {"t": "x", "u": "x"}, "b": {"t": "x", "u": "x"}}))
    row = agreement(tables, "directive").iloc[0]
    assert math.isnan(row["alpha"])
    assert (row["unanimous"], row["cases"]) == (2, 2)


def test_strata_and_names_are_checked(small_study: SmallStudy) -> None:
    tables = small_study(answers({"a": {"t": "x", "u": "y"}, "b": {"t": "y", "u": "y"}}))
    assert list(agreement(tables, "directive", by="task", n_resamples=5)["task"]) == ["t", "u"]
    with pytest.raises(UnknownNameError, match="verdict"):
        agreement(tables, "verdict")
    with pytest.raises(InputError, match="at least two arms"):
        agreement(tables, "directive", arms=["a"])


def doubts(rows: list[tuple[str, float, int]]) -> list[dict[str, object]]:
    return [
        {"task": task, "variant": str(number), "doubt": doubt, "harm": harm, "ok": int(number != 3)}
        for number, (task, doubt, harm) in enumerate(rows)
    ]


ROWS = [("t", 0.1, 0), ("t", 0.2, 0), ("u", 0.2, 1), ("u", 0.3, 0), ("v", 0.5, 1)]


def test_each_threshold_is_one_point(small_study: SmallStudy) -> None:
    tables = small_study(doubts(ROWS), measures={"primary": "harm", "others": ["doubt", "ok"]})
    found = risk_coverage(tables, "doubt", "harm", arm="a", n_resamples=200)
    assert list(found["threshold"][1:]) == [0.1, 0.2, 0.3, 0.5]
    assert list(found["acted"]) == [0, 1, 3, 4, 5]
    assert list(found["harmful"]) == [0, 0, 1, 1, 2]
    assert math.isnan(found["risk"][0])
    assert found["risk"][2] == pytest.approx(1 / 3)
    assert found["harm_rate"][2] == 0.5
    assert (found["coverage"].diff().dropna() > 0).all()
    middle = found.iloc[2]
    assert middle["coverage_clustered_low"] <= middle["coverage"]


def test_a_case_that_is_not_allowed_is_never_acted_on(small_study: SmallStudy) -> None:
    tables = small_study(doubts(ROWS), measures={"primary": "harm", "others": ["doubt", "ok"]})
    found = risk_coverage(tables, "doubt", "harm", arm="a", allowed="ok", n_resamples=50)
    assert list(found["threshold"][1:]) == [0.1, 0.2, 0.5]
    assert found["acted"].max() == 4
    assert set(found["cases"]) == {5}


def test_confidence_runs_the_other_way(small_study: SmallStudy) -> None:
    tables = small_study(doubts(ROWS), measures={"primary": "harm", "others": ["doubt", "ok"]})
    found = risk_coverage(tables, "doubt", "harm", arm="a", act_when="at_least", n_resamples=50)
    assert list(found["threshold"][1:]) == [0.5, 0.3, 0.2, 0.1]
    with pytest.raises(InputError, match="act_when is 'above'"):
        risk_coverage(tables, "doubt", "harm", arm="a", act_when="above")  # type: ignore[arg-type]


def test_answers_may_stand_in_the_final_output(small_study: SmallStudy) -> None:
    rows = [
        {
            "arm": arm,
            "task": task,
            "success": 1,
            "steps": [{"kind": "final", "name": "decide", "output": {"directive": answer}}],
        }
        for arm, answers in {"a": "xy", "b": "xx"}.items()
        for task, answer in zip("tu", answers, strict=True)
    ]
    tables = small_study(rows)
    row = agreement(tables, "directive", source="final", n_resamples=20).iloc[0]
    assert (row["cases"], row["unanimous"]) == (2, 1)
    with pytest.raises(InputError, match="no final output has the member 'verdict'"):
        agreement(tables, "verdict", source="final")
    with pytest.raises(InputError, match="source is 'steps'"):
        agreement(tables, "directive", source="steps")  # type: ignore[arg-type]


def test_answers_of_other_kinds_are_other_answers(small_study: SmallStudy) -> None:
    def final(arm: str, answers: list[object]) -> list[dict[str, object]]:
        return [
            {
                "arm": arm,
                "task": f"t{place}",
                "success": 1,
                "steps": [{"kind": "final", "name": "decide", "output": {"é": answer}}],
            }
            for place, answer in enumerate(answers)
        ]

    tables = small_study(
        final("a", [0, False, "false", 1, 2, [{"x": 1}]])
        + final("b", ["0", "false", False, 1.0, 2, [{"x": 1.0}]])
    )
    row = agreement(tables, "é", source="final", n_resamples=5).iloc[0]
    assert (row["cases"], row["unanimous"]) == (6, 3)


def test_resamples_that_say_nothing_give_no_limits(small_study: SmallStudy) -> None:
    same = {"t": "x", "u": "y"}
    tables = small_study(answers({"a": same, "b": same}))
    for seed in range(6):  # the only resample has one answer or is as unanimous as the whole
        row = agreement(tables, "directive", n_resamples=1, seed=seed).iloc[0]
        assert row["alpha"] == 1
        assert math.isnan(row["low"])
        assert math.isnan(row["high"])


@pytest.mark.parametrize(("option", "value"), [("n_resamples", 0), ("seed", -1)])
def test_options_are_checked_where_nothing_is_resampled(
    small_study: SmallStudy, option: str, value: int
) -> None:
    tables = small_study(doubts([("t", 0.1, 0)]) + answers({"a": {"t": "x"}, "b": {"t": "x"}}))
    for ask in (
        lambda **more: agreement(tables, "directive", **more),
        lambda **more: risk_coverage(tables, "doubt", "harm", arm="a", **more),
    ):
        with pytest.raises(InputError, match=option):
            ask(**{option: value})


def test_a_score_without_a_place_is_refused(small_study: SmallStudy) -> None:
    tables = small_study(doubts([("t", float("inf"), 0), ("u", 0.1, 1)]))
    with pytest.raises(InputError, match="is inf; accepted: finite"):
        risk_coverage(tables, "doubt", "harm", arm="a")
