"""SHA-256 digests that say what was hashed, so that two parts cannot be read as one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

STATUS_DOMAIN = "waybill-status-v1"
REPOSITORY_DOMAIN = "waybill-repo-state-v1"
SOURCE_DOMAIN = "waybill-source-contract-v1"

DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
"""How a digest is written."""


def sha256(data: bytes) -> str:
    """Return ``sha256:`` and the hexadecimal digest of some bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def framed_digest(domain: str, components: Iterable[tuple[str, bytes]]) -> str:
    """Return the digest of named components under a domain.

    Each component is preceded by the lengths of its name (4 bytes) and value (8 bytes, both big
    endian), so moving a byte from one to the next changes the digest.

    Parameters
    ----------
    domain : str
        What the digest is of.
    components : iterable of (str, bytes)
        Names and values, in order.

    Returns
    -------
    str
        ``sha256:`` and 64 hexadecimal digits.
    """
    digest = hashlib.sha256(domain.encode() + b"\0")
    for name, value in components:
        encoded = name.encode()
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
        digest.update(len(value).to_bytes(8, "big") + value)
    return "sha256:" + digest.hexdigest()


def source_contract_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a set of source files, whatever order they are named in.

    Parameters
    ----------
    files : mapping of str to bytes
        Content by relative POSIX path.

    Returns
    -------
    str
    """
    digest = hashlib.sha256(SOURCE_DOMAIN.encode() + b"\0")
    for path in sorted(files):
        for part in (path.encode("utf-8", "surrogateescape"), files[path]):
            digest.update(len(part).to_bytes(8, "big") + part)
    return "sha256:" + digest.hexdigest()


def prompt_digest(prompt: str) -> str:
    """Return the digest of a prompt's UTF-8 bytes, the only thing a dry run shows of it."""
    return sha256(prompt.encode())


def porcelain_paths(status: bytes, *, compatibility: bool = False) -> list[str]:
    """Return the changed paths in ``git status --porcelain=v1 -z``.

    Parameters
    ----------
    status : bytes
        The output: two status letters, a space, a path and NUL; a rename or copy is followed by
        the old path and NUL.
    compatibility : bool, default False
        Look for a rename in the first letter only, as the published tool does; a rename that was
        not staged then reads its old path as a further entry.

    Returns
    -------
    list of str
        Sorted, without the old paths of renames.
    """
    entries = status.split(b"\0")
    paths = set()
    position = 0
    while position < len(entries):
        entry = entries[position]
        if not entry:  # after the last NUL
            position += 1
            continue
        letters = entry[:1] if compatibility else entry[:2]
        paths.add(entry[3:].decode("utf-8", "surrogateescape"))
        position += 2 if b"R" in letters or b"C" in letters else 1
    return sorted(paths)
