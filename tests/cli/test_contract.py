"""``steelyard contract`` beyond the vectors: outputs, hooks, samples and what errors may say."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import sys

import duckdb
import pytest

from contract_policies import numbered, passing

HOOK = """
from steelyard.evaluators.contract import evaluate

def clean(policy, response):
    return evaluate(policy, response)

def drifts(policy, response):
    result = evaluate(policy, response)
    if policy["rules"][0]["rule_id"] == "r1":
        result["rule_results"][0]["reason_code"] = "FIRST"
    return result

def fails(policy, response):
    raise ValueError("s3cret")

number = 5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory: a policy of three rules, one of nine, responses and hooks."""
    monkeypatch.chdir(tmp_path)
    for name, document in {
        "p.json": numbered(3),
        "nine.json": numbered(9),
        "r.json": passing(9),
        "bad.json": {"r0": "s3cret"},
    }.items():
        (tmp_path / name).write_text(json.dumps(document))
    (tmp_path / "hooks.py").write_text(HOOK)
    (tmp_path / "broken.py").write_text("import s3cret\n")
    (tmp_path / "ends.py").write_text("import os\nos._exit(7)\n")
    return tmp_path


@pytest.fixture
def contract(program, folder):
    return lambda *arguments: program("contract", *arguments)


def error(outcome):
    """Return the code of an error, having checked how it is reported."""
    assert outcome.code == 2
    assert outcome.out == ""
    document = json.loads(outcome.err)
    pretty = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False)
    assert outcome.err == pretty + "\n"  # the format of results
    return document["error"]["code"]


class TestErrors:
    @pytest.mark.parametrize(
        "arguments",
        [
            (),
            ("s3cret",),
            ("--s3cret", "validate", "p.json"),
            ("validate", "--s3cret", "p.json"),
            ("validate",),
            ("validate", "p.json", "s3cret"),
            ("validate", "p.json", "--output"),
            ("evaluate", "p.json", "bad.json", "--output", "--strict-exit"),
            ("evaluate", "p.json", "bad.json", "--output", "--s3cret"),
            ("validate", "--output", "--", "p.json"),
            ("check-order", "p.json", "r.json", "--hook", "--strict-exit"),
            ("evaluate", "p.json", "r.json", "--strict"),
            ("check-order", "p.json", "r.json", "--sample", "s3cret"),
            ("check-order", "p.json", "r.json", "--sample", "0"),
            ("check-order", "p.json", "r.json", "--seed", "-1"),
            ("check-order", "p.json", "r.json", "--bound", "1"),
            ("check-order", "p.json", "r.json", "--bound", "nan"),
            ("check-order", "p.json", "r.json", "--confidence", "0.5"),
            ("check-order", "p.json", "r.json", "--timeout", "0"),
            ("check-order", "p.json", "r.json", "--interleave", "--sample", "9"),
            ("check-order", "p.json", "r.json", "--runs", "x.duckdb"),
            ("check-order", "p.json", "r.json", "--sample", "9", "--runs", "r.json"),
            ("check-order", "p.json", "r.json", "--swaps-per-pair", "2"),
            ("check-order", "p.json", "r.json", "--repeats", "3"),
            ("check-order", "p.json", "r.json", "--seed", "0"),
            ("check-order", "p.json", "r.json", "--confidence", "0.95"),
            ("check-order", "p.json", "r.json", "--hook", "s3cret"),
            ("check-order", "p.json", "r.json", "--hook", "a:b", "--hook-command", "s3cret"),
            ("check-order", "p.json", "r.json", "--hook-command", "'s3cret"),
            ("check-order", "p.json", "r.json", "--hook-command", " "),
            ("check-order", "p.json", "r.json", "--hook-command", "./s3cret --x"),
            ("check-order", "p.json", "r.json", "--hook-command", "./p.json"),  # not executable
            ("check-order", "p.json", "r.json", "--hook", "s3cret:f"),
            ("check-order", "p.json", "r.json", "--hook", "hooks:s3cret"),
            ("check-order", "p.json", "r.json", "--hook", "hooks:number"),
            ("check-order", "absent", "absent", "--hook", "broken:f", "--interleave"),
        ],
    )
    def test_usage_is_refused_without_repeating_it(self, contract, arguments):
        outcome = contract(*arguments)
        assert error(outcome) == "INVALID_COMMAND"
        assert "s3cret" not in outcome.err

    def test_the_message_is_json_in_utf8(self, contract, folder):
        (folder / "p.json").write_text('{"schema_version": "1.0", "policy_id": "p", "é": 1}')
        outcome = contract("validate", "p.json")
        assert error(outcome) == "INVALID_POLICY"
        assert "'é'" in outcome.err

    @pytest.mark.parametrize("text", ["{", "\ufeff{}", None])
    def test_the_message_says_which_document_cannot_be_read(self, contract, folder, text):
        if text is not None:
            (folder / "s3cret").write_text(text)
        for arguments, role in [
            (("s3cret", "r.json"), "policy"),
            (("p.json", "s3cret"), "response"),
        ]:
            outcome = contract("evaluate", *arguments)
            assert error(outcome) == "INVALID_JSON_INPUT"
            assert json.loads(outcome.err)["error"]["message"].startswith(f"{role}: ")
            assert "s3cret" not in outcome.err

    def test_help_is_plain_text(self, contract):
        outcome = contract("check-order", "--help")
        assert (outcome.code, outcome.err) == (0, "")
        assert "--hook-command" in outcome.out


class TestOutput:
    @pytest.mark.parametrize(
        "name", ["-", "", " ", "\t", "\u200b", "sub/ ", "p.json", "./p.json", "link", "hard"]
    )
    def test_a_destination_that_is_none_is_refused_before_anything_is_read(
        self, contract, folder, name
    ):
        (folder / "link").symlink_to("p.json")
        (folder / "hard").hardlink_to(folder / "p.json")
        before = (folder / "p.json").read_bytes()
        assert error(contract("validate", "p.json", "--output", name)) == "INVALID_COMMAND"
        assert (
            error(contract("evaluate", "absent", "p.json", "--output", name)) == "INVALID_COMMAND"
        )
        assert (folder / "p.json").read_bytes() == before

    def test_a_name_that_begins_with_a_dash_is_given_with_an_equals_sign(self, contract, folder):
        assert contract("validate", "p.json", "--output=--strict-exit").code == 0
        assert (folder / "--strict-exit").is_file()
        (folder / "-p").write_text((folder / "p.json").read_text())
        assert contract("validate", "--", "-p").json["valid"] is True

    def test_an_absent_input_is_one_file_with_itself(self, contract):
        assert error(contract("validate", "absent", "--output", "./absent")) == "INVALID_COMMAND"

    def test_every_verb_writes_and_the_exit_code_follows_the_result(self, contract, folder):
        for arguments, code, about in [
            (("validate", "p.json"), 0, {}),
            (("evaluate", "p.json", "bad.json", "--strict-exit"), 1, {}),
            (("check-order", "p.json", "bad.json", "--strict-exit"), 0, {}),
            (("synthesize", "p.json"), 0, {"policy_id": "p"}),
        ]:
            printed = contract(*arguments)
            outcome = contract(*arguments, "--output", "new/folder/out.json")
            assert outcome.json == {"output_written": True, **about}
            assert outcome.code == printed.code == code
            assert (folder / "new/folder/out.json").read_text() == printed.out
            assert os.listdir(folder / "new/folder") == ["out.json"]  # noqa: PTH208

    def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(self, contract, folder):
        contract("validate", "p.json", "--output", "out.json")
        target = folder / "out.json"
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        target.chmod(0o644)
        (folder / "link").symlink_to("out.json")
        contract("evaluate", "p.json", "r.json", "--output", "link")
        assert stat.S_IMODE(target.stat().st_mode) == 0o644
        assert (folder / "link").is_symlink()
        assert json.loads(target.read_text())["passed"] is True

    @pytest.mark.parametrize("name", ["sub", "p.json/x", "pipe"])
    def test_what_cannot_be_replaced_is_left(self, contract, folder, name):
        (folder / "sub").mkdir()
        os.mkfifo(folder / "pipe")
        before = sorted(folder.rglob("*"))
        outcome = contract("evaluate", "p.json", "r.json", "--output", name)
        assert error(outcome) == "JSON_OUTPUT_ERROR"
        assert sorted(folder.rglob("*")) == before

    def test_a_failed_verb_leaves_the_old_file(self, contract, folder):
        (folder / "out.json").write_text("old")
        assert error(contract("evaluate", "p.json", "absent", "--output", "out.json"))
        assert (folder / "out.json").read_text() == "old"


class Full:
    """A stream of a full disk."""

    def __init__(self):
        self.buffer = self

    def flush(self):
        pass

    def write(self, _content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestStreams:
    def test_a_closed_standard_input_cannot_be_read(self, contract, monkeypatch):
        monkeypatch.setattr(sys, "stdin", None)
        outcome = contract("validate", "-")
        assert error(outcome) == "INVALID_JSON_INPUT"
        assert "standard input is closed" in outcome.err

    @pytest.mark.parametrize("stream", [None, Full()])
    def test_a_standard_output_that_takes_nothing_is_an_error(self, contract, monkeypatch, stream):
        monkeypatch.setattr(sys, "stdout", stream)
        assert error(contract("evaluate", "p.json", "r.json")) == "JSON_OUTPUT_ERROR"

    @pytest.mark.parametrize("stream", [None, Full()])
    def test_without_standard_error_the_exit_code_remains(self, contract, monkeypatch, stream):
        monkeypatch.setattr(sys, "stderr", stream)
        assert contract("validate", "absent").code == 2


def test_standard_input(contract, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"r0": false}')))
    outcome = contract("evaluate", "p.json", "-")
    assert [row["passed"] for row in outcome.json["rule_results"]] == [True, False, False]


class TestCheckOrder:
    @pytest.mark.parametrize(
        ("options", "code"),
        [
            (("--bound", "1e-300"), "INVALID_DATA"),
            (("--bound", "5e-324"), "INVALID_DATA"),
            (("--sample", "9" * 30), "INVALID_DATA"),
            (("--interleave", "--repeats", "99999999999"), "ORDER_CHECK_TOO_LARGE"),
            (("--sample", "5", "--repeats", "99999999999"), "ORDER_CHECK_TOO_LARGE"),
        ],
    )
    def test_numbers_beyond_every_check_are_refused_at_once(self, contract, options, code):
        outcome = contract("check-order", "p.json", "r.json", *options)
        assert error(outcome) == code
        assert len(outcome.err) < 400

    def test_a_timeout_may_be_longer_than_any_wait(self, contract):
        outcome = contract(
            "check-order", "p.json", "r.json", "--hook", "hooks:clean", "--timeout", "1e300"
        )
        assert outcome.json["conforms_within_coverage"] is True

    def test_a_hook_that_drifts_is_found(self, contract):
        outcome = contract(
            "check-order", "p.json", "r.json", "--hook", "hooks:drifts", "--strict-exit"
        )
        assert (outcome.code, outcome.json["status"]) == (1, "EVIDENCE_ORDER_DRIFT")

    def test_a_hook_that_fails_is_inconclusive(self, contract):
        for mode in ((), ("--interleave",), ("--sample", "5")):
            outcome = contract("check-order", "p.json", "r.json", "--hook", "hooks:fails", *mode)
            assert outcome.code == 0
            assert outcome.json["status"] == "INCONCLUSIVE_EVALUATOR_FAILURE"
            assert outcome.json["failure"]["reason"] == "it raised ValueError"
            assert "s3cret" not in outcome.out + outcome.err

    def test_a_hook_that_starts_and_ends_is_inconclusive(self, contract):
        outcome = contract("check-order", "p.json", "r.json", "--hook", "ends:f")
        assert (outcome.code, outcome.json["failure"]["kind"]) == (0, "crash")

    def test_a_command_is_a_hook_too(self, contract):
        outcome = contract("check-order", "p.json", "r.json", "--hook-command", "echo 'no json'")
        assert outcome.json["failure"]["kind"] == "garbage"

    def test_nine_rules_need_a_sample(self, contract):
        assert error(contract("check-order", "nine.json", "r.json")) == "ORDER_CHECK_TOO_LARGE"
        outcome = contract("check-order", "nine.json", "r.json", "--bound", "0.1", "--strict-exit")
        assert outcome.code == 0
        assert outcome.json["status"] == "NO_DRIFT_IN_SAMPLE"
        assert outcome.json["drift"]["high"] <= 0.1
        assert outcome.json["conforms_within_coverage"] is None

    def test_interleaved_repeats_name_the_cause(self, contract):
        outcome = contract(
            "check-order", "p.json", "r.json", "--hook", "hooks:drifts", "--interleave"
        )
        assert outcome.json["cause"]["name"] == "order"
        assert outcome.json["pairs"][0]["rule_a"] == "r0"

    def test_every_call_can_be_kept(self, contract, folder):
        outcome = contract(
            "check-order", "nine.json", "r.json", "--sample", "7", "--runs", "runs.duckdb"
        )
        with duckdb.connect(folder / "runs.duckdb", read_only=True) as tables:
            runs, rows = tables.execute(
                "SELECT count(*), sum(rules_reported) FROM order_runs"
            ).fetchone()
            (rules,) = tables.execute("SELECT count(*) FROM order_rule_runs").fetchone()
        assert runs == outcome.json["coverage"]["evaluator_calls"]
        assert rows == rules == 9 * runs

    def test_kept_calls_are_replaced_by_those_of_the_next_check(self, contract, folder):
        for sample in ("7", "5"):
            arguments = ("nine.json", "r.json", "--sample", sample, "--runs", "runs.duckdb")
            outcome = contract("check-order", *arguments)
            assert outcome.code == 0
        with duckdb.connect(folder / "runs.duckdb", read_only=True) as tables:
            (runs,) = tables.execute("SELECT count(*) FROM order_runs").fetchone()
        assert runs == outcome.json["coverage"]["evaluator_calls"]

    @pytest.mark.parametrize("name", ["notes.txt", "empty", "other.duckdb", "link", "sub"])
    def test_a_file_of_anything_else_is_not_overwritten(self, contract, folder, name):
        (folder / "notes.txt").write_text("mine")
        (folder / "empty").touch()
        (folder / "link").symlink_to("notes.txt")
        (folder / "sub").mkdir()
        with duckdb.connect(folder / "other.duckdb") as tables:
            tables.execute("CREATE TABLE order_runs AS SELECT 1 AS mine")
        files = [path for path in sorted(folder.iterdir()) if path.is_file()]
        before = [path.read_bytes() for path in files]
        outcome = contract("check-order", "p.json", "r.json", "--interleave", "--runs", name)
        assert error(outcome) == "JSON_OUTPUT_ERROR"
        assert name not in outcome.err
        assert [path.read_bytes() for path in files] == before
        assert not list(folder.glob("*.wal"))
