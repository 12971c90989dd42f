"""``steelyard decide``."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate_contexts import action, permission, refund, rule

CASE = {"context": refund(), "allowed_tools": ["refund"]}
BLOCKED = refund(policy_rules=[permission(), rule("cap", "fact.amount > 5")])


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Return a function that writes documents, one a line, and gives the file's name."""

    def write(*documents: Any, name: str = "case.json") -> str:
        path = tmp_path / name
        texts = [d if isinstance(d, str) else json.dumps(d) for d in documents]
        path.write_text("\n".join(texts), encoding="utf-8")
        return str(path)

    return write


def test_an_envelope_is_printed(program: Any, written: Any) -> None:
    done = program("decide", written(CASE))
    assert (done.code, done.err) == (0, "")
    assert (done.json["directive"], done.json["allowed_tools"]) == ("execute", ["refund"])


def test_tools_may_be_allowed_by_option(program: Any, written: Any) -> None:
    file = written(refund())
    assert program("decide", file).json["directive"] == "escalate"
    assert program("decide", file, "--allow", "refund").json["directive"] == "execute"
    assert program("decide", file, "--allow", "lookup").json["directive"] == "refuse"
    kept = program("decide", written(CASE), "--allow", "lookup").json
    assert kept["directive"] == "execute"  # the case's own list comes first


def test_a_refusal_is_no_error(program: Any, written: Any) -> None:
    done = program("decide", written({**CASE, "context": BLOCKED}))
    assert (done.code, done.json["directive"]) == (0, "refuse")


def test_a_decision_is_explained_or_shown_whole(program: Any, written: Any) -> None:
    file = written(CASE)
    assert program("decide", file, "--explain").out.startswith("EXECUTE  Refund order nine\n")
    graph = program("decide", file, "--graph").json
    assert graph["evaluators"]["policy"]["verdict"] == "approve"
    assert graph["disposition"] == "consensus"


def test_a_batch_gives_one_line_a_case(program: Any, written: Any) -> None:
    over = {"statement": "s", "action": action(name="transfer")}
    file = written(
        {"case": "good", **CASE},
        BLOCKED,
        {"case": "over", **CASE, "proposal": over},
        name="c.jsonl",
    )
    done = program("decide", file)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [(row["case"], row["status"]) for row in rows] == [
        ("good", "ok"),
        ("2", "ok"),
        ("over", "error"),
    ]
    assert [row.get("directive") for row in rows] == ["execute", "refuse", None]
    told = program("decide", file, "--explain").out
    assert "Case good\nEXECUTE" in told
    assert "not decided: proposal: the action 'transfer' is not allowed" in told


def test_standard_input(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO(b"\xef\xbb\xbf" + json.dumps(CASE).encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=raw))
    assert program("decide", "-").json["directive"] == "execute"
    raw = io.BytesIO("\n".join(json.dumps(CASE) for _ in range(2)).encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=raw))
    assert len(program("decide", "-", "--lines").out.splitlines()) == 2


def test_thresholds_and_the_published_behaviour(program: Any, written: Any) -> None:
    unpermitted = written({**CASE, "context": refund(policy_rules=[rule("c", "fact.amount > 50")])})
    assert program("decide", unpermitted).json["directive"] == "escalate"
    assert program("decide", unpermitted, "--published").json["directive"] == "execute"
    strict = program("decide", written(CASE), "--set", "u_insufficient=0.01")
    assert strict.json["directive"] == "gather"


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        (["{"], (), "case.json:1:2"),
        ([{"query": 5}], (), "query: accepted is text"),
        ([{**CASE, "tools": []}], (), "unknown field 'tools'"),
        ([CASE], ("--explain", "--graph"), "exclude each other"),
        ([CASE], ("--now", "yesterday"), "ISO 8601"),
        ([CASE], ("--now", "2026-12-01T00:00:00"), "time zone"),
        ([CASE], ("--now", "2026-12-01"), "time zone: 2026-12-01T00:00:00Z is UTC"),
        ([""], ("--lines",), "case.json: there is no case in it"),
        (["", " "], ("--lines", "--explain"), "no case"),
        ([CASE], ("--set", "tau=1"), "NAME=VALUE"),
        ([CASE], ("--set", "tau_base=9"), "tau_base is 9; accepted is 0 to 1"),
        (["\udcff"], (), "UTF-8"),
    ],
)
def test_bad_input_is_one_line(
    program: Any, tmp_path: Path, documents: list[Any], options: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "case.json"
    texts = [d if isinstance(d, str) else json.dumps(d) for d in documents]
    path.write_bytes("\n".join(texts).encode("utf-8", "surrogateescape"))
    done = program("decide", path, *options)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_file_that_is_not_there(program: Any, tmp_path: Path) -> None:
    done = program("decide", tmp_path / "none.json")
    assert (done.code, done.out) == (2, "")
    assert "no such file" in done.err


def test_what_is_no_file_is_told_apart(program: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, reason in [
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "is not a regular file"),
        ("/dev/null", "is not a regular file"),
        (tmp_path / ("n" * 300), "cannot be read: File name too long"),
        (tmp_path / "none.jsonl", "there is no such file"),
    ]:
        done = program("decide", path)
        assert (done.code, done.out) == (2, "")
        assert reason in done.err
        assert done.err.count("\n") == 1


def test_the_time_that_a_message_suggests_is_accepted(program: Any, written: Any) -> None:
    file = written(CASE)
    refused = program("decide", file, "--now", "2026-12-01").err
    suggested = refused.partition("time zone: ")[2].split()[0]
    assert program("decide", file, "--now", suggested).code == 0


def test_nothing_is_printed_of_a_batch_with_a_bad_line(program: Any, written: Any) -> None:
    done = program("decide", written(CASE, "{", name="c.jsonl"))
    assert (done.code, done.out) == (2, "")
    assert "c.jsonl:2:" in done.err


def test_ages_are_measured_at_a_stated_time(program: Any, written: Any) -> None:
    items = [
        {"id": "e1", "content": "t", "source": "s", "retrieved_at": "2026-01-01T00:00:00Z"},
        {"id": "e2", "content": "t", "source": "s"},
    ]
    file = written({**CASE, "context": refund(evidence=items)})
    assert program("decide", file, "--graph").json["evidence_conflicts"] == []
    for now in ("2026-12-01T00:00:00Z", "clock"):
        found = program("decide", file, "--graph", "--now", now).json["evidence_conflicts"]
        assert [conflict["kind"] for conflict in found] == ["stale"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", "null"),
        ("[]", "a list"),
        ("true", "true or false"),
        ('"q"', "a text"),
        ("1.5", "a number"),
    ],
)
def test_what_is_no_object_is_named_as_json_names_it(
    program: Any, written: Any, text: str, kind: str
) -> None:
    done = program("decide", written(text))
    assert done.code == 2
    assert done.err.endswith(f"a context is an object, not {kind}\n")


def test_a_context_quoted_within_json_is_a_text(program: Any, written: Any) -> None:
    done = program("decide", written(json.dumps(json.dumps(refund()))))
    assert done.code == 2
    assert done.err.endswith("a context is an object, not a text\n")
