"""A scripted agent, no model: ``scripted_agent.py [--fault NAME]... [--diary FILE]``.

The prompt comes on standard input. Without a fault the agent is faithful. It writes a bundle when
the prompt holds a render contract, and reads one otherwise. Which faults it has really committed it
writes into the diary.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from diary import Diary
from sandbox import complain

VERSION = "1.0"


def main(arguments: list[str]) -> None:
    """Take the prompt's last line of JSON and do what it asks."""
    if arguments == ["--version"]:
        print(f"scripted-agent {VERSION}")
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--diary")
    given = parser.parse_args(arguments)
    faults, diary = set(given.fault), Diary(given.diary)
    lines = [line for line in sys.stdin.read().splitlines() if line.startswith("{")]
    request = json.loads(lines[-1])
    diary.role = "export" if "render_contract" in request else "import"
    begin(faults, diary)
    if diary.role == "export":
        from scripted_exporter import export

        export(request, faults, diary)
    else:
        from scripted_importer import import_bundle

        import_bundle(request, faults, diary)


def begin(faults: set[str], diary: Diary) -> None:
    """Commit the faults of an agent that does not get to its work."""
    blocked = faults & {"environment-blocked", f"{diary.role}-environment-blocked"}
    for fault in sorted(blocked):
        diary.note(fault)
        complain()
        sys.exit(1)
    if "late-start" in faults:
        diary.note("late-start")
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1:])
