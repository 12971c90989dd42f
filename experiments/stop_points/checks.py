"""The checks of a repository: pytest and ruff in processes of their own, mypy within this one."""

from __future__ import annotations

import ast
import atexit
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from stop_points.pytest_server import OUTPUT

SECONDS = 30
_LINE = re.compile(
    r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+?\.py)(?:::(\w+))?", re.MULTILINE
)
_ENVIRONMENT = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_ADDOPTS": "",
    "PYTHONDONTWRITEBYTECODE": "1",  # a module may change twice within the resolution of its time
    "PYTHONHASHSEED": "0",
}


class TestResult(NamedTuple):
    """Names of the test functions that passed, and of those that did not."""

    __test__ = False  # for pytest: this is no test

    passed: tuple[str, ...]
    failed: tuple[str, ...]


def run_tests(folder: Path, files: Mapping[str, Mapping[str, str]]) -> dict[str, TestResult]:
    """Run several test files in one process.

    Parameters
    ----------
    folder : pathlib.Path
        The repository, called ``repository``; the process runs in the folder above.
    files : mapping
        Path of a test file as seen from the folder above, and its test functions. One that pytest
        does not report as passed (because the file cannot be imported, say) has failed.

    Returns
    -------
    dict of str to TestResult
        By path, in the order of the functions.
    """
    # The settings stand in the folder above, so that pytest names all files as seen from there.
    (folder.parent / "pytest.ini").write_text("[pytest]\npythonpath = repository\n", "utf-8")
    options = ["-q", "--tb=no", "-rA", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    printed = _ask_pytest(folder.parent, [*options, "-c", "pytest.ini", *files])
    good, bad = set(), set()
    for verdict, path, name in _LINE.findall(printed):
        (good if verdict == "PASSED" else bad).add((path, name))
    results = {}
    for path, names in files.items():
        passed = [name for name in names if (path, name) in good - bad]
        results[path] = TestResult(tuple(passed), tuple(n for n in names if n not in passed))
    return results


def run_linter(folder: Path) -> bool:
    """Return whether ruff finds nothing in the repository."""
    from ruff import find_ruff_bin

    command = [find_ruff_bin(), "check", "--no-cache", "--quiet", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
    return done.returncode == 0


def run_type_checker(folder: Path, module: str) -> bool:
    """Return whether mypy finds nothing in the module.

    Within this process: mypy takes a second to start, and would have to do so at every step.
    """
    from mypy import api

    settings = ["--config-file", str(folder / "pyproject.toml"), "--cache-dir", _cache()]
    return api.run([*settings, str(folder / module)])[2] == 0


def test_functions(source: str) -> dict[str, str]:
    """Return the test functions of a file by name, as text that layout does not change."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    return {
        node.name: ast.dump(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


test_functions.__test__ = False  # type: ignore[attr-defined]


def _ask_pytest(folder: Path, arguments: list[str]) -> str:
    """Run pytest in a process of its own and return what it prints; see `pytest_server`."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps([str(folder), arguments, SECONDS]) + "\n")
    server.stdin.flush()
    if not server.stdout.readline():
        raise RuntimeError(f"the process that runs pytest ended: {server.wait()}")
    return (folder / OUTPUT).read_text(encoding="utf-8", errors="replace")


@functools.cache
def _server() -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).with_name("pytest_server.py"))]
    server = subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | _ENVIRONMENT,
    )  # fmt: skip
    atexit.register(server.kill)
    return server


@functools.cache
def _cache_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="stop-points-types-")


def _cache() -> str:
    return _cache_folder().name
