"""The questions that a ``study.toml`` and a ``pins.toml`` may ask by name.

A study's own tables (``[[report.tables]]``) and the pins of their cells (estimand ``answer``) name
a question and its parameters. Each question is a function of a study's tables that returns a tidy,
totally sorted frame, or a result that can be shown as one. Its module is imported when it is first
asked for. A new question is one line here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.names import DIMENSIONS
from steelyard.analysis.parameters import told_of_parameters
from steelyard.errors import InputError, StudyError, UnknownNameError
from steelyard.trials.strict_json import canonical_dumps

if TYPE_CHECKING:
    from steelyard.analysis.evidence import Evidence

QUESTIONS: dict[str, str] = {
    "agreement": "steelyard.analysis.agreement:agreement",
    "aligned_steps": "steelyard.analysis.consensus:aligned_steps",
    "answer_differences": "steelyard.analysis.gates_answers:answer_differences",
    "attest": "steelyard.analysis.attestation:attest",
    "behaviour_shift": "steelyard.analysis.behaviour_shift:behaviour_shift",
    "calibrated_threshold": "steelyard.analysis.stopping:calibrated_threshold",
    "certify": "steelyard.analysis.certificate:certify",
    "compare": "steelyard.analysis.comparison:compare",
    "compare_pairs": "steelyard.analysis.side_by_side:compare_pairs",
    "compare_policies": "steelyard.analysis.stopping:compare_policies",
    "conformance": "steelyard.analysis.conformance:conformance",
    "consensus": "steelyard.analysis.consensus:consensus",
    "consistency": "steelyard.analysis.consistency:consistency",
    "detection": "steelyard.analysis.detection:detection",
    "discriminate": "steelyard.analysis.score_discrimination:discriminate",
    "equivalence": "steelyard.analysis.equivalence:equivalence",
    "event_bounds": "steelyard.analysis.event_bounds:event_bounds",
    "failed_calls": "steelyard.analysis.failed_calls:failed_calls",
    "first_divergence": "steelyard.analysis.first_divergence:first_divergence",
    "gate_catches": "steelyard.analysis.gates_caught:gate_catches",
    "gate_divergence": "steelyard.analysis.gates_divergence:gate_divergence",
    "gate_matrix": "steelyard.analysis.gates_caught:gate_matrix",
    "gate_rates": "steelyard.analysis.gates:gate_rates",
    "gate_repeats": "steelyard.analysis.gates_repeats:gate_repeats",
    "last_effect": "steelyard.analysis.last_effect:last_effect",
    "manipulation": "steelyard.analysis.manipulation:manipulation",
    "paired": "steelyard.analysis.paired_arms:paired",
    "measure_summary": "steelyard.analysis.measure_summary:measure_summary",
    "pairwise": "steelyard.analysis.comparison:pairwise",
    "rates": "steelyard.analysis.rates:rates",
    "reliability": "steelyard.analysis.reliability:reliability",
    "repeat_agreement": "steelyard.analysis.repeats:repeat_agreement",
    "risk_coverage": "steelyard.analysis.risk_coverage:risk_coverage",
    "seeds": "steelyard.analysis.repeats:seeds",
    "side_by_side": "steelyard.analysis.side_by_side:side_by_side",
    "similarity": "steelyard.analysis.similarity:similarity",
    "similarity_test": "steelyard.analysis.similarity_tests:similarity_test",
    "stack_arms": "steelyard.analysis.side_by_side:stack_arms",
    "state_acceptance": "steelyard.analysis.state_acceptance:state_acceptance",
    "step_rates": "steelyard.analysis.step_rates:step_rates",
    "stop_points": "steelyard.analysis.stopping:stop_points",
    "stopping_summary": "steelyard.analysis.stopping:stopping_summary",
    "stopping_sweep": "steelyard.analysis.stopping:stopping_sweep",
    "task_verdicts": "steelyard.analysis.gates_tasks:task_verdicts",
    "weight_sensitivity": "steelyard.analysis.stopping:weight_sensitivity",
}
"""Name to ``"module:function"``."""


def find(name: str) -> Callable[..., Any]:
    """Return the function behind a question.

    Raises
    ------
    UnknownNameError
        No question of that name.
    """
    if not isinstance(name, str) or name not in QUESTIONS:
        raise UnknownNameError("question", name, QUESTIONS)
    module, _, attribute = QUESTIONS[name].partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def ask(evidence: Evidence, name: str, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return the answer to a question, computed once for equal parameters.

    Parameters
    ----------
    evidence : Evidence
        The study.
    name : str
        One of `QUESTIONS`.
    parameters : mapping of str to JSON value
        The question's parameters after the tables.

    Returns
    -------
    pandas.DataFrame
        The caller must not change it. A result that is no frame becomes one row per arm or pair
        of arms that it is about (its ``to_row``).

    Raises
    ------
    UnknownNameError
        No question of that name, or a name in the parameters that the study does not hold.
    StudyError
        Parameters that the question does not take, one that it needs and was not given, or a
        value of a kind that it cannot use.
    InputError
        A value that the question refuses.
    """
    function = find(name)
    _check_parameters(function, name, parameters)
    key = ("answer", name, canonical_dumps(dict(parameters)))
    with told_of_parameters(f"question {name!r}", parameters):
        return evidence.once(key, lambda: _frame(name, function(evidence.tables, **parameters)))


def _check_parameters(
    function: Callable[..., Any], name: str, parameters: Mapping[str, Any]
) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(None, **parameters)
    except TypeError as error:
        accepted = ", ".join(list(signature.parameters)[1:])
        raise StudyError(f"question {name!r}: {error}; it takes {accepted}") from None
    if "filters" not in signature.parameters:
        return
    for unknown in sorted(set(parameters) - set(signature.parameters) - set(DIMENSIONS)):
        raise StudyError(
            f"question {name!r} takes no {unknown!r}; it filters by {', '.join(DIMENSIONS)}"
        )


def _frame(name: str, answer: Any) -> pd.DataFrame:
    if isinstance(answer, pd.DataFrame):
        return answer.reset_index(drop=True)
    if hasattr(answer, "to_row"):
        return pd.DataFrame([answer.to_row()])
    raise InputError(f"question {name!r} gives {type(answer).__name__}, which is no table")
