"""Experiments in a temporary folder, made of the parts in ``toy.py``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from steelyard.harness.study import RunnableStudy, load_study

STEADY = {"steady": {"entry": "toy:steady"}}
Make = Callable[..., Path]


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        members = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return "{ " + members + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


@pytest.fixture
def experiment(tmp_path: Path) -> Make:
    """Write an experiment and return its folder.

    ``experiment(arms={name: code}, perturbations={name: code}, comparisons=[...], name="toy_study",
    **run)``; the rest goes into ``[run]``.
    """

    def make(
        arms: Mapping[str, Any] | None = None,
        perturbations: Mapping[str, Any] | None = None,
        comparisons: list[Mapping[str, Any]] | None = None,
        name: str = "toy_study",
        **run: Any,
    ) -> Path:
        folder = tmp_path / "project" / "experiments" / name
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / "data").mkdir(exist_ok=True)
        manifest = tmp_path / "project" / "data" / "manifest.toml"
        if not manifest.exists():
            manifest.write_text("[files]\n")
        shutil.copy(Path(__file__).with_name("toy.py"), folder / "toy.py")
        arms = STEADY if arms is None else arms
        if perturbations is None:
            perturbations = {"baseline": {"entry": "toy:Baseline"}, "fault": {"entry": "toy:Fault"}}
        settings = {
            "domain": {"entry": "toy:Counter"},
            "seed": 3,
            "arms": arms,
            "perturbations": perturbations,
            **run,
        }
        sections: dict[str, Any] = {
            "study": {
                "id": name,
                "title": "Adding",
                "question": "Does it add up?",
                "origin": "run",
                "source": "made up for a test",
                "licence": "MIT",
            },
            "data": {"source": name},
            "design": {"arms": list(arms), "perturbations": list(perturbations)},
            "measures": {"primary": "reached", "others": ["calls"]},
            "rules.adds": {"severity": "high"},
            "run": settings,
        }
        lines = []
        for section, content in sections.items():
            lines.append(f"[{section}]")
            lines += [f"{key} = {_toml(value)}" for key, value in content.items()]
        for comparison in comparisons or ():
            lines.append("[[comparisons]]")
            lines += [f"{key} = {_toml(value)}" for key, value in comparison.items()]
        (folder / "study.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return make


@pytest.fixture
def toy(experiment: Make) -> Callable[..., RunnableStudy]:
    """Write an experiment and load it."""
    return lambda *args, **kwargs: load_study(experiment(*args, **kwargs))
