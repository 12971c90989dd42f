"""Reading the files that ``steelyard bound`` takes, and the documents that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from steelyard.errors import DataError, SteelyardError, printable
from steelyard.evaluators.bound import (
    AgentTrajectory,
    BoundCriteria,
    BoundPlan,
    CorpusQuality,
    check_trajectory,
    run_experiment,
)
from steelyard.evaluators.bound.model import Model, refuse_infinite
from steelyard.trials.strict_json import loads

AnyModel = TypeVar("AnyModel", bound=Model)


def read_file(model: type[AnyModel], path: Path) -> AnyModel:
    """Read one JSON file.

    Raises
    ------
    DataError
        If the file is absent, cannot be read, or is no strict JSON.
    ModelError
        If it does not hold what the schema says, or a number that is written as text is infinite.
    """
    return _read(model, _bytes(path), printable(path.name))


def _read(model: type[AnyModel], text: str | bytes, name: str) -> AnyModel:
    read = model.read(loads(text, path=name), name)
    refuse_infinite(read, name)
    return read


def read_plans(path: Path) -> dict[str, BoundPlan]:
    """Return the plan of a file, or those of a folder's JSON files, by stem."""
    return {file.stem: read_file(BoundPlan, file) for file in _files(path)}


def quality_document(found: CorpusQuality) -> dict[str, Any]:
    """Return a corpus's findings as JSON has them."""
    return {
        "total_plans": len(found.findings),
        "plans_with_warnings": found.plans_with_warnings,
        "aggregate_measurable_ratio": found.aggregate.measurable_ratio,
        "findings": [
            {
                "name": finding.name,
                "goal": finding.goal,
                "step_count": finding.step_count,
                "report": finding.report.to_dict(),
                "note": finding.note,
            }
            for finding in found.findings
        ],
        "limitations": list(found.limitations),
    }


def replay_files(
    paths: Sequence[Path], criteria: BoundCriteria, *, steps: bool = False
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Replay every trajectory of some files; one that cannot be replayed holds no other up.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        JSON files, JSON Lines files (``.jsonl``), folders of JSON files.
    criteria : BoundCriteria
    steps : bool, default False
        Keep every state's decision.

    Returns
    -------
    answered, refused : list of dict
        Per trajectory its ``name`` (file, and line where there are several) with where the
        policy stops it, or with the ``error``.

    Raises
    ------
    DataError
        If a path does not exist, a folder holds no JSON file, or a JSON Lines file no line.
    """
    answered: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    for name, source in _trajectories(paths):
        shown = printable(name)
        try:
            trajectory = _read(AgentTrajectory, source(), shown)
            check_trajectory(trajectory)
            answered.append({"name": name, **_answer(trajectory, criteria, steps)})
        except SteelyardError as error:
            said = " ".join(str(error).removeprefix(f"{shown}: ").split())
            refused.append({"name": name, "error": said})
    return answered, refused


def _answer(trajectory: AgentTrajectory, criteria: BoundCriteria, steps: bool) -> dict[str, Any]:
    found = run_experiment(trajectory, criteria)
    answer = {name: value for name, value in vars(found).items() if name != "per_step"}
    if steps:
        answer["per_step"] = [
            asdict(step) | {"scores": step.scores.model_dump(exclude={"reasoning"})}
            for step in found.per_step
        ]
    return answer


def _trajectories(paths: Sequence[Path]) -> Iterator[tuple[str, Any]]:
    """Yield each trajectory's name and how to get its text."""
    for path in paths:
        for file in _files(path):
            if file.suffix == ".jsonl":
                numbered = enumerate(_bytes(file).splitlines(), start=1)
                lines = [(number, line) for number, line in numbered if line.strip()]
                if not lines:
                    raise DataError(f"{printable(file.name)}: there is no case in it")
                for number, line in lines:
                    yield f"{file.name}:{number}", lambda text=line: text
            else:
                yield file.name, lambda here=file: _bytes(here)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise _absent(path)
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.json"))
    if not found:
        raise DataError(f"{printable(path.name)}: the folder holds no .json file")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise _absent(path) from None
    except OSError as error:
        raise DataError(f"{printable(path.name)}: cannot be read: {error.strerror}") from None


def _absent(path: Path) -> DataError:
    return DataError(f"{printable(path.name)}: there is no such file")
