"""A scripted agent, no model: ``python scripted_agent.py [--fault NAME]...``, prompt on stdin.

Without a fault it is faithful. It writes a bundle when the prompt holds a render contract, and
reads one otherwise.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

VERSION = "1.0"


def main(arguments: list[str]) -> None:
    """Take the prompt's last line of JSON and do what it asks."""
    if arguments == ["--version"]:
        print(f"scripted-agent {VERSION}")
        return
    faults = {word for word in arguments if word != "--fault"}
    lines = [line for line in sys.stdin.read().splitlines() if line.startswith("{")]
    request = json.loads(lines[-1])
    if "render_contract" in request:
        from scripted_exporter import export

        export(request, faults)
    else:
        from scripted_importer import import_bundle

        import_bundle(request, faults)


if __name__ == "__main__":
    main(sys.argv[1:])
