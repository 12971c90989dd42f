"""Files, links, folders and pipes as Waybill's vectors describe them."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_tree(root: Path, tree: Mapping[str, Any]) -> None:
    """Write files, links, folders and pipes as the vectors describe them."""
    for name, entry in tree.items():
        if entry is None:  # not there
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        details = {"text": entry} if isinstance(entry, str) else entry
        if path.is_symlink() or ("symlink" in details and path.is_file()):
            path.unlink()  # what is written takes the place of what was there
        if "symlink" in details:
            path.symlink_to(details["symlink"])
        elif "fifo" in details:
            os.mkfifo(path)
        elif "dir" in details:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content(details))
        if not path.is_symlink() and ("mode" in details or path.is_file()):
            path.chmod(int(details.get("mode", "0644"), 8))


def content(details: Mapping[str, Any]) -> bytes:
    """Return what a described file holds."""
    if "b64" in details:
        return base64.b64decode(details["b64"])
    if "repeat" in details:
        return str(details["repeat"]).encode() * int(details["times"])
    return str(details["text"]).encode()


def given(case: Mapping[str, Any], name: str) -> str | bytes:
    """Return a text of a case: as it is, as bytes (``<name>_b64``), or described as a file is."""
    if name not in case:
        return base64.b64decode(case[f"{name}_b64"])
    text = case[name]
    return text if isinstance(text, str) else content(text)
