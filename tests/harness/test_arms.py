"""Arms: the executor's procedure with its failures, the free-form loop, the guard."""

from __future__ import annotations

import pytest

from invoice_domains import (
    accounts_payable_arms,
    accounts_payable_domain,
    procure_to_pay_arms,
    procure_to_pay_domain,
)
from steelyard.errors import InputError
from steelyard.harness.arms import (
    Call,
    FreeForm,
    InterpretationError,
    PlanExecute,
    Seen,
    Turn,
    TurnLimitError,
)
from steelyard.harness.perturbations.faults import Fault
from steelyard.harness.protocols import Task, TrialSetup
from steelyard.harness.replies import is_transient, json_in, texts_in
from steelyard.harness.tools import Tool, Toolbox, ToolError
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import UnreadableArguments

SMALL = procure_to_pay_domain.ProcureToPay()
LARGE = accounts_payable_domain.AccountsPayable()


def setup_of(domain, task_id):
    task = next(task for task in domain.tasks() if task.id == task_id)
    world = domain.world(task)
    key = TrialKey("arm", task.id, "baseline", "0", 0)
    return world, TrialSetup(key, task, Toolbox(world.tools()))


def echo_setup(echo=lambda text: text):
    tool = Tool("echo", "Echo.", {"type": "object"}, echo)
    task = Task("t", "say it")
    return TrialSetup(TrialKey("a", "t", "baseline", "0", 0), task, Toolbox([tool]))


@pytest.mark.parametrize(
    ("domain", "executor"),
    [(SMALL, procure_to_pay_arms.Executor()), (LARGE, accounts_payable_arms.Executor())],
    ids=["procure_to_pay", "accounts_payable"],
)
def test_an_undisturbed_executor_does_every_task_right(domain, executor):
    for task in domain.tasks():
        world, setup = setup_of(domain, task.id)
        executor.run(setup)
        state = world.state()
        truth = domain.truth(task)
        assert state["paid"] is truth["should_pay"], task.id
        assert state["entries_about_others"] == 0
        assert setup.toolbox.steps[-1].kind == "final"


@pytest.mark.parametrize(
    ("tool", "in_state", "says"),
    [
        ("request_approval", {"paid": False, "exception_raised": True}, "held: no approval"),
        ("schedule_payment", {"paid": False, "exception_raised": False}, "paid, but that failed"),
    ],
)
def test_a_closing_step_that_failed_is_heeded(tool, in_state, says):
    world, setup = setup_of(SMALL, "INV-7009")
    Fault(setup, tool, "503", range(1, 10))
    procure_to_pay_arms.Executor(retries=3).run(setup)
    assert {name: world.state()[name] for name in in_state} == in_state
    assert says in setup.toolbox.steps[-1].output


def test_a_hold_that_failed_is_not_reported_as_made():
    world, setup = setup_of(SMALL, "INV-7003")
    Fault(setup, "flag_exception", "504", range(1, 10))
    procure_to_pay_arms.Executor().run(setup)
    assert world.state()["exception_raised"] is False
    assert "that failed" in setup.toolbox.steps[-1].output


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("calculate_payable_amount", "PRICE_VARIANCE"),
        ("lookup_approval_requirement", "MISSING_APPROVAL"),
        ("request_approval", "MISSING_APPROVAL"),
    ],
)
def test_an_invoice_whose_amount_or_approval_is_not_known_is_held(tool, reason):
    world, setup = setup_of(LARGE, "INV-8001")
    Fault(setup, tool, "503", range(1, 10))
    accounts_payable_arms.Executor(retries=1).run(setup)
    assert world.state()["paid"] is False
    assert world.state()["reason_codes"] == [reason]


def test_a_retry_is_a_step_of_its_own_and_ends_at_a_lasting_error():
    _, setup = setup_of(SMALL, "INV-7002")
    Fault(setup, "check_duplicate", "503 overloaded", [1, 2])
    Fault(setup, "check_vendor_status", "no permission", [1, 2])
    procure_to_pay_arms.Executor(retries=3).run(setup)
    assert setup.toolbox.calls["check_duplicate"] == 3
    assert setup.toolbox.calls["check_vendor_status"] == 1


def test_a_request_that_names_no_single_invoice_fails_the_trial_after_an_answer():
    _, setup = setup_of(SMALL, "INV-7002")
    setup.prompt = "Please process INV-7002 or INV-7003."
    with pytest.raises(InterpretationError, match="invoice_id"):
        procure_to_pay_arms.Executor().run(setup)
    assert [step.kind for step in setup.toolbox.steps] == ["decision", "final"]


@pytest.mark.parametrize("retries", [-1, 1.5, True])
def test_retries_are_whole_numbers(retries):
    with pytest.raises(InputError, match="retries"):
        procure_to_pay_arms.Executor(retries=retries)


class Talker:
    """Calls one tool twice, says something in between, then is done."""

    def __init__(self, _setup):
        self.lines = [
            Turn(calls=[Call("echo", {"text": "a"})]),
            Turn("once more", [Call("echo", UnreadableArguments("{", "not JSON"))]),
            Turn("done"),
        ]
        self.answers = []

    def turn(self, answers):
        self.answers.append(list(answers))
        return self.lines.pop(0)


