"""Finding processes that a test's agents may have left behind."""

from __future__ import annotations

import os
from pathlib import Path


def living(word):
    """Return the ids of living processes whose arguments hold a word, zombies not counted.

    An agent's children have the word only if it is among their own arguments: ``sleep 60.<word>``.
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            has_word = word.encode() in (entry / "cmdline").read_bytes()
            is_dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        if has_word and not is_dead and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def descriptors():
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
