"""The notes that stand in ``diff.patch`` where a difference cannot."""

from __future__ import annotations

from steelyard.evaluators.handoff.digests import sha256


def no_diff_note() -> bytes:
    """Return the note that stands for a difference when no tracked file has changed."""
    return (
        b"# steelyard: no tracked change\n"
        b"# Only untracked files differ from the recorded commit; they are not part of a patch.\n"
    )


def omission_note(limit: int) -> bytes:
    """Return the note that stands for a difference larger than the recorded limit in bytes."""
    return (
        b"# steelyard: difference left out\n"
        b"# The tracked changes are larger than the recorded limit of %d bytes; read them in the\n"
        b"# repository itself.\n" % limit
    )


# The published tool's notes are known by digest only: (SHA-256, length in bytes).
PUBLISHED_NO_DIFF_NOTE = (
    "sha256:2e0adec3d6adf5bcfa72e70221856b80e7f8f4144a65ee27515ef5ef6c3adc2c",
    140,
)
PUBLISHED_OMISSION_NOTES = {
    1: ("sha256:05520d109eaccc408f190f0658cbda4cf32118639f1b269da910573ec98e66f5", 190),
    1_000: ("sha256:3d044d9ad8ab11559675ff2caa3bb8cd5e893437fd3072e12be4d4f8b166ec59", 193),
    1_000_000: ("sha256:9503a77d590ec55cd0de365e9f1ac431987ffe4e0c53b827efd29c8e38a63ec1", 196),
}


def is_no_diff_note(content: bytes) -> bool:
    """Return whether some bytes are our note for no tracked change, or the published one."""
    return content == no_diff_note() or sha256(content) == PUBLISHED_NO_DIFF_NOTE[0]


def is_omission_note(content: bytes, limit: int) -> bool:
    """Return whether some bytes are our note for a left-out difference, or the published one.

    The published note is recognised for the limits whose digest is known: 1, 1,000 and the default
    of 1,000,000 bytes.
    """
    published = PUBLISHED_OMISSION_NOTES.get(limit)
    if content == omission_note(limit):
        return True
    return published is not None and sha256(content) == published[0]


def format_bytes(size: int) -> str:
    """Return a size for a reader: ``0 B``, ``976.6 KiB``, ``4.8 MiB``."""
    if size < 1024:
        return f"{size} B"
    value = size / 1024
    for unit in ("KiB", "MiB"):
        if value < 1024:
            return f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
