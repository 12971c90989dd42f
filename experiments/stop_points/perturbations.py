# ruff: noqa: ARG002 - the protocol names the parameters
"""Changes of what the checks can say; the work and the hidden tests stay as they are."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from typing import Any

from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from stop_points.repositories import CONFIG, TYPES

Files = dict[str, str]


class _Prepared:
    """A commit that differs from the repository's own."""

    name = ""
    preserves = "what is asked for, and the hidden tests"

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        """Return the one variant there is, as often as it is asked for."""
        return [Variant(index) for index in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Begin from the changed files."""
        toolbox, data = setup.toolbox, setup.task.data
        toolbox.tool("begin_from").function(self.change(dict(data["files"]), data))

        def applied() -> bool | None:
            answers = [step.output for step in toolbox.steps if isinstance(step.output, Mapping)]
            # The first answer tells of the commit: every agent begins by reading.
            return self.shows(answers[0], data) if answers else None

        return PerturbedTrial(setup, applied)

    def change(self, files: Files, data: Mapping[str, Any]) -> Files:
        """Return the files to begin from."""
        raise NotImplementedError

    def shows(self, answer: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Tell from the first answer whether the change was there."""
        raise NotImplementedError


class FewerTests(_Prepared):
    """Every other visible test is missing, so that unfinished work looks finished."""

    name = "fewer_tests"

    def change(self, files: Files, data: Mapping[str, Any]) -> Files:
        """Drop the second, fourth, ... test."""
        text = files[data["tests"]]
        tests = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        lines = text.splitlines()
        for node in reversed(tests[1::2]):
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
        return files | {data["tests"]: "\n".join(lines).rstrip() + "\n"}

    def shows(self, answer: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Compare the number of tests with the whole."""
        return bool(answer["tests"] < data["visible_tests"])


class StaleTest(_Prepared):
    """One visible test asks for what is no longer wanted: right work never looks right."""

    name = "stale_test"

    def change(self, files: Files, data: Mapping[str, Any]) -> Files:
        """Add the test."""
        return files | {data["tests"]: f"{files[data['tests']].rstrip()}\n\n\n{data['stale']}"}

    def shows(self, answer: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Compare the number of tests with the whole."""
        return bool(answer["tests"] > data["visible_tests"])


class NoTypeCheck(_Prepared):
    """The repository has no type checker: one of the four gates is never reported."""

    name = "no_type_check"

    def change(self, files: Files, data: Mapping[str, Any]) -> Files:
        """Leave the section of the type checker out."""
        return files | {CONFIG: files[CONFIG].replace(TYPES, "")}

    def shows(self, answer: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Look whether a verdict on types is there."""
        return answer["types"] is None
