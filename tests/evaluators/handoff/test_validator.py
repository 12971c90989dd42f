"""Bundle validation: where ours differs from the published one, and hostile bundles."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from evaluators.handoff.bundles import metadata, waybill_text, write_bundle
from steelyard.evaluators.handoff.inventory import (
    UnreadableFileError,
    is_bundle_file,
    read_bundle_file,
)
from steelyard.evaluators.handoff.metadata import is_instant
from steelyard.evaluators.handoff.sensitive import sensitive_classes
from steelyard.evaluators.handoff.validator import validate

HOME = "/home" + "/marina"  # of nobody
OPEN_FILES = Path("/proc/self/fd")


def categories(bundle, **options):
    return [issue.category for issue in validate(bundle, **options).issues]


def test_a_small_bundle_is_valid_by_both_rules(tmp_path):
    bundle = write_bundle(tmp_path / "b")
    assert categories(bundle) == categories(bundle, compatibility=True) == []


@pytest.mark.parametrize(
    ("files", "ours"),
    [
        ({"metadata.json": json.dumps(metadata())[:-1] + ', "repo_root": ".."}'}, "metadata-json"),
        ({"metadata.json": json.dumps(metadata())[:-1] + ', "score": NaN}'}, "metadata-json"),
        (
            {"WAYBILL.md": waybill_text().replace("## Original Goal", "### Original Goal")},
            "section-missing",
        ),
        (
            {"WAYBILL.md": waybill_text().replace("## Test State", "```\n## Test State\n```")},
            "section-missing",
        ),
        ({"WAYBILL.md": waybill_text(Test_State="{{TEST_STATE}}")}, "unresolved-placeholder"),
        ({"notes.md": "secret_key=hunter2"}, "sensitive-content"),
        ({"notes.md": f"cd x={HOME}/tides"}, "sensitive-content"),
    ],
)
def test_what_the_published_validator_lets_pass(tmp_path, files, ours):
    bundle = write_bundle(tmp_path / "b", **files)
    assert categories(bundle) == [ours]
    assert categories(bundle, compatibility=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "a risk-assessments note",
        "task-abcdefghijklmn",
        "desk-organisation-list",
        "sk-learn-contrib",
        "The bearer walked on.",
        "The bearer arrived.",
        "bearer and/or holder",
    ],
)
def test_what_the_published_scan_flags_for_nothing(text):
    assert sensitive_classes(text) == []
    assert sensitive_classes(text, compatibility=True) != []


@pytest.mark.parametrize(
    "text",
    [
        "Bearer eyJhbGciOi.x",
        "key sk-abcdefghij123",
        "mail harbour@tides.example.org",
        'say "token": "abc"',
        "C:\\Users\\marina",
        "opened /Users/marina",
    ],
)
def test_both_scans_find_the_plain_cases(text):
    assert len(sensitive_classes(text)) == len(sensitive_classes(text, compatibility=True)) == 1
    assert sensitive_classes("password: [REDACTED] Bearer [REDACTED]") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", "bearer token"),
        ("Bearer abcdEfghij", "bearer token"),
        ("(sk-proj-abcdefGhij)", "secret key"),
        ("sk-" + "a" * 32, "secret key"),
        ("Bearer abcdefghijklmnopqrst", "bearer token"),
        ("AWS_SECRET_ACCESS_KEY=abc/def", "assigned secret"),
        ("github-token-2: gho", "assigned secret"),
        ('"accessToken": "abc"', "assigned secret"),
        ("dbPassword = hunter2", "assigned secret"),
        ("password: 12345", "assigned secret"),
        (f"file://{HOME}/a", "home folder"),
        (f"`{HOME}/a`", "home folder"),
        (f"host:{HOME}", "home folder"),
        (r'"repo_root": "C:\\Users\\marina"', "Windows home folder"),
    ],
)
def test_what_our_scan_finds(text, found):
    assert sensitive_classes(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "token_count: 512",
        '"max_token": 4096, "x": 1',
        "cookie_banner = false",
        "tokenizer = fast",
        "tokens: many",
        "secretary: Ann",
        "accessToken: [REDACTED]",
        "secret_key=[REDACTED]",
        "https://example.org/home/page",
        "src/home/page",
        "Bearer [REDACTED]",
    ],
)
def test_what_our_scan_lets_pass(text):
    assert sensitive_classes(text) == []


KEYS = ("api_key", "api-key", "apikey", "password", "secret", "token", "cookie")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("sk-abcdefghij", 1),
        ("SK-_-_-_-_-_-", 1),
        ("sk-abcdefghi", 0),
        ("sk-abcde fghij", 0),
        ("Bearer a", 1),
        ("BEARER\n\tabc", 1),
        ("Bearer: abc", 0),
        ("bearerabc", 0),
        ("Bearer [redacted]", 0),
        ("a.b+c%d@x-y.example.org", 1),
        ("a@b.co", 1),
        ("a@b.c", 0),
        ("a@b.c0", 0),
        ("@b.co", 0),
        (HOME, 1),
        ("\u00a0" + HOME.upper(), 1),
        (f"x={HOME}", 0),
        (f"({HOME})", 0),
        ("/home", 0),
        ("/homes/x", 0),
        ("c:\\users\\x", 1),
        ("C:/Users/x", 0),
        ("\\Users\\x", 0),
        *((f"{key.upper()} : x", 1) for key in KEYS),
        *((f'"{key}": "x"', 1) for key in KEYS),
        *((f"{key}=[REDACTED] x", 0) for key in KEYS),
        *((f"my{key}=x", 0) for key in KEYS),
        *((f"{key}s=x", 0) for key in KEYS),
        ("token=x[REDACTED]", 1),
        ("token=", 0),
        ("token x", 0),
        (f"password=x a@b.co sk-abcdefghij Bearer q {HOME} C:\\Users\\q", 6),
    ],
)
def test_the_published_scan_to_the_character(text, count):
    assert len(sensitive_classes(text, compatibility=True)) == count


def test_two_spaces_are_a_heading_for_us_only(tmp_path):
    text = waybill_text().replace("## ", "##  ")
    bundle = write_bundle(tmp_path / "b", **{"WAYBILL.md": text})
    assert categories(bundle) == []
    assert set(categories(bundle, compatibility=True)) == {"section-missing"}


@pytest.mark.parametrize("name", ["WAYBILL.md", "commands.log", "metadata.json"])
@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 200_000])
def test_every_content_gives_a_verdict(tmp_path, name, content):
    bundle = write_bundle(tmp_path / "b", **{name: content})
    for compatibility in (False, True):
        found = validate(bundle, compatibility=compatibility)
        assert found.is_valid is (name == "commands.log" and content[:1] == b"[")


@pytest.mark.parametrize("value", [None, True, 3, [], {}, "", [[1]], {"a": []}])
@pytest.mark.parametrize(
    "field", ["schema_version", "source_agent", "created_at", "repo_root", "git", "artifacts"]
)
def test_wrong_types_in_metadata_are_verdicts(tmp_path, field, value):
    bundle = write_bundle(tmp_path / "b", facts=metadata(**{field: value}))
    assert not validate(bundle).is_valid
    nested = metadata(git=dict.fromkeys(("branch", "base_ref", "head_sha", "dirty"), value))
    assert not validate(write_bundle(tmp_path / "b", facts=nested)).is_valid or value is True
    handoff = metadata(handoff={"kind": value, "result_status": value})
    assert not validate(write_bundle(tmp_path / "b", facts=handoff)).is_valid


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("../x", "artifact-escape"),
        ("a/../../x", "artifact-escape"),
        ("/etc/passwd", "artifact-escape"),
        ("WAYBILL.MD", "artifact-missing"),
        ("nul\0l", "artifact-missing"),
        ("x" * 5000, "artifact-missing"),
        ("a/" * 3000 + "x", "artifact-missing"),
        ("..\\x", "artifact-missing"),
        ("sub", "artifact-missing"),
        (".", "artifact-missing"),
        ("\ud83d", "metadata-json"),
    ],
)
def test_no_artifact_path_leaves_the_bundle(tmp_path, path, category):
    facts = metadata()
    facts["artifacts"]["extra"] = path
    bundle = write_bundle(tmp_path / "b", facts=facts, **{"sub/x.txt": "x"})
    (tmp_path / "x").write_text("outside")
    assert categories(bundle) == [category]


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="cannot count open files")
def test_reading_leaves_nothing_open(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    before = len(list(OPEN_FILES.iterdir()))
    for name in ("folder", "pipe", "file", "none", "file/x", ".", ""):
        for _ in range(5):
            with suppress(UnreadableFileError):
                read_bundle_file(tmp_path, name)
            is_bundle_file(tmp_path, name)
    assert len(list(OPEN_FILES.iterdir())) == before


def test_issues_come_in_the_order_of_the_rules(tmp_path):
    git = {"branch": "", "head_sha": None, "dirty": 0, "diff_max_bytes": 0, "status_digest": None}
    facts = metadata(
        source_agent=" ",
        created_at=None,
        repo_root=5,
        git=git,
        artifacts={"x": "../x", "waybill": "none.md", "y": ""},
        handoff={"kind": 5, "request_id": "", "parent_agent": None, "result_status": "done"},
    )
    files = {
        "WAYBILL.md": waybill_text(Repo_State="Codex must. Claude should.").replace("## Te", "Te"),
        "commands.log": "read-only",
        "a.md": b"\xff",
    }
    bundle = write_bundle(tmp_path / "b", facts=facts, **files)
    (bundle / "diff.patch").unlink()
    expected = [
        *["metadata-field-type", "created-at-format", "metadata-field-type"],
        *["git-field-missing", "git-field-type", "git-field-type", "git-dirty-type"],
        *["git-diff-limit", "git-digest-format", "artifact-type", "artifacts-waybill-name"],
        *["handoff-kind-type", "handoff-field-type", "handoff-field-type"],
        *["handoff-result-status", "artifact-escape", "artifact-missing"],
        *["section-missing", "agent-specific-phrase", "agent-specific-phrase"],
        *["commands-log-marker", "recommended-file-missing"],
        "unscannable-file",
    ]
    assert categories(bundle) == categories(bundle, compatibility=True) == expected


@pytest.mark.parametrize("value", [1, 5_000_000, None])
def test_a_limit_is_a_whole_number_of_bytes(tmp_path, value):
    def judged(limit):
        facts = metadata()
        facts["git"]["diff_max_bytes"] = limit
        return categories(write_bundle(tmp_path / "b", facts=facts))

    assert judged(value) == []
    for wrong in (0, 5_000_001, True, 1.0, "1", [], -1, 10**30):
        assert judged(wrong) == ["git-diff-limit"]


@pytest.mark.parametrize("target", ["metadata.json", "..", "/etc/passwd", "nowhere"])
def test_a_link_anywhere_ends_it(tmp_path, target):
    bundle = write_bundle(tmp_path / "b")
    (bundle / "sub").mkdir()
    (bundle / "sub" / "link").symlink_to(target)
    assert categories(bundle) == ["bundle-symlink"]


def test_bundles_are_bounded(tmp_path):
    assert categories(tmp_path / "none") == ["bundle-missing"]
    deep = write_bundle(tmp_path / "deep")
    (deep / "/".join(["d"] * 120)).mkdir(parents=True)
    assert categories(deep) == ["bundle-file-count"]
    large = write_bundle(tmp_path / "large")
    os.truncate(large / "diff.patch", 5_000_001)
    assert categories(large) == ["bundle-file-size"]
    piped = write_bundle(tmp_path / "piped")
    os.mkfifo(piped / "pipe")
    assert categories(piped) == ["bundle-special-file"]


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("2026-03-04T05:06:07Z", True),
        ("2026-03-04t05:06:07.123456789z", True),
        ("2024-02-29T23:59:59-23:59", True),
        ("2026-02-29T00:00:00Z", False),
        ("2026-03-04T24:00:00Z", False),
        ("2026-03-04T05:06:60Z", False),
        ("0000-03-04T05:06:07Z", False),
        ("2026-03-04T05:06:07+24:00", False),
        ("2026-03-04T05:06:07+05:60", False),
        ("2026-03-04T05:06:07", False),
        ("2026-03-04 05:06:07Z", False),
        ("\u0662026-03-04T05:06:07Z", False),
        (20260304, False),
    ],
)
def test_instants_are_those_of_the_calendar(value, valid):
    assert is_instant(value) is valid
