"""A process that has pytest loaded and runs each request in a process of its own.

Loading pytest takes longer than running the tests of a small repository. This one loads it once and
forks for every request; nothing that a run imports or changes is left for the next.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

OUTPUT = "pytest.txt"


def main() -> None:
    """Answer one request per line: a folder and the arguments of pytest."""
    for line in sys.stdin:
        folder, arguments, seconds = json.loads(line)
        process = os.fork()
        if process == 0:
            _run(Path(folder), arguments, seconds)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(folder: Path, arguments: Sequence[str], seconds: int) -> None:
    """Run pytest in a folder and leave what it prints there; does not return."""
    code = 70
    try:
        signal.alarm(seconds)  # ends the process: a test that hangs is one that does not pass
        os.chdir(folder)
        file = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = int(pytest.main(list(arguments)))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