def test_a_free_form_agent_gets_the_answers_to_its_calls():
    agents = []

    def agent_of(setup):
        agents.append(Talker(setup))
        return agents[-1]

    setup = echo_setup()
    FreeForm(agent_of, turns=3).run(setup)
    assert [(step.kind, step.name) for step in setup.toolbox.steps] == [
        ("tool_call", "echo"),
        ("message", "agent"),
        ("tool_call", "echo"),
        ("final", "respond"),
    ]
    assert agents[0].answers[1][0].output == "a"
    assert "not JSON" in agents[0].answers[2][0].error


def test_an_agent_that_is_not_done_after_its_turns_has_failed():
    with pytest.raises(TurnLimitError, match="after 2 turns"):
        FreeForm(Talker, turns=2).run(echo_setup())


def test_a_defect_of_a_tool_is_no_answer_to_the_agent():
    def broken(text):
        raise RuntimeError(text)

    with pytest.raises(RuntimeError):
        FreeForm(Talker).run(echo_setup(broken))


def test_arms_say_what_they_wait_for():
    assert (procure_to_pay_arms.Executor().kind, procure_to_pay_arms.Executor().model_calls) == (
        "cpu",
        0,
    )
    assert (FreeForm(Talker, 5).kind, FreeForm(Talker, 5).model_calls) == ("model", 5)
    assert FreeForm(Talker, 5, model_calls=0).kind == "cpu"

    def asks_a_model(setup):
        return "INV-7002"

    asks_a_model.model_calls = 1
    assert PlanExecute(lambda _ask, _subject: "", asks_a_model, "invoice_id").kind == "model"


CHECKS = ("match_purchase_order", "check_duplicate")


def guarded(domain, arms, task_id, calls):
    world, setup = setup_of(domain, task_id)

    class Scripted:
        def __init__(self, _setup):
            self.turns = [Turn(calls=calls), Turn("done")]

        def turn(self, _answers):
            return self.turns.pop(0)

    FreeForm(Scripted, veto=arms.veto_payment, model_calls=0).run(setup)
    return world, [step for step in setup.toolbox.steps if step.name.startswith("blocked:")]


def test_checks_of_one_invoice_do_not_license_a_payment_of_another():
    checks = [Call(tool, {"invoice_id": "INV-7002"}) for tool in CHECKS]
    vendor = Call("check_vendor_status", {"vendor_id": "V-100"})
    payment = {"invoice_id": "INV-7006", "amount": 7750.0, "vendor_id": "V-100"}
    calls = [*checks, vendor, Call("schedule_payment", payment)]
    world, blocked = guarded(SMALL, procure_to_pay_arms, "INV-7006", calls)
    assert blocked[0].output["code"] == "missing:match_purchase_order,check_duplicate"
    assert world.state()["paid"] is False


@pytest.mark.parametrize(
    ("task_id", "vendor", "amount", "code"),
    [
        ("INV-8011", "V-107", 10062.32, "fx_variance"),
        ("INV-8015", "V-103", 13030.0, "unauthorised_freight"),
    ],
)
def test_the_guard_asks_for_exchange_rate_and_freight_itself(task_id, vendor, amount, code):
    about = {"invoice_id": task_id}
    calls = [
        *(Call(tool, about) for tool in (*CHECKS, "calculate_payable_amount")),
        Call("check_vendor_status", {"vendor_id": vendor}),
        Call("request_approval", {**about, "approver_role": "cfo", "amount_gbp": amount}),
        Call("schedule_payment", {**about, "amount_gbp": amount, "vendor_id": vendor}),
    ]
    world, blocked = guarded(LARGE, accounts_payable_arms, task_id, calls)
    assert [step.output["code"] for step in blocked] == [code]
    assert world.state()["paid"] is False


@pytest.mark.parametrize("amount", [float("nan"), "4500", None, 4500.01])
def test_the_guard_lets_no_other_amount_through(amount):
    about = {"invoice_id": "INV-7002"}
    calls = [
        *(Call(tool, about) for tool in CHECKS),
        Call("check_vendor_status", {"vendor_id": "V-101"}),
    ]
    payment = Call("schedule_payment", {**about, "amount": amount, "vendor_id": "V-101"})
    _, setup = setup_of(SMALL, "INV-7002")
    seen = Seen([(call, setup.call(call.tool, call.arguments)) for call in calls])
    refusal = procure_to_pay_arms.veto_payment(setup, payment, seen)
    assert refusal.code == "amount_mismatch"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("HTTP 503", True),
        ("INV-5031 not found", False),
        ("vendor V-503 not found", False),
        ("5030 rows", False),
        ("timed out after 30 s", True),
    ],
)
def test_a_number_within_an_id_is_no_outage(error, expected):
    assert is_transient(error) is expected


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": 1, "a": 2}', "[" * 100_000])
def test_what_is_no_json_is_none(text):
    assert json_in(text) is None
    assert texts_in(text) == []


def test_tool_errors_of_other_kinds_are_passed_to_the_agent():
    def refuse(text):
        raise ToolError("closed on Sundays")

    setup = echo_setup(refuse)
    FreeForm(Talker, turns=3).run(setup)
    assert setup.toolbox.steps[0].error == "closed on Sundays"
