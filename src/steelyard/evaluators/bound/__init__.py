"""BOUND: a bounded-utility policy that says when a state is good enough.

S = wA A + wI I - wR R - wC C, held against a threshold: ACCEPT, RETRY, REPLAN or ROLLBACK.
Deterministic, without a model and without a network. Scores are given, or follow from workflow
signals or from a contract and the evidence for it.
"""

from __future__ import annotations

from steelyard.evaluators.bound.arrays import (
    ScoreArrays,
    accepted_states,
    decision_codes,
    score_arrays,
    utility_arrays,
)
from steelyard.evaluators.bound.contract import evaluate_step, score_contract
from steelyard.evaluators.bound.contract_quality import (
    LIMITATIONS,
    CorpusQuality,
    QualityReport,
    corpus_quality,
    plan_quality,
    quality_note,
    step_quality,
)
from steelyard.evaluators.bound.contracts import (
    AcceptanceCheck,
    BoundPlan,
    CheckEvidence,
    ExecutionEvidence,
    RiskCheck,
    StepBudget,
    StepContract,
)
from steelyard.evaluators.bound.model import EvidenceError, ModelError
from steelyard.evaluators.bound.models import (
    DECISIONS,
    DIMENSIONS,
    Action,
    BoundCriteria,
    BoundWeights,
    EvaluationResult,
    EvaluationScores,
    ScoreEvidence,
)
from steelyard.evaluators.bound.policy import (
    ActionMismatchError,
    Components,
    StaticScores,
    components,
    decide,
    evaluate,
)
from steelyard.evaluators.bound.replay import (
    Experiment,
    check_trajectory,
    run_experiment,
    summary_text,
)
from steelyard.evaluators.bound.signals import (
    SIGNAL_NAMES,
    AgentStep,
    AgentTrajectory,
    CodingWorkflowSignals,
    WorkflowNormalization,
)
from steelyard.evaluators.bound.steering import steering_text
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.evaluators.bound.workflow import Scored, evaluate_workflow, score_workflow

__all__ = [
    "DECISIONS",
    "DIMENSIONS",
    "LIMITATIONS",
    "SIGNAL_NAMES",
    "AcceptanceCheck",
    "Action",
    "ActionMismatchError",
    "AgentStep",
    "AgentTrajectory",
    "BoundCriteria",
    "BoundPlan",
    "BoundWeights",
    "CheckEvidence",
    "CodingWorkflowSignals",
    "Components",
    "CorpusQuality",
    "EvaluationResult",
    "EvaluationScores",
    "EvidenceError",
    "ExecutionEvidence",
    "Experiment",
    "ModelError",
    "QualityReport",
    "RiskCheck",
    "ScoreArrays",
    "ScoreEvidence",
    "Scored",
    "StaticScores",
    "StepBudget",
    "StepContract",
    "StopPolicy",
    "WorkflowNormalization",
    "accepted_states",
    "check_trajectory",
    "components",
    "corpus_quality",
    "decide",
    "decision_codes",
    "evaluate",
    "evaluate_step",
    "evaluate_workflow",
    "plan_quality",
    "quality_note",
    "read_policy",
    "run_experiment",
    "score_arrays",
    "score_contract",
    "score_workflow",
    "steering_text",
    "step_quality",
    "summary_text",
    "utility_arrays",
]
