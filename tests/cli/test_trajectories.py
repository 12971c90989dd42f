"""show, diff, parity and attest on the parity study, whose steps are committed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steelyard.cli.completion import complete_trial

STUDY = ("--study", "plumbline_parity")
REACT = "react/INV-7002/tool_fault/0/0"
PLAN = "plan_execute/INV-7002/tool_fault/0/0"


def refused(done, *words):
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    for word in words:
        assert word in done.err


class TestShow:
    def test_steps_failure_state_and_outcome(self, cli):
        lines = cli("show", REACT, *STUDY).out.splitlines()
        assert lines[0] == f"plumbline_parity: {REACT}"
        assert lines[1] == "completed; perturbation applied: no"
        assert [line.split()[2] for line in lines if line.startswith("  1")] == [
            "match_purchase_order"
        ]
        assert any("failed: vendor Ashfield" in line for line in lines)
        assert "outcome_correct: 1" in lines

    def test_study_may_stand_before_the_trial(self, cli):
        assert cli("show", f"plumbline_parity:{REACT}").out == cli("show", REACT, *STUDY).out

    def test_json_holds_everything(self, cli):
        done = cli("show", REACT, *STUDY, "--json").json
        assert len(done["steps"]) == 7
        assert done["steps"][3]["error"]
        assert done["steps"][0]["arguments"] == '{"invoice_id":"INV-7002"}'
        assert done["state"]["paid"] is True
        assert done["perturbation_applied"] is False

    def test_trial_without_steps_or_result(self, cli):
        text = cli("show", "plumbline_retry:react/INV-7009/tool_fault/0/0").out
        assert "failed; error: " in text
        assert "perturbation applied: unknown" in text
        assert "steps of this study are not among the tables" in text
        assert "broken: must_call:check_duplicate (critical)" in text

    def test_trial_of_several_studies_needs_one(self, cli):
        refused(cli("show", REACT), "plumbline_parity, plumbline_retry", "--study")

    @pytest.mark.parametrize("arguments", [(), STUDY])
    def test_unknown_trial_offers_nearest(self, cli, arguments):
        refused(cli("show", "react/INV-7002/tool_fault/0/7", *arguments), f"'{REACT}'")

    def test_unknown_study(self, cli):
        refused(cli("show", REACT, "--study", "parity"), "unknown study 'parity'")


class TestDiff:
    def test_sides_stand_beside_each_other(self, cli):
        lines = cli("diff", PLAN, REACT, *STUDY).out.splitlines()
        marks = {line[0] for line in lines if line.strip()}
        assert {"-", "+", "~"} <= marks
        assert lines[-1] == "5 match, 1 substitute, 1 skipped, 1 extra."
        assert max(map(len, lines)) <= 100

    def test_json_is_the_edit_script(self, cli):
        rows = cli("diff", PLAN, REACT, *STUDY, "--json").json["rows"]
        assert [row["operation"] for row in rows if row["operation"] != "match"] == [
            "skipped",
            "extra",
            "substitute",
        ]

    def test_trial_with_itself(self, cli):
        text = cli("diff", REACT, REACT, *STUDY).out
        assert "7 match, 0 substitute, 0 skipped, 0 extra." in text

    def test_study_without_steps(self, cli):
        refused(cli("diff", REACT, PLAN, "--study", "plumbline_retry"), "holds no steps")

    def test_two_studies_need_steps_in_both(self, cli):
        names = (f"plumbline_parity:{REACT}", f"plumbline_retry:{REACT}")
        refused(cli("diff", *names), "plumbline_retry holds no steps")


class TestParity:
    ARMS = ("plumbline_parity", "plan_execute", "react")

    def test_published_figures(self, cli):
        done = cli("parity", *self.ARMS, "--published", "--json").json
        counts = {row["question"]: (row["successes"], row["total"]) for row in done["rows"]}
        assert counts == {
            "outcome": (336, 354),
            "path": (76, 354),
            "argument": (65, 76),
            "incumbent_self_consistency": (372, 384),
        }
        assert round(done["result"]["plumbline_bound"], 4) == 0.5666
        assert len(done["divergences"]) == 13

    def test_table_and_divergences(self, cli):
        text = cli("parity", *self.ARMS).out
        assert "336/354" in text
        assert "384 intended, 354 compared" in text
        assert "outcome     critical" in text
        assert max(map(len, text.splitlines())) <= 100

    def test_csv_is_one_table(self, cli):
        lines = cli("parity", *self.ARMS, "--csv").out.splitlines()
        assert len(lines) == 5
        assert lines[0].startswith("incumbent,replacement,question")

    def test_unknown_arm(self, cli):
        refused(cli("parity", "plumbline_parity", "plan_execute", "reakt"), "'react'")

    def test_study_without_steps(self, cli):
        refused(cli("parity", "plumbline_retry", "plan_execute", "react"), "holds no steps")


class TestAttest:
    def test_controls_with_deviations(self, cli):
        rows = cli("attest", "plumbline_parity", "react", "--json").json["rows"]
        by_control = {row["control"]: row for row in rows}
        assert by_control["P2P.03"]["deviations"] == 18
        assert by_control["P2P.03"]["verdict"] == "deficient"

    def test_table_says_how_many_were_tested(self, cli):
        text = cli("attest", "plumbline_parity", "react").out
        assert "18/354" in text
        assert "384 trials intended, 30 excluded" in text

    def test_study_without_controls(self, cli):
        refused(cli("attest", "tau_bench_airline", "tool-calling"), "declares no controls")


class TestConsensus:
    def test_names_step_event_and_what_came_instead(self, cli):
        arguments = ("consensus", "plumbline_parity", "--task", "INV-7002")
        rows = cli(*arguments, "--json").json["rows"]
        found = [
            (row["step"], row["name"], row["got"], row["count"], row["total"])
            for row in rows
            if row["event"] == "substitute" and row["count"]
        ]
        assert found == [(4, "schedule_payment", "flag_exception", 4, 8)]
        lines = cli(*arguments).out.splitlines()
        assert lines[0] == "INV-7002, plan_execute"
        assert any(line.split()[4:6] == ["flag_exception", "4/8"] for line in lines)
        assert max(map(len, lines)) <= 100

    def test_path_that_all_keep(self, cli):
        arguments = ("--task", "INV-7002", "--perturbation", "baseline")
        done = cli("consensus", "plumbline_parity", *arguments)
        assert done.code == 0
        assert "16 intended, 16 scored, 0 excluded" in done.out

    def test_study_without_steps(self, cli):
        refused(cli("consensus", "plumbline_retry"), "holds no steps")


class TestTrialCompletion:
    @pytest.fixture(autouse=True)
    def at_the_checkout(self, root, monkeypatch):
        monkeypatch.chdir(root)

    @pytest.mark.parametrize(
        ("typed", "offered"),
        [
            ("re", ["react/"]),
            ("react/INV-7002/t", ["react/INV-7002/tool_fault/"]),
            ("react/INV-7002/tool_fault/0/", [REACT, f"{REACT[:-1]}1"]),
            ("nobody/", []),
        ],
    )
    def test_one_part_at_a_time(self, typed, offered):
        context = SimpleNamespace(params={"study": "plumbline_parity"})
        assert complete_trial(context, typed) == offered

    def test_no_project_offers_nothing(self, tmp_path, monkeypatch):
        monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
        assert complete_trial(SimpleNamespace(params={}), "react/") == []
