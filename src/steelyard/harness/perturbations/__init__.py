"""Perturbations: changes to a trial that leave what is right for its task as it was.

Each is made for one study, makes its variants per task, and puts one of them in place per trial,
with all state made for that trial. Afterwards it says whether it took effect: whether the fault
fired, the reworded request was read, the decoys were looked at. Any object with ``variants`` and
``perturb`` (`steelyard.harness.protocols.Perturbation`) is a perturbation.
"""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.harness.perturbations.faults import Latency, ToolFault
from steelyard.harness.perturbations.paraphrase import ModelParaphrase, PreparedParaphrase
from steelyard.harness.perturbations.plain import Baseline, Distractor, Sampling
from steelyard.harness.perturbations.toolset import DecoyTools, ReorderedTools
from steelyard.harness.perturbations.type_noise import TypeNoise
from steelyard.harness.protocols import Perturbation

LIBRARY: Mapping[str, type[Perturbation]] = {
    "baseline": Baseline,
    "paraphrase": PreparedParaphrase,
    "distractor": Distractor,
    "tool_fault": ToolFault,
    "decoy_tools": DecoyTools,
    "sampling": Sampling,
    "type_noise": TypeNoise,
    "reordered_tools": ReorderedTools,
    "latency": Latency,
}
"""steelyard's own perturbations by the name under which a ``study.toml`` may ask for them."""

__all__ = [
    "LIBRARY",
    "Baseline",
    "DecoyTools",
    "Distractor",
    "Latency",
    "ModelParaphrase",
    "PreparedParaphrase",
    "ReorderedTools",
    "Sampling",
    "ToolFault",
    "TypeNoise",
]
