"""Eligibility of policy rules: scope, authority, condition, and groups that contradict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from steelyard.evaluators.gate.enums import CheckStatus, Modality, Severity
from steelyard.evaluators.gate.results import EligibilityCheck
from steelyard.evaluators.gate.schemas import PolicyRule
from steelyard.evaluators.gate.situation import Situation


@dataclass(slots=True)
class RuleFindings:
    """What the rules amount to.

    Attributes
    ----------
    checks : list of EligibilityCheck
        One for each rule, in order, and one for each group that contradicts itself.
    eligible : list of PolicyRule
        The trusted rules in scope; only they are heard later.
    authorising : list of str
        Ids of the permissions that hold.
    authority_conflict : bool
        Whether a group holds both a permission and a prohibition or obligation that is broken.
    """

    checks: list[EligibilityCheck] = field(default_factory=list)
    eligible: list[PolicyRule] = field(default_factory=list)
    authorising: list[str] = field(default_factory=list)
    authority_conflict: bool = False


@dataclass(slots=True)
class _Group:
    """The members of a conflict group that were resolved."""

    permits: bool = False
    blockers: list[tuple[int, Severity]] = field(default_factory=list)


def rule_findings(situation: Situation, invalid: set[str]) -> RuleFindings:
    """Check every rule; see the module.

    Parameters
    ----------
    situation : Situation
        With all rules.
    invalid : set of str
        Facts of a wrong type or unit.
    """
    findings = RuleFindings()
    groups: dict[str, _Group] = {}
    for rule in situation.rules:
        status, detail, cited = _scope(situation, rule, invalid)
        matched: bool | None = None
        if status is None:
            findings.eligible.append(rule)
            status, detail, cited, matched = _decided(situation, rule, invalid)
        check = EligibilityCheck(rule.id, "policy", status, rule.authority, detail, cited)
        findings.checks.append(check)
        permits = rule.modality is Modality.PERMISSION and matched is True
        if permits:
            findings.authorising.append(rule.id)
        if rule.conflict_group and matched is not None:
            group = groups.setdefault(rule.conflict_group, _Group())
            group.permits = group.permits or permits
            if status is CheckStatus.BLOCK:
                group.blockers.append((len(findings.checks) - 1, rule.severity))
    _settle(groups, findings)
    return findings


def _scope(
    situation: Situation, rule: PolicyRule, invalid: set[str]
) -> tuple[CheckStatus | None, str, tuple[str, ...]]:
    """Return why a rule does not count, or None as the status if it does."""
    if rule.action_name is not None:
        action = situation.action
        if action is None or action.name != rule.action_name:
            return CheckStatus.NOT_APPLICABLE, f"only about {rule.action_name}", ()
    if rule.applies_when:
        status, detail, cited = _applies(situation, rule.applies_when, invalid)
        if status is not None:
            return status, detail, cited
    if rule.authority != "trusted":
        return CheckStatus.UNKNOWN, "nobody vouches for this rule", ()
    return None, "", ()


def _applies(
    situation: Situation, condition: str, invalid: set[str]
) -> tuple[CheckStatus | None, str, tuple[str, ...]]:
    """Return why a rule's own condition keeps it out, or None as the status if it does not."""
    outcome = situation.outcome(condition)
    cited = outcome.cited_fact_keys
    if not invalid.isdisjoint(cited):
        return CheckStatus.UNKNOWN, "whether it applies rests on an invalid fact", cited
    if outcome.unbound:
        return CheckStatus.MISSING, "whether it applies names something missing", cited
    if outcome.error:
        return CheckStatus.UNKNOWN, outcome.error, cited
    if not outcome.value:
        return CheckStatus.NOT_APPLICABLE, "it does not apply", ()
    return None, "", ()


def is_violated(rule: PolicyRule, matched: bool) -> bool:
    """Return whether a rule is broken, given whether its predicate holds."""
    if rule.modality is Modality.PROHIBITION:
        return matched
    return rule.modality is Modality.OBLIGATION and not matched


def _decided(
    situation: Situation, rule: PolicyRule, invalid: set[str]
) -> tuple[CheckStatus, str, tuple[str, ...], bool | None]:
    """Return status, detail, cited keys and, where it is resolved, whether the rule matches."""
    outcome = situation.outcome(rule.predicate)
    cited, matched = outcome.cited_fact_keys, outcome.value
    violated = matched is not None and is_violated(rule, matched)
    stands = violated and rule.severity is Severity.HARD_VETO
    hidden = situation.compatibility.type_error_hides_veto or not stands
    if hidden and not invalid.isdisjoint(cited):
        return CheckStatus.UNKNOWN, f"the rule {rule.id} rests on an invalid fact", cited, None
    if matched is None and outcome.unbound:
        return CheckStatus.MISSING, f"the rule {rule.id} names something missing", cited, None
    if matched is None:
        return CheckStatus.UNKNOWN, outcome.error, cited, None
    if not violated:
        return CheckStatus.PASS, "", cited, matched
    if rule.severity is Severity.CAUTION:
        return CheckStatus.REVIEW, f"the rule {rule.id} asks for caution", cited, matched
    return CheckStatus.BLOCK, f"the {rule.modality.value} {rule.id} is violated", cited, matched


def _settle(groups: dict[str, _Group], findings: RuleFindings) -> None:
    """Turn the blockers of a group that also permits into reviews, hard vetoes excepted."""
    for name, group in groups.items():
        if not (group.permits and group.blockers):
            continue
        findings.authority_conflict = True
        for index, severity in group.blockers:
            if severity is not Severity.HARD_VETO:
                check = findings.checks[index]
                findings.checks[index] = replace(
                    check, status=CheckStatus.REVIEW, detail=f"contradicted within group {name}"
                )
        findings.checks.append(
            EligibilityCheck(
                name,
                "authority",
                CheckStatus.REVIEW,
                detail=f"the rules of group {name} permit and forbid the action",
            )
        )
