"""Asking an executable who it is, before anything else is asked of it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from steelyard.errors import InputError
from steelyard.evaluators.handoff.identity import (
    ADAPTERS,
    MAX_LABEL,
    MISMATCH,
    MISSING,
    PROBE_FAILED,
    VERIFIED,
    AgentIdentity,
    detect_product,
    detect_version,
)
from steelyard.harness.agent_process import ProcessOutcome, run_agent

PROBE_SECONDS = 10.0
KINDS = ("executable", "launcher")

_PROBE_BYTES = 65_536


def observed_now() -> str:
    """Return this second as an RFC 3339 instant."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def probe_identity(
    adapter: str,
    executable: str,
    *,
    identity_kind: str = "executable",
    folder: Path,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = PROBE_SECONDS,
    observed_at: str | None = None,
) -> AgentIdentity:
    """Find an executable, hash it and ask for its version.

    Parameters
    ----------
    adapter : str
        Which product it should be.
    executable : str
        Its name, looked up on ``PATH``, or its path. Links are followed to a regular file, whose
        digest it is; it is asked under the name that was found.
    identity_kind : str, default "executable"
        ``launcher`` when it forwards to an agent elsewhere.
    folder : pathlib.Path
        Working folder of the probe.
    environment : mapping, optional
        Its environment; ``PATH`` only by default.
    timeout_seconds : float, default 10
        For each question.
    observed_at : str, optional
        The instant to record; now by default.

    Returns
    -------
    AgentIdentity
        Verified when the version is readable and the product is the adapter's.

    Raises
    ------
    InputError
        An unknown adapter or identity kind.
    """
    if adapter not in ADAPTERS:
        raise InputError(f"unknown adapter {adapter!r}; accepted are {', '.join(ADAPTERS)}")
    if identity_kind not in KINDS:
        raise InputError(f"unknown identity kind {identity_kind!r}; accepted are {KINDS}")
    blank = AgentIdentity(
        adapter,
        identity_kind,
        MISSING,
        observed_at or observed_now(),
        requested_executable=executable,
    )
    found = shutil.which(executable)
    if found is None:
        return replace(blank, error_code="executable_not_found")
    try:
        path = Path(found).resolve(strict=True)
        digest = _file_digest(path)
    except (OSError, RuntimeError) as error:
        return replace(blank, error_code="executable_resolution_failed", error_detail=str(error))
    known = replace(blank, status=PROBE_FAILED, sha256=digest, resolved_path=str(path))
    variables = dict(environment or {"PATH": os.environ.get("PATH", os.defpath)})
    # Under the name that trials start it by: a program of several names acts by the one it hears.
    return _asked(known, str(Path(found).absolute()), folder, variables, timeout_seconds)


def executable_digest(executable: str) -> str | None:
    """Return the digest of the file that a command starts now, None if there is none.

    Agents update themselves: the file behind a name can be another one after a trial.
    """
    found = shutil.which(executable)
    try:
        return None if found is None else _file_digest(Path(found).resolve(strict=True))
    except (OSError, RuntimeError):
        return None


def _file_digest(path: Path) -> str:
    if not path.is_file():  # a pipe would make its reader wait
        raise OSError(f"{path.name} is no regular file")
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def _asked(
    known: AgentIdentity,
    path: str,
    folder: Path,
    environment: Mapping[str, str],
    timeout_seconds: float,
) -> AgentIdentity:
    def ask(option: str) -> ProcessOutcome:
        return run_agent(
            [path, option],
            prompt=b"",
            folder=folder,
            environment=environment,
            timeout_seconds=timeout_seconds,
            output_limit=_PROBE_BYTES,
        )

    answer = ask("--version")
    if not answer.started:
        return replace(known, error_code="executable_not_runnable")
    text = _text(answer)
    if answer.timed_out or answer.returncode != 0:
        return replace(known, error_code="version_probe_failed", version_output=text)
    version = detect_version(text)
    if version is None or len(version) > MAX_LABEL:  # it becomes part of an arm's name
        return replace(known, error_code="version_unrecognized", version_output=text)
    product = detect_product(text)
    known = replace(known, version=version, version_output=text)
    if product is None:
        help_answer = ask("--help")
        known = replace(known, identity_output=_text(help_answer))
        if not help_answer.started or help_answer.timed_out or help_answer.returncode != 0:
            return replace(known, error_code="identity_probe_failed")
        product = detect_product(_text(help_answer))
    if product != known.adapter:
        return replace(known, status=MISMATCH, product=product, error_code="unexpected_product")
    return replace(known, status=VERIFIED, product=product)


def _text(answer: ProcessOutcome) -> str:
    """Return both streams of an answer, standard output first."""
    return (answer.stdout + b"\n" + answer.stderr).decode("utf-8", "replace")
