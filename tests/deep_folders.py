"""Folders in folders, also with a path that is longer than a path can be."""

from __future__ import annotations

import os


def nest(root, depth=30, name="x" * 255):
    """Make each folder by the descriptor of the one it lies in: no path names the last ones."""
    folder = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
