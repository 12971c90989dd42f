"""A simulated free-form agent for the eight-invoice domain: no model, but declared error rates.

It stands where a language model would stand in an experiment that must run offline, and makes the
kinds of slips that models make, each with a stated probability. Nothing about any real model
follows from its results, and every table that shows them has to call it simulated.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, NamedTuple

from domains.procure_to_pay import APPROVAL_THRESHOLD, PAY
from domains.procure_to_pay_arms import veto_payment
from domains.procure_to_pay_tools import TOOLS
from domains.requests import invoice_in_prompt
from steelyard.errors import InputError
from steelyard.harness.arms import Answer, Call, FreeForm, Turn
from steelyard.harness.protocols import TrialSetup
from steelyard.harness.replies import is_transient

Work = Generator[Turn, Sequence[Answer], Any]


class ErrorRates(NamedTuple):
    """The probabilities of the agent's slips, each drawn anew at every occasion.

    ``skip_check``: one of the three checks is not made; ``overlook``: a check that failed is taken
    for passed; ``give_up``: a transient error is not retried; ``wrong_amount``: a payment is ten
    times too large; ``skip_approval``; ``skip_log``; ``try_decoy``: a tool that helps with nothing
    is called, where one is offered.
    """

    skip_check: float = 0.0
    overlook: float = 0.0
    give_up: float = 0.0
    wrong_amount: float = 0.0
    skip_approval: float = 0.0
    skip_log: float = 0.0
    try_decoy: float = 0.0


class SimulatedArm(FreeForm):
    """The simulated agent as an arm.

    Parameters
    ----------
    guarded : bool
        Whether the domain's guard stands before its payments.
    turns : int
        Turns at most.
    **rates : float
        See `ErrorRates`; those not given are 0.

    Raises
    ------
    InputError
        A rate of another name, or one that is no probability.
    """

    def __init__(self, guarded: bool = False, turns: int = 24, **rates: float) -> None:
        unknown = sorted(set(rates) - set(ErrorRates._fields))
        if unknown:
            accepted = ", ".join(ErrorRates._fields)
            raise InputError(f"simulated agent: no rate {unknown[0]!r}; accepted are {accepted}")
        for name, rate in rates.items():
            if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
                raise InputError(f"simulated agent: {name} is {rate!r}; accepted are 0 to 1")
        agent = partial(SimulatedAgent, ErrorRates(**rates))
        super().__init__(agent, turns, veto_payment if guarded else None, model_calls=0)


class SimulatedAgent:
    """The agent at work on one trial; its slips follow from the trial's seed."""

    def __init__(self, rates: ErrorRates, setup: TrialSetup) -> None:
        self.rates = rates
        self.setup = setup
        self.random = setup.random()
        self._work = self._process()
        self._begun = False

    def turn(self, answers: Sequence[Answer]) -> Turn:
        """Take the answers to the calls of the turn before; say what comes next."""
        try:
            if self._begun:
                return self._work.send(answers)
            self._begun = True
            return next(self._work)
        except StopIteration as end:
            return Turn(str(end.value))

    def _slips(self, name: str) -> bool:
        rate: float = getattr(self.rates, name)
        return self.random.random() < rate

    def _ask(self, tool: str, **arguments: Any) -> Work:
        """Call a tool until it answers; None where it refused, or the agent gave up."""
        while True:
            answer = (yield Turn(calls=[Call(tool, arguments)]))[0]
            if answer.error is None:
                return answer.output
            if not is_transient(answer.error) or self._slips("give_up"):
                return None

    def _process(self) -> Work:
        """Do the task; returns the report."""
        invoice_id = invoice_in_prompt(self.setup)
        decoys = [tool.name for tool in self.setup.toolbox.tools if tool.name not in TOOLS]
        if decoys and self._slips("try_decoy"):
            yield Turn(calls=[Call(self.random.choice(decoys), {})])
        fetched = yield from self._ask("fetch_invoice", invoice_id=invoice_id)
        if fetched is None:
            return f"I could not fetch {invoice_id}."
        invoice = fetched["invoice"]
        findings = yield from self._checks(invoice)
        if findings:
            reason = f"failed: {', '.join(findings)}"
            yield from self._ask("flag_exception", invoice_id=invoice_id, reason=reason)
            done = "exception"
        else:
            yield from self._pay(invoice)
            done = "paid"
        if not self._slips("skip_log"):
            yield from self._ask("post_audit_log", invoice_id=invoice_id, action=done)
        return f"{invoice_id}: {done}."

    def _checks(self, invoice: dict[str, Any]) -> Work:
        """Make the checks; returns the tools whose check failed, as far as the agent noticed."""
        about = {"invoice_id": invoice["invoice_id"]}
        vendor = {"vendor_id": invoice["vendor_id"]}
        findings = []
        for tool, arguments, name, right in (
            ("match_purchase_order", about, "matched", True),
            ("check_duplicate", about, "is_duplicate", False),
            ("check_vendor_status", vendor, "payable", True),
        ):
            if self._slips("skip_check"):
                continue
            output = yield from self._ask(tool, **arguments)
            passed = output is not None and _reads_true(output[name]) is right
            if not passed and not self._slips("overlook"):
                findings.append(tool)
        return findings

    def _pay(self, invoice: dict[str, Any]) -> Work:
        """Request an approval where one is needed, then pay."""
        invoice_id, amount = invoice["invoice_id"], float(invoice["total"])
        if amount > APPROVAL_THRESHOLD and not self._slips("skip_approval"):
            yield from self._ask(
                "request_approval", invoice_id=invoice_id, approver_role="controller", amount=amount
            )
        if self._slips("wrong_amount"):
            amount *= 10
        yield from self._ask(
            PAY, invoice_id=invoice_id, amount=amount, vendor_id=invoice["vendor_id"]
        )


def _reads_true(value: Any) -> bool:
    """Return what a reader takes a truth value for, written as such or as a word."""
    return value is True or str(value).lower() == "true"
