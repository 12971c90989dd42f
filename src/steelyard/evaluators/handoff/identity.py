"""Which agent answered: product and version from its own output, and what a report may say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

ADAPTERS = {
    "claude-code": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "cursor": "agent",
    "gemini-cli": "gemini",
}
"""Adapter to the name of its executable."""

VERIFIED, MISSING, PROBE_FAILED, MISMATCH = (
    "verified",
    "missing",
    "probe_failed",
    "identity_mismatch",
)

MAX_LABEL = 128

# In this order: "codex bridge for Claude Code" is Claude Code.
_PRODUCTS = (
    ("grok", re.compile(r"\bgrok\b", re.IGNORECASE)),
    ("claude-code", re.compile(r"\bclaude(?:\s+code)?\b", re.IGNORECASE)),
    ("codex", re.compile(r"\bcodex(?:-cli)?\b", re.IGNORECASE)),
    ("opencode", re.compile(r"\bopencode\b", re.IGNORECASE)),
    ("cursor", re.compile(r"\bcursor\b", re.IGNORECASE)),
    ("gemini-cli", re.compile(r"\bgemini\b", re.IGNORECASE)),
)
_VERSION = re.compile(r"(?<![A-Za-z0-9])v?(\d+\.\d+(?:\.\d+)?(?:[-+][0-9A-Za-z.+-]+)?)")


_PRIVATE = (
    "requested_executable",
    "resolved_path",
    "version_output",
    "identity_output",
    "error_detail",
)


@dataclass(frozen=True)
class AgentIdentity:
    """Who an executable says it is.

    Attributes
    ----------
    adapter : str
        The adapter it was asked to be.
    identity_kind : str
        ``executable`` when the hashed file is the agent, ``launcher`` when it forwards to one.
    status : str
        ``verified``, ``missing``, ``probe_failed`` or ``identity_mismatch``.
    error_code : str or None
        Why it is not verified.
    product, version, sha256 : str or None
        What was found.
    observed_at : str
        When, as an RFC 3339 instant.
    requested_executable, resolved_path, version_output, identity_output, error_detail : str or None
        Machine-specific details, for private reports only.
    """

    adapter: str
    identity_kind: str
    status: str
    observed_at: str
    error_code: str | None = None
    product: str | None = None
    version: str | None = None
    sha256: str | None = None
    requested_executable: str | None = None
    resolved_path: str | None = None
    version_output: str | None = None
    identity_output: str | None = None
    error_detail: str | None = None

    def report(self, *, private: bool = False) -> dict[str, Any]:
        """Return the identity as a report shows it.

        Parameters
        ----------
        private : bool, default False
            Add paths and raw output. Never for a report that leaves the machine.

        Returns
        -------
        dict
            Product and version of a launcher are called reported: its hash is not the agent's.
        """
        names = ("adapter", "identity_kind", "status", "sha256", "observed_at", "error_code")
        shown = {name: getattr(self, name) for name in names}
        prefix = "reported_" if self.identity_kind == "launcher" else ""
        shown |= {f"{prefix}product": self.product, f"{prefix}version": self.version}
        if private:
            shown |= {name: getattr(self, name) for name in _PRIVATE}
        return shown

    @property
    def fingerprint(self) -> tuple[str | None, str | None, str | None]:
        """Product, version and hash: results of two fingerprints are never pooled."""
        return (self.product, self.version, self.sha256)


def detect_product(text: str) -> str | None:
    """Return the product that a text names, None if none; see the fixed order of products."""
    return next((name for name, pattern in _PRODUCTS if pattern.search(text)), None)


def detect_version(text: str) -> str | None:
    """Return the first version number in a text, without a leading ``v``; None if none."""
    found = _VERSION.search(text)
    return found[1] if found else None


def is_safe_label(value: Any) -> bool:
    """Return whether a name may stand in a report.

    Accepted are 1 to 128 printable characters, no space at either end, no slash or backslash.
    """
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_LABEL
        and value.isprintable()
        and value == value.strip()
        and not set(value) & set("/\\")
    )


_USER_NAMESPACE = (
    "creating new namespace failed",
    "kernel does not allow non-privileged user namespaces",
    "no permissions to create a new namespace",
    "no permissions to create new namespace",
    "cannot create user namespace",
    "setting up uid map: permission denied",
)


def environment_block_reason(stderr: str) -> str | None:
    """Return why a sandbox could not start, as its own message says; None if it did not say so.

    Parameters
    ----------
    stderr : str
        What the process wrote to standard error. The text is chosen by the agent, so it excuses
        nothing by itself: see the runner for what else must hold.

    Returns
    -------
    str or None
        ``network-namespace``, ``user-namespace`` or None.
    """
    for line in stderr.splitlines():
        message = line.strip().casefold()
        if not message.startswith("bwrap:"):
            continue
        if "loopback: failed rtm_newaddr" in message and "operation not permitted" in message:
            return "network-namespace"
        if any(phrase in message for phrase in _USER_NAMESPACE):
            return "user-namespace"
    return None
