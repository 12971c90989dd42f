"""The domain: repositories as tasks, hidden tests as the outcome, reports of checks as signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.harness.protocols import Task
from steelyard.trials.model import Trial
from stop_points.checks import test_functions
from stop_points.repositories import Repository, load_repositories
from stop_points.world import RepositoryWorld

SIGNALS = {
    "lint_passed": "lint",
    "type_check_passed": "types",
    "retry_count": "retries",
    "tool_call_count": "calls",
    "files_changed": "files_changed",
    "unexpected_files_changed": "unexpected_files",
    "tests_added": "tests_added",
    "tests_removed": "tests_removed",
    "tests_modified": "tests_modified",
}
"""Signal, and the member of a tool's answer that holds it."""


class CodingDomain:
    """Ten small repositories; see `stop_points.repositories`."""

    name = "small repositories"

    def __init__(self) -> None:
        self._repositories = {found.id: found for found in load_repositories()}

    def tasks(self) -> Sequence[Task]:
        """Return one task per repository."""
        return [
            Task(found.id, found.prompt, _facts(found)) for found in self._repositories.values()
        ]

    def world(self, task: Task) -> RepositoryWorld:
        """Make the repository afresh."""
        return RepositoryWorld(self._repositories[task.id])

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return how many hidden tests there are to pass."""
        return {"hidden_tests": len(test_functions(self._repositories[task.id].hidden))}

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Judge by the hidden tests, at the agent's own stop and before."""
        answers = _answers(trial)
        satisfied = [index for index, answer in answers if answer["satisfied"]]
        last = answers[-1][1] if answers else None
        measures: dict[str, float | None] = {
            "outcome": state["satisfied"],
            "ever_satisfied": bool(satisfied),
            "hidden_pass_rate": state["hidden_passed"] / truth["hidden_tests"],
            "looks_finished": None if last is None else _looks_finished(last),
            "states": len(answers),
        }
        if satisfied:
            measures["first_satisfied_step"] = satisfied[0]
        return measures

    def violations(self, _trial: Trial, _task: Task) -> Sequence[Mapping[str, Any]]:
        """Return nothing: no rules are declared."""
        return ()

    def signals(self, trial: Trial) -> Sequence[Mapping[str, Any]]:
        """Return what a stopping policy may know after each call."""
        rows, seconds, required = [], 0.0, _required(trial)
        for (index, answer), passing in zip(_answers(trial), required, strict=True):
            # Measured by the harness around the call; the hidden tests run within it.
            seconds += (trial.steps[index].wall_ms or 0.0) / 1000
            rate = answer["passed"] / answer["tests"] if answer["tests"] else None
            rows.append(
                {
                    "step_index": index,
                    "test_pass_rate": rate,
                    "required_checks_passed": passing,
                    "execution_time_seconds": round(seconds, 3),
                    "rollback_available": True,  # the commit is kept
                    **{signal: answer[name] for signal, name in SIGNALS.items()},
                }
            )
        return rows


def _facts(repository: Repository) -> dict[str, Any]:
    return {
        "module": repository.module,
        "tests": repository.tests,
        "functions": {name: dict(found) for name, found in repository.functions.items()},
        "files": repository.files(),
        "visible_tests": len(test_functions(repository.visible)),
        "stale": repository.stale,
    }


def _answers(trial: Trial) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the position and the answer of every call that did not fail."""
    return [
        (index, step.output)
        for index, step in enumerate(trial.steps)
        if step.kind == "tool_call" and isinstance(step.output, Mapping)
    ]


def _required(trial: Trial) -> list[float | None]:
    """Return, for every answer, the share of the required checks that pass.

    Required is each visible test that failed at the commit, as the first answer tells: the work
    that was asked for. One that the agent has deleted does not pass.
    """
    answers = _answers(trial)
    wanted = set(answers[0][1]["failed"]) if answers else set()
    deleted: set[str] = set()
    shares: list[float | None] = []
    for index, answer in answers:
        step = trial.steps[index]
        arguments = step.arguments if isinstance(step.arguments, Mapping) else {}
        if step.name == "remove_function":
            deleted.add(arguments["name"])
        elif step.name == "replace_function":
            deleted.discard(arguments["name"])
        open_ones = wanted & (set(answer["failed"]) | deleted)
        shares.append(1 - len(open_ones) / len(wanted) if wanted else None)
    return shares


def _looks_finished(answer: Mapping[str, Any]) -> bool:
    green = answer["tests"] > 0 and answer["passed"] == answer["tests"]
    return bool(green and answer["lint"] and answer["types"] is not False)
