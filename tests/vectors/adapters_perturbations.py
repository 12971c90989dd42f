"""Adapters of perturbations and their variants to Plumbline's vectors.

The vectors' suite draws from one generator per task (`published_variants`). What a variant changes
is read off a trial that it was put in place for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from invoice_domains import suite
from steelyard.harness.perturbations import LIBRARY, ModelParaphrase
from steelyard.harness.perturbations.published import published_variants
from steelyard.harness.protocols import Perturbation, Task, TrialSetup, Variant
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey
from vectors.adapters_arms import task_of
from vectors.adapters_domains import DOMAINS

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "tool_fault": {"targets": suite.FAULT_TARGETS},
    "decoy_tools": {"decoys": suite.DECOYS},
}
ERROR_CODES = ("503", "429", "reset")


def perturbation(name: str, **given: Any) -> Perturbation:
    return LIBRARY[name](**PARAMETERS.get(name, {}), **given)


def view(case: Mapping[str, Any], one: Perturbation, variant: Variant) -> dict[str, Any]:
    """Return what a variant changes in a trial."""
    task = task_of(case)
    tools = DOMAINS[case["domain"]].world(task).tools()
    key = TrialKey("arm", task.id, one.name, str(variant.index), 0)
    setup = TrialSetup(key, task, Toolbox(tools))
    one.perturb(setup, variant)
    shown = {
        "variant_id": f"{one.name}/{variant.index}",
        "perturbation": one.name,
        "temperature": setup.temperature,
        "prompt_is_original": setup.prompt == task.prompt,
    }
    meta = variant.meta
    if one.name == "distractor":
        shown |= {"noise_indices": meta["notes"], "layout": meta["layout"]}
    if one.name == "tool_fault":
        code = next(code for code in ERROR_CODES if code in meta["error"])
        shown |= {"target": meta["target"], "error_code": code}
        shown["has_fault_hook"] = bool(setup.toolbox.before)
    if one.name == "decoy_tools":
        shown |= {"decoys": meta["decoys"], "extra_tools": setup.toolbox.names[len(tools) :]}
    return shown


def suite_variants(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    suite = [perturbation(name) for name in case["suite"]]
    drawn = published_variants(suite, task_of(case), case["n"], case["seed"])
    return [view(case, one, variant) for one in suite for variant in drawn[one.name]]


def one_perturbation(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = {"temperature": case["temperature"]} if "temperature" in case else {}
    one = perturbation(case["perturbation"], **given)
    random = Random(0)  # noqa: S311 - the vectors' own
    variants = one.variants(task_of(case), case["n"], random)
    return [view(case, one, variant) for variant in variants]


class Writer:
    """Answers as the vectors' model does: one list of rewordings, then a verdict on each."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.candidates = json.dumps(case["candidates"])
        self.verdicts = list(case["guard_replies"])
        self.calls: Counter[str] = Counter()

    def answer(self, _model: Any, instruction: str, _text: str) -> str:
        judging = instruction.startswith("Compare")
        self.calls["guard" if judging else "generation"] += 1
        return self.verdicts.pop(0) if judging else self.candidates


def guarded_paraphrase(case: Mapping[str, Any]) -> dict[str, Any]:
    writer = Writer(case)
    one = ModelParaphrase(writer.answer, same="same_invoice")
    one.model = writer  # it is only handed on to the function above
    task = Task("task", "the request")
    variants = one.variants(task, case["n"], Random(0))  # noqa: S311 - it draws nothing
    return {
        "accepted": [
            [f"{one.name}/{row.index}", row.meta["text"], row.meta["rejected_count"]]
            for row in variants
        ],
        "generation_calls": writer.calls["generation"],
        "guard_calls": writer.calls["guard"],
    }


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("plumbline", "generate_variants"): suite_variants,
    ("plumbline", "variants_default_rng"): one_perturbation,
    ("plumbline", "paraphrase_with_guard"): guarded_paraphrase,
}
