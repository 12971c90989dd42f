"""What an executable is taken for by what it answers."""

from __future__ import annotations

import pytest

from steelyard.harness.handoff.identity_probe import probe_identity

IF_HELP = '#!/bin/sh\nif [ "$1" = --help ]; then %s; fi\necho 1.2.3\n'


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (IF_HELP % "echo Codex; exit 0", ("verified", None, "codex", "1.2.3")),
        (IF_HELP % "echo Codex; exit 2", ("probe_failed", "identity_probe_failed", None, "1.2.3")),
        (IF_HELP % "echo x; exit 0", ("identity_mismatch", "unexpected_product", None, "1.2.3")),
        ("#!/bin/sh\necho 2.0\necho codex 1.2 >&2\n", ("verified", None, "codex", "2.0")),
        (
            "#!/bin/sh\necho codex 1.2.3\nexit 1\n",
            ("probe_failed", "version_probe_failed", None, None),
        ),
        ("no script", ("probe_failed", "executable_not_runnable", None, None)),
        (
            f"#!/bin/sh\necho codex 1.2.3-{'a' * 200}\n",
            ("probe_failed", "version_unrecognized", None, None),
        ),
    ],
)
def test_an_answer_decides_who_it_is(tmp_path, script, found):
    executable = tmp_path / "agent"
    executable.write_text(script)
    executable.chmod(0o755)
    identity = probe_identity("codex", str(executable), folder=tmp_path)
    assert (identity.status, identity.error_code, identity.product, identity.version) == found
    assert identity.sha256 is not None


def test_a_program_of_several_names_is_asked_by_the_one_it_is_started_by(tmp_path, monkeypatch):
    program = tmp_path / "programs"
    program.write_text('#!/bin/sh\n[ "${0##*/}" = codex ] || exit 1\necho codex 1.2.3\n')
    program.chmod(0o755)
    (tmp_path / "codex").symlink_to(program)
    empty = tmp_path / "empty"
    empty.mkdir()
    by_link = probe_identity("codex", str(tmp_path / "codex"), folder=empty)
    assert (by_link.status, by_link.resolved_path) == ("verified", str(program.resolve()))
    by_its_own_name = probe_identity("codex", str(program), folder=empty)
    assert by_its_own_name.error_code == "version_probe_failed"
    assert by_link.sha256 == by_its_own_name.sha256
    monkeypatch.chdir(tmp_path)
    assert probe_identity("codex", "./codex", folder=empty).status == "verified"
