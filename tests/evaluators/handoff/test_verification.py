"""Bundles against repositories and requests; how ours differs from the published checks."""

from __future__ import annotations

import json

import pytest

from deep_folders import nest
from evaluators.handoff.bundles import describe, git, make_repository, metadata, write_bundle
from steelyard.evaluators.handoff.checker import check_bundle
from steelyard.evaluators.handoff.diff_notes import is_omission_note, no_diff_note, omission_note
from steelyard.evaluators.handoff.digests import porcelain_paths
from steelyard.evaluators.handoff.pairs import verify_pair
from steelyard.evaluators.handoff.repository import (
    RepositoryError,
    canonical_diff,
    git_environment,
    read_repository,
    run_git,
)
from steelyard.evaluators.handoff.verification import check_readiness, verify_repository


@pytest.fixture
def repository(tmp_path):
    return make_repository(tmp_path / "repo")


def statuses(checks):
    return {check.name: check.status for check in checks if check.status != "ok"}


def bundle_of(repository, folder, **files):
    facts, diff = describe(repository)
    return write_bundle(folder, facts=facts, **{"diff.patch": diff, **files})


def test_a_faithful_bundle_is_ready(repository, tmp_path):
    (repository / "a.txt").write_text("two\n")
    ready = check_readiness(bundle_of(repository, tmp_path / "b"), repository)
    assert ready.passes
    assert [check.name for check in ready.verification.checks][-1] == "coverage"


def test_a_later_change_is_seen(repository, tmp_path):
    (repository / "a.txt").write_text("two\n")
    bundle = bundle_of(repository, tmp_path / "b")
    (repository / "a.txt").write_text("six\n")
    found = statuses(verify_repository(bundle, repository).checks)
    assert found == {"repo_state_digest": "error", "diff_patch": "error"}


def test_untracked_content_is_in_no_digest_and_we_say_so(repository, tmp_path):
    (repository / "n.txt").write_text("1\n")
    bundle = bundle_of(repository, tmp_path / "b", **{"diff.patch": no_diff_note()})
    (repository / "n.txt").write_text("2\n")
    assert statuses(verify_repository(bundle, repository).checks) == {"coverage": "warning"}
    assert statuses(verify_repository(bundle, repository, compatibility=True).checks) == {}


def test_a_change_of_line_ends_is_said_to_have_no_difference(repository, tmp_path):
    (repository / "a.txt").write_bytes(b"one\r\n")
    bundle = bundle_of(repository, tmp_path / "b")
    assert statuses(verify_repository(bundle, repository).checks) == {"coverage": "warning"}


def test_a_patch_beside_a_clean_tree_does_not_pass_unseen(repository, tmp_path):
    patch = "diff --git a/a.txt b/a.txt\n"
    bundle = bundle_of(repository, tmp_path / "b", **{"diff.patch": patch})
    assert statuses(verify_repository(bundle, repository).checks) == {"diff_patch": "warning"}
    assert statuses(verify_repository(bundle, repository, compatibility=True).checks) == {}


def test_the_callers_git_settings_change_nothing(repository, tmp_path, monkeypatch):
    (repository / "a.txt").write_text("two\n")
    expected = (read_repository(repository), canonical_diff(repository))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.noprefix")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    git(repository, "config", "diff.context", "9")
    git(repository, "config", "diff.external", "false")
    git(repository, "config", "core.fsmonitor", "false")
    assert (read_repository(repository), canonical_diff(repository)) == expected
    assert "GIT_DIR" not in git_environment()


def test_reading_stops_at_the_limit(repository):
    (repository / "a.txt").write_text("x\n" * 100_000)
    assert canonical_diff(repository, limit=1000) is None
    assert len(run_git(repository, ["diff"], limit=1000)[1]) == 1001
    assert is_omission_note(omission_note(1000), 1000)
    assert not is_omission_note(omission_note(1000), 1001)


def test_what_is_no_repository_is_an_error(tmp_path):
    with pytest.raises(RepositoryError):
        read_repository(tmp_path)
    with pytest.raises(RepositoryError):
        read_repository(tmp_path / "none")


def test_a_rename_that_was_not_staged_is_one_path():
    status = b" R new.py\0old.py\0?? z\0"
    assert porcelain_paths(status) == ["new.py", "z"]
    assert porcelain_paths(status, compatibility=True) != ["new.py", "z"]


def test_an_empty_entry_of_a_status_ends_nothing():
    assert porcelain_paths(b" M b\0\0 M a\0") == ["a", "b"]


def test_drafts_are_not_ready(repository, tmp_path):
    bundle = bundle_of(repository, tmp_path / "b", **{"test-summary.md": "TODO: run"})
    assert not check_readiness(bundle, repository).passes
    undigested = write_bundle(tmp_path / "u", facts=metadata())
    content = check_readiness(undigested, repository).content
    assert [check.name for check in content] == ["status_digest", "repo_state_digest"]


def delegation(folder, kind, source, **members):
    handoff = {"kind": kind, "parent_agent": "cursor", "child_agent": "codex", **members}
    facts = metadata(source_agent=source, handoff=handoff)
    return write_bundle(folder, kind=kind, facts=facts)


