"""``python -m steelyard.store [ROOT]``: write ``data/manifest.toml`` anew; see `write_manifest`."""

from __future__ import annotations

import sys
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.store.manifest import MANIFEST, write_manifest
from steelyard.store.project import find_root


def main(arguments: list[str]) -> int:
    """Write the manifest of the project at the given root, or of the one found from here.

    Parameters
    ----------
    arguments : list of str
        At most one: the root.

    Returns
    -------
    int
        The exit code: 0, or 2 with a message if a data file cannot be read.
    """
    try:
        root = Path(arguments[0]) if arguments else find_root()
        manifest = write_manifest(root / "data")
    except SteelyardError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"data/{MANIFEST}: {len(manifest.files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
