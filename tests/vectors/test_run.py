"""The replay program itself: what passes, what fails, what is left out, what it prints."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import InputError
from vectors.compare import AtLeast, first_difference
from vectors.run import replay

SCRIPT = Path(__file__).with_name("run.py")


def write(folder: Path, cases: list[dict], name: str = "f.json", **document) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"system": "s", "version": "1", "cases": cases, **document}))
    return path


def case(expected, case_id="c1", **more) -> dict:
    return {"id": case_id, "function": "f", "input": {}, "expected": expected, **more}


def outcome(path: Path, answer) -> tuple[int, list[str]]:
    adapter = answer if callable(answer) else lambda _: answer
    result = replay([path], {("s", "f"): adapter, ("bound", "f"): adapter})
    return result.passed, result.failures


class TestComparison:
    @pytest.mark.parametrize(
        ("expected", "got"),
        [
            (1, 1.0),
            (10, np.float64(10)),
            ([1, 2], (1, 2)),
            ([1, 2], np.array([1, 2])),
            ({"$float": "nan"}, math.nan),
            ({"$float": "-inf"}, -math.inf),
            ({"$complex": [0, 1]}, 1j),
            ({"$set": ["b", "a"]}, {"a", "b"}),
            ({"$set": [["b"], ["a"]]}, [["a"], ["b"]]),
            ({"$set": []}, frozenset()),
            (None, None),
            (10**400, 10**400),
            ({"a": [{"b": 0.3}]}, {"a": [{"b": 0.1 + 0.2}]}),
            ({"a": {"b": 1}}, {"a": AtLeast(b=1, c=2)}),
            ({"a": False, "b": None, "raises": "E"}, {"a": False, "b": "class", "c": []}),
            ({"a": {"raises": "E"}}, {"a": {"success": False}}),
            ({"a": False, "raises": "E"}, {"a": False, "raises": "E"}),
        ],
    )
    def test_equal(self, expected, got):
        assert first_difference(expected, got, 1e-9) is None

    @pytest.mark.parametrize(
        ("expected", "got", "says"),
        [
            (1, True, "expected 1, got True"),
            (0, None, "expected 0, got None"),
            (None, math.nan, "expected None, got nan"),
            ({"$float": "nan"}, None, "expected nan"),
            ({"$float": "nan"}, 0.0, "expected nan, got 0.0"),
            ({"$float": "inf"}, -math.inf, "expected inf, got -inf"),
            (0.5, 0.5 + 1e-6, "expected 0.5"),
            (10**400, 1.0, "expected 1000"),
            ("1", 1, "expected '1', got 1"),
            ([1, 2], [1], "expected 2 items, got 1"),
            ([1, {"a": 2}], [1, {"a": 3}], "result[1].a: expected 2, got 3"),
            ({"a": 1}, {}, "lacks a"),
            ({"a": 1}, {"a": 1, "b": 2}, "has also b"),
            ({"a": 1}, AtLeast(b=2), "lacks a"),
            ({"a": {"b": 1}}, AtLeast(a={"b": 1, "c": 2}), "has also c"),
            ({"$set": ["a", "a"]}, ["a"], "the set lacks 'a'"),
            ({"$set": ["a"]}, ["a", "b"], "the set has also 'b'"),
            ({"$set": ["a"]}, "a", "expected ['a'], got 'a'"),
            ({"a": False, "raises": "E"}, {"a": True}, "a: expected False, got True"),
        ],
    )
    def test_different(self, expected, got, says):
        assert says in first_difference(expected, got, 1e-9)

    def test_zero_tolerance_means_equal_doubles(self):
        assert first_difference(0.3, 0.1 + 0.2, 0.0) is not None


class TestTolerance:
    def test_case_wins_over_file_wins_over_default(self, tmp_path):
        assert outcome(write(tmp_path, [case(1.0)]), 1.0 + 1e-8)[0] == 0
        assert outcome(write(tmp_path, [case(1.0)], tolerance=1e-6), 1.0 + 1e-8)[0] == 1
        assert outcome(write(tmp_path, [case(1.0, tolerance=0)], tolerance=1), 1.0 + 1e-8)[0] == 0

    def test_bound_wants_the_same_double(self, tmp_path):
        assert outcome(write(tmp_path, [case(0.3)], system="bound"), 0.1 + 0.2)[0] == 0


class TestErrors:
    def test_expected_error_is_met_by_ours_only(self, tmp_path):
        def refuse(_):
            raise InputError("no")

        path = write(tmp_path, [case({"$error": "ValueError"})])
        assert outcome(path, refuse) == (1, [])
        assert "expected the error ValueError, got 3" in outcome(path, 3)[1][0]
        assert "crashed with ZeroDivisionError" in outcome(path, lambda _: 1 / 0)[1][0]

    def test_members_beside_the_error_are_compared_with_its_attributes(self, tmp_path):
        def refuse(_):
            error = InputError("no")
            error.code = "not_found"
            raise error

        path = write(tmp_path, [case({"$error": "E", "code": "not_found"})])
        assert outcome(path, refuse) == (1, [])
        path = write(tmp_path, [case({"$error": "E", "code": "gone"})])
        assert "error.code: expected 'gone'" in outcome(path, refuse)[1][0]

    def test_unexpected_error_of_ours_fails(self, tmp_path):
        def refuse(_):
            raise InputError("successes is 5")

        assert (
            "raised InputError: successes is 5" in outcome(write(tmp_path, [case(1)]), refuse)[1][0]
        )


class TestSelection:
    def test_bugs_limits_and_known_defects_are_by_design(self, tmp_path):
        cases = [
            case(2, "a", tags=["bug:x"]),
            case(2, "b", tags=["slow", "limit:y"]),
            case(2, "c"),
            case(1, "d", tags=["slow"]),
        ]
        path = write(tmp_path, cases, known_defects={"c": "why"})
        result = replay([path], {("s", "f"): lambda _: 1})
        assert (result.passed, result.by_design, result.failures) == (1, 3, [])

    def test_function_without_adapter_fails(self, tmp_path):
        result = replay([write(tmp_path, [case(1)])], {})
        assert result.failures == [f"{tmp_path / 'f.json'} c1: no adapter for s f"]

    def test_folders_are_searched_at_any_depth_and_readmes_skipped(self, tmp_path):
        write(tmp_path / "one", [case(1)])
        write(tmp_path / "one" / "two", [case(1)], name="g.json")
        (tmp_path / "README.md").write_text("text")
        assert outcome(tmp_path, 1) == (2, [])

    def test_folder_without_vectors_fails(self, tmp_path):
        assert "no vector files" in outcome(tmp_path, 1)[1][0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "line 1"),
        (b"", "line 1"),
        (b"\xff\xfe", "utf-8"),
        (b"[]", "names no system"),
        (b'{"system": "s"}', "no cases"),
        (b'{"system": "s", "cases": []}', "no cases"),
        (b'{"system": "s", "cases": [3]}', "case 1 lacks expected, function, id, input"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_unusable_file_is_one_failure(tmp_path, content, says):
    path = tmp_path / "f.json"
    path.write_bytes(content)
    passed, failures = outcome(path, 1)
    assert passed == 0
    assert len(failures) == 1
    assert says in failures[0]


def test_absent_file_is_one_failure(tmp_path):
    assert "No such file" in outcome(tmp_path / "absent.json", 1)[1][0]


def script(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TestScript:
    def test_last_lines_and_exit_code(self, tmp_path):
        write(tmp_path, [case(1, "a"), case(1, "b", tags=["bug:x"])])
        done = script(tmp_path)
        assert done.stdout.splitlines() == [
            f"failed {tmp_path / 'f.json'} a: no adapter for s f",
            "1 by design",
            "0 passed, 1 failed",
        ]
        assert (done.returncode, done.stderr) == (1, "")

    def test_committed_folder_passes(self):
        done = script(SCRIPT.parent / "stats")
        assert done.stdout.splitlines()[-1].endswith(" passed, 0 failed")
        assert done.returncode == 0

    def test_no_argument_explains_itself(self):
        done = script()
        assert done.returncode == 2
        assert "Replay reference vectors" in done.stdout
