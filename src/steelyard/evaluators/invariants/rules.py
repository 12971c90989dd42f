"""Rules over the steps of a trial: what an agent must do, must not do, and in which order.

A rule looks at calls that succeeded. A call that failed did not happen as far as a rule is
concerned: it satisfies nothing and breaks nothing. A rule that is broken reports its first
offence, with the step at which it stands.

Six rules, one vocabulary::

    MustCall("check_duplicate")
    MustNotCall("schedule_payment", when=ContextFlag("should_pay", False))
    Ordering("request_approval", "schedule_payment", when=ContextFlag("needs_approval"))
    CallAtMost("schedule_payment", 1)
    ArgumentEquals("schedule_payment", "amount", from_context="expected_amount", tolerance=0.005)
    ArgumentSatisfies("request_approval", has_authority, id="approval_authority")

The *context* of a task is what the system of record says about it: whether it should be paid, how
much, whether it needs approval. A rule is checked only where it applies (`Rule.applies`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from steelyard.errors import InputError
from steelyard.evaluators.invariants.reading import Call, Case
from steelyard.evaluators.invariants.rule import Context, Rule, Violation
from steelyard.trials.tokens import canonical_text

Predicate: TypeAlias = Callable[[Mapping[str, Any], Context], bool]


@dataclass(frozen=True)
class MustCall(Rule):
    """The tool is called successfully at least once."""

    tool: str

    def _default_id(self) -> str:
        return f"must_call:{self.tool}"

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation has no step, only the name that is lacking."""
        if case.calls(self.tool):
            return None
        failed = sum(s.failed and s.name == self.tool for s in case.trial.control_steps)
        tries = f" ({failed} failed)" if failed else ""
        return self._missing(self.tool, f"{self.tool} was never called successfully{tries}")


@dataclass(frozen=True)
class MustNotCall(Rule):
    """The tool is never called successfully."""

    tool: str

    def _default_id(self) -> str:
        return f"must_not_call:{self.tool}"

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation stands at the first call."""
        calls = case.calls(self.tool)
        return self._at(calls[0], f"{self.tool} was called") if calls else None


@dataclass(frozen=True)
class Ordering(Rule):
    """No successful call of ``then`` before the first successful call of ``first``.

    Parameters
    ----------
    first, then : str
        Tool names. A trial without ``then`` upholds the rule, and so does one rule with twice
        the same name.
    same : str, optional
        An argument that ties the two together: each call of ``then`` needs an earlier call of
        ``first`` with the same value of it. Without it a check on one invoice licenses the
        payment of another.
    """

    first: str
    then: str
    same: str | None = None

    def _default_id(self) -> str:
        suffix = f" ({self.same})" if self.same else ""
        return f"ordering:{self.first}-before-{self.then}{suffix}"

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation stands at the call of ``then`` that came too early."""
        if self.first == self.then:
            return None
        first_seen: dict[str | None, int] = {}
        for call in case.calls(self.first):
            first_seen.setdefault(self._tie(call), call.position)
        for call in case.calls(self.then):
            tie = self._tie(call)
            if tie is None or first_seen.get(tie, math.inf) > call.position:
                return self._at(call, self._too_early(call))
        return None

    def reads_arguments_of(self) -> tuple[str, ...]:
        """Return the two tools that ``same`` ties together, or none."""
        return (self.first, self.then) if self.same else ()

    def _tie(self, call: Call) -> str | None:
        """Return what two calls must share: nothing in particular, or the argument ``same``."""
        if self.same is None:
            return ""
        if self.same not in call.arguments:
            return None
        return canonical_text(call.arguments[self.same])

    def _too_early(self, call: Call) -> str:
        tie = f" with {self.same}={call.arguments.get(self.same)!r}" if self.same else ""
        return f"{self.then} was called before any successful {self.first}{tie}"


@dataclass(frozen=True)
class CallAtMost(Rule):
    """The tool is called successfully at most ``limit`` times."""

    tool: str
    limit: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise InputError(
                f"call-at-most rule of {self.tool}: limit is {self.limit!r}; accepted are "
                "integers from 0"
            )
        super().__post_init__()

    def _default_id(self) -> str:
        return f"at_most:{self.tool}"

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation stands at the first call beyond the limit."""
        calls = case.calls(self.tool)
        if len(calls) <= self.limit:
            return None
        return self._at(
            calls[self.limit], f"{self.tool} was called {len(calls)} times; allowed: {self.limit}"
        )


@dataclass(frozen=True)
class ArgumentEquals(Rule):
    """In every successful call of the tool, an argument has the value that the context gives.

    Parameters
    ----------
    tool, argument : str
        Which argument of which tool.
    from_context : str
        The context's key that holds the expected value. The rule applies where the context has
        the key, also with the value null.
    tolerance : float, default 0
        Absolute, for numbers.
    policy : str, optional
        How the two are compared (`steelyard.trials.argument_schema.FieldPolicy`). Default:
        ``numeric`` with a tolerance, else ``exact``.
    """

    tool: str
    argument: str
    from_context: str
    tolerance: float = 0.0
    policy: str | None = None

    def _default_id(self) -> str:
        return f"arg_equals:{self.tool}.{self.argument}"

    def applies(self, context: Context) -> bool:
        """Return whether the context has the key and ``when``, if given, holds."""
        return self.from_context in context and super().applies(context)

    def reads_arguments_of(self) -> tuple[str, ...]:
        """Return the tool."""
        return (self.tool,)

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation stands at the first call with another value."""
        expected = case.context.get(self.from_context)
        for call in case.calls(self.tool):
            if self.argument not in call.arguments:
                return self._at(call, f"{self.tool} was called without {self.argument}")
            got = call.arguments[self.argument]
            if not case.reading.equal(expected, got, self.tolerance, self.policy):
                return self._at(
                    call, f"{self.tool}.{self.argument} is {got!r}; expected is {expected!r}"
                )
        return None


@dataclass(frozen=True)
class ArgumentSatisfies(Rule):
    """In every successful call of the tool, the arguments satisfy a predicate.

    Parameters
    ----------
    tool : str
        The tool.
    predicate : callable
        Takes the arguments and the context and returns whether they are acceptable. One that
        raises has not accepted them: the call counts as an offence and the exception is its
        detail.
    """

    tool: str
    predicate: Predicate
    severity: str = field(default="high", kw_only=True)

    def _default_id(self) -> str:
        return "arg_satisfies"

    def reads_arguments_of(self) -> tuple[str, ...]:
        """Return the tool."""
        return (self.tool,)

    def check(self, case: Case) -> Violation | None:
        """See `Rule.check`; a violation stands at the first call that is not acceptable."""
        for call in case.calls(self.tool):
            try:
                accepted = bool(self.predicate(call.arguments, case.context))
            except Exception as error:  # a predicate is the user's code and may raise anything
                reason = f"{type(error).__name__}: {error}"
                if case.reading.predicate_errors == "raise":
                    raise InputError(
                        f"rule {self.id}: the predicate failed on step {call.position} of trial "
                        f"{case.trial.label} with {reason}"
                    ) from error
                return self._at(call, f"{self.id} could not be decided: {reason}")
            if not accepted:
                return self._at(call, f"{self.tool} was called against {self.id}")
        return None
