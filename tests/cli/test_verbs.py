"""The verbs hand their options to the analyses and print what these return."""

from __future__ import annotations

import math

import pytest

from steelyard.analysis import certify, compare, rates
from steelyard.cli.output import rows


def row_of(rows_, **where):
    found = [row for row in rows_ if all(row[key] == value for key, value in where.items())]
    assert len(found) == 1, where
    return found[0]


class TestRates:
    def test_the_published_rate_of_the_free_form_agent(self, cli):
        printed = cli("rates", "plumbline_retry", "--json").json["rows"]
        row = row_of(printed, arm="react", perturbation="tool_fault")
        assert (row["successes"], row["total"]) == (55, 56)
        assert (row["intended"], row["excluded"]) == (64, 8)

    def test_is_what_the_function_returns(self, cli, tables):
        done = cli("rates", "plumbline_retry", "--missing", "fail", "--confidence", "0.9", "--json")
        frame = rates(tables("plumbline_retry"), missing="fail", confidence=0.9)
        assert done.json["rows"] == rows(frame)

    def test_filters_and_groups(self, cli):
        done = cli(
            "rates", "plumbline_retry", "--arm", "react", "--task", "INV-7002", "--task",
            "INV-7003", "--variant", "0", "--repeat", "1", "--by", "task", "--json",
        )  # fmt: skip
        assert [row["task"] for row in done.json["rows"]] == ["INV-7002", "INV-7003"]

    def test_one_group(self, cli):
        done = cli("rates", "tau_bench_airline", "--by", "none", "--json")
        assert [(row["successes"], row["total"]) for row in done.json["rows"]] == [(84, 200)]

    def test_level_heads_its_columns(self, cli):
        heading = cli("rates", "tau_bench_airline", "--confidence", "0.9").out.splitlines()[0]
        assert heading.split() == ["90%", "90%"]


class TestCompare:
    ARMS = ("plumbline_parity:plan_execute", "react")

    def test_the_published_comparison(self, cli, tables):
        done = cli("compare", "plumbline_retry", *self.ARMS, "--json")
        frame = compare(tables("plumbline_retry"), *self.ARMS)
        assert done.json["rows"] == rows(frame)
        row = row_of(done.json["rows"], stratum="tool_fault")
        assert (row["reference_successes"], row["reference_total"]) == (52, 64)
        assert (row["candidate_successes"], row["candidate_total"]) == (55, 56)

    def test_declared_comparisons_keep_their_names_and_margins(self, cli, tables):
        declared = tables("plumbline_retry").design.comparisons
        done = cli("compare", "plumbline_retry", "--json")
        assert {row["comparison"] for row in done.json["rows"]} == {c.name for c in declared}
        margins = {row["comparison"]: row["margin"] for row in done.json["rows"]}
        assert margins == {c.name: c.margin for c in declared}

    def test_a_margin_that_is_given_wins(self, cli):
        done = cli("compare", "plumbline_retry", "--margin", "0.2", "--json")
        assert {row["margin"] for row in done.json["rows"]} == {0.2}

    def test_verdict_says_for_which_margin(self, cli):
        text = cli("compare", "plumbline_retry", *self.ARMS, "--margin", "0.05").out
        assert "Verdict for a margin of 5 points." in text


def test_certify_takes_all_arms_or_those_named(cli, tables):
    every = cli("certify", "plumbline_determinism", "--json").json["rows"]
    assert [row["arm"] for row in every] == list(tables("plumbline_determinism").design.design.arms)
    one = cli("certify", "plumbline_determinism", "guarded", "--json").json["rows"]
    expected = certify(tables("plumbline_determinism"), "guarded")
    assert [row["bound"] for row in one] == [expected.bound]


def test_manipulation_finds_the_fault_that_never_came(cli):
    printed = cli("manipulation", "plumbline_parity", "--json").json["rows"]
    row = row_of(printed, arm="react", perturbation="tool_fault")
    assert (row["recorded"], row["applied"]) == (56, 0)


def test_reliability_reproduces_the_published_curve(cli):
    printed = cli("reliability", "tau_bench_airline", "--json").json["rows"]
    curve = [round(row["pass_hat_k"], 3) for row in printed]
    assert curve == [0.420, 0.273, 0.220, 0.200]
    short = cli("reliability", "tau_bench_airline", "--k-max", "2", "--json").json["rows"]
    assert len(short) == 2


def test_audit_counts_verdicts_and_shows_queries_on_request(cli):
    assert "fail" in cli("audit", "plumbline_parity").out
    assert "SELECT" not in cli("audit", "plumbline_parity").out
    assert "SELECT" in cli("audit", "plumbline_parity", "--queries").out


def test_studies_lists_every_study_with_its_trials(cli):
    printed = cli("studies", "--json").json["rows"]
    assert row_of(printed, study="plumbline_parity")["missing"] == 30
    assert row_of(printed, study="tau_bench_airline")["trials"] == 200


class TestSql:
    def test_over_all_studies_or_one(self, cli):
        query = "SELECT count(*) AS n FROM trials"
        assert cli("sql", query, "--json").json["rows"][0]["n"] > 20_000
        one = cli("sql", query, "--study", "mle_bench_famou", "--json")
        assert one.json["rows"] == [{"n": 225}]

    def test_nan_and_infinity(self, cli):
        done = cli("sql", "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, NULL AS c", "--json")
        assert done.json["rows"] == [{"a": None, "b": None, "c": None}]

    @pytest.mark.parametrize(
        ("query", "says"),
        [
            ("SELEC 1", "syntax error"),
            ("SELECT nothing FROM trials", "nothing"),
            ("SELECT 1; SELECT 2", "one SELECT"),
            ("", "one SELECT"),
            ("DELETE FROM trials", "DELETE"),
            ("SET threads = 8", "SET"),
            ("ATTACH 'other.duckdb'", "ATTACH"),
            ("COPY trials TO 'trials.csv'", "COPY"),
            ("SELECT * FROM read_text('/etc/hostname')", "reads the tables and no file"),
            ("SELECT * FROM 'trials.csv'", "reads the tables and no file"),
            ("SELECT * FROM glob('/*')", "reads the tables and no file"),
        ],
    )
    def test_anything_but_a_query_is_refused(self, cli, tmp_path, monkeypatch, query, says):
        monkeypatch.chdir(tmp_path)
        done = cli("sql", query)
        assert done.code == 2
        assert says in done.err
        assert len(done.err.splitlines()) == 1
        assert list(tmp_path.iterdir()) == []


def test_data_verify_lists_the_evidence(program, root):
    done = program("data", "verify", "--root", root)
    assert done.code == 0
    assert "files are what the manifest says" in done.out
    files = program("data", "verify", "--root", root, "--json").json["rows"]
    assert all(math.isfinite(row["bytes"]) and len(row["sha256"]) == 64 for row in files)


def test_version(program):
    assert program("--version").out == "steelyard 0.1.0\n"


def test_no_verb_is_help(program):
    done = program()
    assert "reproduce" in done.out + done.err
