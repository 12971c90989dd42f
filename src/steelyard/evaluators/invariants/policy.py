"""A policy: the rules of a domain, checked together and reported by severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from steelyard.errors import InputError
from steelyard.evaluators.invariants.reading import PLUMBLINE, STEELYARD, Case, Reading
from steelyard.evaluators.invariants.rule import Context, Rule, Violation
from steelyard.trials.argument_schema import SEVERITIES
from steelyard.trials.model import Trial

Verdict = Literal["upheld", "violated", "not assessable"]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What came of checking one rule on one trial.

    Parameters
    ----------
    rule : Rule
        The rule, which applies to the trial's task.
    verdict : {"upheld", "violated", "not assessable"}
        ``"not assessable"`` where the rule is about arguments that were not recorded.
    violation : Violation or None
        The first offence, where there is one.
    """

    rule: Rule
    verdict: Verdict
    violation: Violation | None = None


class Policy:
    """Rules in the order in which they are to be checked.

    Parameters
    ----------
    rules : iterable of Rule
        At least one.
    compatibility : {"plumbline"}, optional
        Read trials as Plumbline 0.3.0 does (`steelyard.evaluators.invariants.PLUMBLINE`), and
        accept what it accepts: rules that share an id, and severities of any name.

    Raises
    ------
    InputError
        No rules, two rules with one id, an unknown severity.
    """

    def __init__(
        self, rules: Iterable[Rule], *, compatibility: Literal["plumbline"] | None = None
    ) -> None:
        self.rules = tuple(rules)
        if compatibility not in (None, "plumbline"):
            raise InputError(
                f"compatibility is {compatibility!r}; accepted are 'plumbline' and None"
            )
        self.compatibility = compatibility
        self.reading: Reading = STEELYARD if compatibility is None else PLUMBLINE
        if not self.rules:
            raise InputError("a policy needs at least one rule")
        if compatibility is None:
            self._check_rules()

    def _check_rules(self) -> None:
        for rule in self.rules:
            if rule.severity not in SEVERITIES:
                raise InputError(
                    f"rule {rule.id}: severity is {rule.severity!r}; accepted are "
                    + ", ".join(SEVERITIES)
                )
        twice = [name for name, count in Counter(r.id for r in self.rules).items() if count > 1]
        if twice:
            raise InputError(
                f"{len(twice)} rule ids occur more than once ({', '.join(sorted(twice))}); their "
                "counts would be merged, so give one of each pair an id of its own"
            )

    def applicable(self, context: Context) -> tuple[Rule, ...]:
        """Return the rules that apply to a task with this context, in order."""
        return tuple(rule for rule in self.rules if rule.applies(context))

    def assess(self, trial: Trial, context: Context) -> tuple[Assessment, ...]:
        """Check every applicable rule.

        Parameters
        ----------
        trial : Trial
            The trial.
        context : mapping
            What the system of record says about the trial's task. A task that is not known has
            no context; do not pass an empty one in its place, because most rules would then not
            apply and the trial would look conformant.

        Returns
        -------
        tuple of Assessment
            One per applicable rule, in the order of the policy.
        """
        case = Case(trial, context, self.reading)
        return tuple(_assess(rule, case) for rule in self.applicable(context))

    def violations(self, trial: Trial, context: Context) -> tuple[Violation, ...]:
        """Return the violations of the applicable rules, the most severe first.

        Within a severity they stand in the order of the policy.
        """
        found = [a.violation for a in self.assess(trial, context) if a.violation is not None]
        return tuple(sorted(found, key=lambda violation: violation.severity_rank))


def _assess(rule: Rule, case: Case) -> Assessment:
    if not rule.assessable(case):
        return Assessment(rule, "not assessable")
    violation = rule.check(case)
    return Assessment(rule, "upheld" if violation is None else "violated", violation)
