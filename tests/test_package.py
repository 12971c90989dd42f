"""What holds for the package as a whole: how light it is, what it may import, how it is written."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import steelyard

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "steelyard"
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = (
    "pandas",
    "scipy",
    "matplotlib",
    "duckdb",
    "pyarrow",
    "pydantic",
    "jinja2",
    "rich",
    "numpy",
)


def module_names() -> list[str]:
    found = pkgutil.walk_packages(steelyard.__path__, "steelyard.")
    return ["steelyard", *(module.name for module in found)]


def tracked_texts() -> list[tuple[str, str]]:
    """Every committed text file, with its content."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    texts = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path.suffix not in {".gz", ".parquet", ".png", ".duckdb"}:
            texts.append((name, path.read_text(encoding="utf-8")))
    return texts


class TestLightness:
    @pytest.mark.parametrize(
        "statement", ["import steelyard", "import steelyard.cli.main", "import steelyard.errors"]
    )
    def test_importing_loads_nothing_heavy(self, statement):
        program = f"{statement}; import sys; print(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        loaded = {name.partition(".")[0] for name in done.stdout.split()}
        assert not loaded & set(HEAVY)

    def test_help_answers_in_less_than_half_a_second(self):
        # Processor time of the child: unlike wall time it does not depend on who else computes.
        def seconds() -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "steelyard", "--help"]
            subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        assert min(seconds() for _ in range(3)) < 0.5


class TestPublicNames:
    def test_version_is_that_of_the_metadata(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert steelyard.__version__ == project["version"]

    def test_every_public_name_exists(self):
        for name in module_names():
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                assert hasattr(module, public), f"{name}.{public}"

    def test_unknown_attribute_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="nothing"):
            _ = steelyard.nothing
        assert set(dir(steelyard)) >= {"open", "Study", "SteelyardError"}

    @pytest.mark.parametrize("room", ["steelyard", "steelyard.stats", "steelyard.analysis"])
    def test_functions_document_parameters_and_result(self, room):
        module = importlib.import_module(room)
        for name in module.__all__:
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            text = inspect.getdoc(function) or ""
            # A short form refers to the function that documents it; one parameter and an example
            # explain each other.
            short = "See :func:`" in text
            plain = len(inspect.signature(function).parameters) == 1 and "Examples\n---" in text
            if not (short or plain):
                assert "Parameters\n----------" in text, f"{room}.{name}"
                assert "Returns\n-------" in text, f"{room}.{name}"

    @pytest.mark.parametrize("name", module_names())
    def test_examples_in_docstrings_are_true(self, name):
        result = doctest.testmod(
            importlib.import_module(name),
            optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        )
        assert result.failed == 0


class TestSource:
    @pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
    def test_no_assert_checks_input(self, path):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        assert not lines, f"python -O removes the assert in line {lines}"

    @pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
    def test_modules_and_functions_stay_readable(self, path):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert length <= 50, f"{node.name} has {length} lines"

    def test_every_room_is_in_the_import_contract(self):
        config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
        layers = " ".join(config["contracts"][0]["layers"])
        rooms = {
            p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
        }
        for room in rooms - {"__init__", "__main__"}:
            assert re.search(rf"steelyard\.{room}\b", layers), f"no layer holds {room}"

    def test_rooms_import_only_from_rooms_below(self):
        command = [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as c; c()",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


LARGEST = {"reports/index.html": 6_000_000}  # one page over every study, figures included
VECTORS_OF_A_SCAN = "tests/vectors/waybill/validate_bundle.json"


class TestTrackedFiles:
    def test_no_path_of_a_machine(self):
        # A folder directly below the root, as an author's machine has it.
        pattern = re.compile(r"(?<![\w.:/])/(?:work|root|farm|home/\w+|Users/\w+|tmp/\w+)/")
        # Reference vectors of a secret scan hold made-up home folders.
        searched = ((n, text) for n, text in tracked_texts() if n != VECTORS_OF_A_SCAN)
        found = [name for name, text in searched if pattern.search(text)]
        assert found == []

    def test_no_package_index_is_named(self):
        # Put together here, because this file is tracked too.
        words = ["py" + "pi.org", "python" + "hosted", "index" + "-url"]
        pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
        found = [name for name, text in tracked_texts() if pattern.search(text)]
        assert found == []

    def test_lines_end_with_lf(self):
        assert [name for name, text in tracked_texts() if "\r" in text] == []

    def test_only_evidence_is_large(self):
        big = [
            name
            for name, text in tracked_texts()
            if len(text) > LARGEST.get(name, 2_000_000)
            and not name.startswith(("data/", "tests/vectors/"))
        ]
        assert big == []