def test_a_result_answers_its_request_only(tmp_path):
    request = delegation(tmp_path / "q", "delegation_request", "cursor", request_id="r-1")
    result = delegation(
        tmp_path / "a", "delegation_result", "codex", result_for="r-1", result_status="partial"
    )
    assert statuses(verify_pair(request, result)) == {}
    other = delegation(
        tmp_path / "o", "delegation_result", "codex", result_for="r-2", result_status="partial"
    )
    assert statuses(verify_pair(request, other)) == {"correlation": "error"}
    blank = delegation(tmp_path / "e", "delegation_request", "cursor", request_id=["r-1"])
    assert statuses(verify_pair(blank, result))["correlation"] == "error"
    assert len(verify_pair(tmp_path / "none", tmp_path / "nothing")) == 10


def test_the_checker_survives_lists_where_text_belongs(repository, tmp_path):
    facts = metadata(artifacts={"waybill": ["WAYBILL.md"]}, handoff={"kind": []})
    report = check_bundle(write_bundle(tmp_path / "b", facts=facts), repository)
    codes = {issue.category for issue in report.issues if issue.severity == "error"}
    assert codes == {"artifact-path", "handoff-kind"}
    assert report.repository_digests is not None
    (tmp_path / "b" / "metadata.json").write_text(json.dumps([]))
    assert not check_bundle(tmp_path / "b", repository).success


def codes(bundle, repository):
    return [issue.category for issue in check_bundle(bundle, repository).issues]


def test_a_bundle_with_paths_that_are_too_long_gives_a_verdict(repository, tmp_path):
    bundle = write_bundle(tmp_path / "b")
    nest(bundle)
    assert codes(bundle, repository) == ["bundle-read"]
    readiness = check_readiness(bundle, repository)
    assert [issue.category for issue in readiness.validation.issues] == ["bundle-unreadable"]


def test_what_differs_from_the_repository_is_in_no_file_of_the_bundle(repository, tmp_path):
    (repository / "a.txt").write_text("two\n" * 300)
    facts, _ = describe(repository)
    facts["git"] |= {"branch": "other", "diff_max_bytes": 1000}
    for note, code in ((omission_note(1000), "repo-diff-omitted"), (b"x", "repo-diff")):
        bundle = write_bundle(tmp_path / "b", facts=facts, **{"diff.patch": note})
        found = {issue.category: issue.path for issue in check_bundle(bundle, repository).issues}
        assert found == {"repo-branch": None, code: None}
    del facts["artifacts"]["diff"]
    found = check_bundle(write_bundle(tmp_path / "b", facts=facts), repository).issues
    assert [(issue.category, issue.path) for issue in found][1:] == [("repo-diff-missing", None)]


@pytest.mark.parametrize("value", [None, "", "unknown"])
def test_the_checker_compares_nothing_that_was_not_recorded(repository, tmp_path, value):
    facts, _ = describe(repository)
    facts["git"]["dirty"] = value
    assert codes(write_bundle(tmp_path / "b", facts=facts), repository) == ["git-dirty"]


def test_a_limit_does_not_hide_what_the_checker_found_before(repository, tmp_path):
    many = write_bundle(tmp_path / "b", **{f"n/{number}.txt": "x" for number in range(96)})
    (many / "link").symlink_to("nowhere")
    assert codes(many, repository) == ["unsafe-entry", "file-count-limit"]


def test_the_published_validators_let_a_lone_surrogate_pass(repository, tmp_path):
    facts, _ = describe(repository)
    bundle = write_bundle(tmp_path / "b", facts={**facts, "note": "\ud83d"})
    assert codes(bundle, repository) == []
    assert verify_repository(bundle, repository, compatibility=True).passes
    assert statuses(verify_repository(bundle, repository).checks) == {"metadata": "error"}


@pytest.mark.parametrize("path", ["x" * 5000, "x/" * 3000, "nul\0l", ""])
def test_a_path_that_no_system_has_is_a_verdict(repository, tmp_path, path):
    bundle = tmp_path / path / "none"
    assert codes(bundle, repository) == ["bundle-missing"]
    assert not check_readiness(bundle, repository).passes
    checks = verify_repository(bundle_of(repository, tmp_path / "b"), bundle).checks
    assert statuses(checks) == {"repo": "error"}
    assert not all(check.status == "ok" for check in verify_pair(bundle, bundle))


@pytest.mark.parametrize("depth", [490, 940, 5000])
def test_any_depth_of_metadata_is_a_verdict(repository, tmp_path, depth):
    facts, _ = describe(repository)
    facts["git"]["branch"] = facts["git"]["dirty"] = "deep"
    text = json.dumps(facts).replace('"deep"', "[" * depth + "]" * depth)
    bundle = write_bundle(tmp_path / "b", **{"metadata.json": text})
    for compatibility in (False, True):
        assert not check_readiness(bundle, repository, compatibility=compatibility).passes
    assert not check_bundle(bundle, repository).success
    assert len(verify_pair(bundle, bundle, compatibility=True)) == 10
