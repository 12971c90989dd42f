"""The gate: eligibility first, then the evaluators, then what they amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.clean_up import cleaned
from steelyard.evaluators.gate.compatibility import DEFAULT, Compatibility
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.directive import Envelope, to_envelope
from steelyard.evaluators.gate.eligibility import Eligibility, assess
from steelyard.evaluators.gate.enums import ActionKind, Directive, Regime, Verdict
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.hearing import hear
from steelyard.evaluators.gate.probes import Probing, probe
from steelyard.evaluators.gate.regime import Classification, classify
from steelyard.evaluators.gate.registry import EVALUATORS, Evaluator
from steelyard.evaluators.gate.results import Counterfactual, EvaluatorResult
from steelyard.evaluators.gate.selection import select_evaluators
from steelyard.evaluators.gate.settings import GateSettings
from steelyard.evaluators.gate.situation import Situation, situation_of
from steelyard.evaluators.gate.verdicts import Examination, Judgement, judge


@dataclass(frozen=True, slots=True)
class Decision:
    """What the host has to do, and the graph that says why."""

    envelope: Envelope
    graph: DecisionGraph

    @property
    def directive(self) -> Directive:
        """What the host has to do."""
        return self.envelope.directive


class Gate:
    """Decides contexts; build it once and use it for many, from any thread.

    Parameters
    ----------
    settings : GateSettings, optional
        Thresholds, budgets and isolation.
    compatibility : Compatibility, optional
        Published behaviours to keep; none by default.
    evaluators : mapping of str to Evaluator, optional
        Evaluators that replace ours or join them. They run in threads where processes are asked
        for.
    """

    def __init__(
        self,
        settings: GateSettings | None = None,
        compatibility: Compatibility = DEFAULT,
        evaluators: Mapping[str, Evaluator] | None = None,
    ) -> None:
        self.settings = GateSettings() if settings is None else settings
        self.compatibility = compatibility
        self.evaluators = {**EVALUATORS, **(evaluators or {})}
        self.may_veto = {name: e.may_veto for name, e in self.evaluators.items()}

    def decide(
        self,
        context: ReasoningContext,
        allowed_tools: Sequence[str] | None = None,
        *,
        now: datetime | None = None,
    ) -> Decision:
        """Judge a context and say what the host has to do.

        Parameters
        ----------
        context : ReasoningContext
            See `read_context`.
        allowed_tools : sequence of str, optional
            Names of the actions that the host would carry out. Without it none is.
        now : datetime, optional
            When ages of evidence are measured; without it only stated ages are known.
        """
        graph = self.evaluate(context, now=now)
        return Decision(to_envelope(graph, allowed_tools, self.compatibility), graph)

    def evaluate(self, context: ReasoningContext, *, now: datetime | None = None) -> DecisionGraph:
        """Judge a context; see `decide`.

        Raises
        ------
        GateInputError
            The context is none.
        """
        situation = self._situation(context, now)
        eligibility = assess(situation)
        narrowed = _narrowed(situation, eligibility)
        if self.settings.llm.enabled:
            codes = [reasons.LLM_INVALID]
            refused = Classification(Regime.OPEN_DIALECTIC, reason_codes=codes)
            return Examination(narrowed, eligibility, refused).closed((), reasons.LLM_INVALID)
        found = classify(narrowed.context, self.settings.classifier, self.compatibility)
        if found.fast_path is not None:
            return Examination(narrowed, eligibility, found).computed()
        selection = select_evaluators(
            narrowed.context,
            found.regime,
            min_heads=self.settings.min_heads,
            known=self.evaluators,
        )
        found.reason_codes.extend(selection.reason_codes)
        if narrowed.context.rules:
            found.reason_codes.append(reasons.UNSTRUCTURED_RULE_IGNORED)
        examination = Examination(narrowed, eligibility, found)
        if not selection.independence_ok:
            return examination.closed(selection.names, reasons.SELECTOR_INDEPENDENCE)
        chosen = [self.evaluators[name] for name in selection.names]
        return self._heard(situation, examination, chosen)

    def votes(
        self, context: ReasoningContext, *, now: datetime | None = None
    ) -> dict[str, EvaluatorResult]:
        """Return the votes of all evaluators on the eligible rules, whatever the regime."""
        situation = self._situation(context, now)
        narrowed = _narrowed(situation, assess(situation))
        hearing = hear(narrowed, list(self.evaluators.values()))
        penalty = self.settings.uncited_penalty
        return cleaned(hearing.results, narrowed, self.may_veto, penalty)[0]

    def _situation(self, context: Any, now: datetime | None) -> Situation:
        if not isinstance(context, ReasoningContext):
            kind = type(context).__name__
            raise GateInputError(f"a decision needs a ReasoningContext, not a {kind}")
        return situation_of(context, self.settings, self.compatibility, now)

    def _heard(
        self, situation: Situation, examination: Examination, chosen: Sequence[Evaluator]
    ) -> DecisionGraph:
        narrowed, classification = examination.situation, examination.classification
        hearing = hear(narrowed, chosen)
        judgement = judge(narrowed, classification, hearing, self.may_veto)
        codes = list(judgement.ruling.review_reasons)
        counterfactuals: tuple[Counterfactual, ...] = ()
        if hearing.elapsed_ms >= self.settings.pool_budget_ms:
            codes.append(reasons.COUNTERFACTUAL_BUDGET)
        elif judgement.contested or judgement.vetoed:
            approval = _Approval(self, situation, classification, chosen)
            counterfactuals = self._probed(narrowed, chosen, judgement, approval)
            if judgement.contested and counterfactuals and not counterfactuals[0].key:
                codes.append(reasons.COUNTERFACTUAL_NO_SCHEMA)
        return examination.graph(judgement, counterfactuals, codes)

    def _probed(
        self,
        situation: Situation,
        chosen: Sequence[Evaluator],
        judgement: Judgement,
        approval: _Approval,
    ) -> tuple[Counterfactual, ...]:
        approved = None if self.compatibility.unproven_recovery else approval
        delta_max = judgement.contradiction.delta_max
        return probe(
            Probing(situation, chosen, judgement.results, delta_max, judgement.tau, approved)
        )


@dataclass(frozen=True, slots=True)
class _Approval:
    """Whether the gate would approve with one fact changed: eligibility, votes and lattice."""

    gate: Gate
    situation: Situation
    classification: Classification
    chosen: Sequence[Evaluator]

    def __call__(self, key: str, value: Any) -> bool:
        changed = self.situation.with_fact(key, value)
        eligibility = assess(changed)
        if eligibility.assessment.directive is not None:
            return False
        action = changed.action
        acts = action is not None and action.kind is not ActionKind.ASSERTION
        granted = eligibility.authorising_rule_ids or self.gate.compatibility.default_allow
        if acts and not granted:
            return False
        narrowed = _narrowed(changed, eligibility)
        hearing = hear(narrowed, self.chosen)
        ruling = judge(narrowed, self.classification, hearing, self.gate.may_veto).ruling
        return ruling.verdict is Verdict.APPROVE


def _narrowed(situation: Situation, eligibility: Eligibility) -> Situation:
    """Return the situation with the eligible rules only, in the context as well."""
    rules = eligibility.eligible_rules
    if len(rules) == len(situation.context.policy_rules):
        return situation
    context = situation.context.model_copy(update={"policy_rules": list(rules)})
    return replace(situation, context=context, rules=rules)
