"""An agent without a mind: it reads its prompt, then does the actions of a vector, in order."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


def main(script: str) -> None:
    sys.stdin.read()
    plan = json.loads(Path(script).read_text(encoding="utf-8"))
    for action in plan["actions"]:
        perform(action, plan["expected"])


def perform(action: dict, expected: dict) -> None:
    operation = action["op"]
    if operation in {"print", "print_repeat"}:
        sys.stdout.write(action["text"] * action.get("times", 1))
        sys.stdout.flush()
    elif operation == "print_observation":
        print(json.dumps({**expected, **action.get("override", {})}), flush=True)
    elif operation == "stderr":
        sys.stderr.write(action["text"] * action.get("times", 1))
        sys.stderr.flush()
    elif operation == "sleep":
        time.sleep(action["seconds"])
    elif operation == "exit":
        sys.exit(action["code"])
    elif operation == "run":
        subprocess.run(action["command"], check=True, stdout=subprocess.DEVNULL)
    elif operation == "spawn_child":
        subprocess.Popen(["sleep", str(action["seconds"])])
    elif operation == "fetch_network_canary":
        texts = "\n".join(path.read_text() for path in sorted(Path(".waybill").rglob("*.md")))
        address = re.search(r"http://127\.0\.0\.1:\d+[\w/-]*", texts).group()
        urllib.request.urlopen(address, timeout=5).close()  # noqa: S310 - loopback, see above
    else:
        change_files(operation, action)


def change_files(operation: str, action: dict) -> None:
    path = Path(os.environ[action["under_env"]] if "under_env" in action else ".") / action["path"]
    if operation == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(action["text"])
    elif operation == "delete":
        path.unlink()
    elif operation == "mkdir":
        path.mkdir()
    elif operation == "write_then_restore":
        before = path.read_bytes()
        path.write_bytes(b"other")
        path.write_bytes(before)
    else:
        raise ValueError(f"unknown operation {operation}")


if __name__ == "__main__":
    main(sys.argv[1])
