"""The two invoice domains: worlds of their own, truths from the tools, tools that refuse."""

from __future__ import annotations

import pytest

from invoice_domains import (
    accounts_payable,
    accounts_payable_domain,
    procure_to_pay,
    procure_to_pay_domain,
)
from steelyard.harness.tools import Toolbox, ToolError
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Trial

AccountsPayable = accounts_payable_domain.AccountsPayable
ProcureToPay = procure_to_pay_domain.ProcureToPay
DOMAINS = ((ProcureToPay(), procure_to_pay), (AccountsPayable(), accounts_payable))
TOOL_COUNTS = {"procure_to_pay": 8, "accounts_payable": 16}
UNTOUCHED = {"procure_to_pay": "amount_paid", "accounts_payable": "amount_paid_gbp"}


def toolbox_of(domain):
    world = domain.world(domain.tasks()[0])
    return world, Toolbox(world.tools())


@pytest.mark.parametrize(("domain", "policy"), DOMAINS, ids=lambda one: one.__class__.__name__)
def test_truths_from_the_tools_are_those_of_the_table(domain, policy):
    assert [task.id for task in domain.tasks()] == list(policy.INVOICES)
    for task in domain.tasks():
        truth = domain.truth(task)
        assert {name: truth[name] for name in policy.CONTEXTS[task.id]} == policy.CONTEXTS[task.id]


@pytest.mark.parametrize("domain", [domain for domain, _ in DOMAINS], ids=lambda one: one.name)
def test_a_world_starts_untouched_and_shares_nothing(domain):
    task = domain.tasks()[0]
    first, second = domain.world(task), domain.world(task)
    before = dict(second.state())
    Toolbox(first.tools()).call("post_audit_log", {"invoice_id": task.id, "action": "seen"})
    reason = {"reason_code": "NO_PO"} if domain.name == "accounts_payable" else {"reason": "why"}
    Toolbox(first.tools()).call("flag_exception", {"invoice_id": task.id, **reason})
    assert first.state()["exception_raised"] is True
    assert second.state() == before
    assert before[UNTOUCHED[domain.name]] == 0
    first.close()


@pytest.mark.parametrize("domain", [domain for domain, _ in DOMAINS], ids=lambda one: one.name)
def test_each_tool_is_described_and_takes_what_it_describes(domain):
    _, toolbox = toolbox_of(domain)
    assert len(toolbox.tools) == TOOL_COUNTS[domain.name]
    for tool in toolbox.tools:
        assert tool.description.endswith(".")
        assert tool.parameters["required"]
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])


@pytest.mark.parametrize("domain", [domain for domain, _ in DOMAINS], ids=lambda one: one.name)
@pytest.mark.parametrize("value", [["INV-7002"], {"id": 1}, 2**70, None, 7002])
def test_an_id_that_is_no_text_is_refused_by_the_tool(domain, value):
    _, toolbox = toolbox_of(domain)
    with pytest.raises(ToolError, match=r"not found|bad arguments"):
        toolbox.call("fetch_invoice", {"invoice_id": value})


@pytest.mark.parametrize("amount", ["4500", float("nan"), True, None])
def test_an_amount_that_is_no_number_is_refused_and_leaves_no_payment(amount):
    world, toolbox = toolbox_of(ProcureToPay())
    payment = {"invoice_id": "INV-7002", "vendor_id": "V-101", "amount": amount}
    with pytest.raises((ToolError, ValueError)):
        toolbox.call("schedule_payment", payment)
    assert world.state()["payment_count"] == 0


def test_nothing_is_written_about_an_invoice_that_is_not_on_file():
    world, toolbox = toolbox_of(ProcureToPay())
    payment = {"invoice_id": "INV-9999", "vendor_id": "V-101", "amount": 1.0}
    with pytest.raises(ToolError, match="not found: invoice 'INV-9999'"):
        toolbox.call("schedule_payment", payment)
    assert world.state()["entries_about_others"] == 0


def test_history_is_no_work_of_the_agent():
    world, _ = toolbox_of(ProcureToPay())
    assert world.ledger("INV-7001")["paid"] is False


def test_a_payment_for_another_invoice_is_seen():
    domain = ProcureToPay()
    task = domain.tasks()[0]
    world = domain.world(task)
    Toolbox(world.tools()).call(
        "schedule_payment", {"invoice_id": "INV-7006", "vendor_id": "V-100", "amount": 7750.0}
    )
    trial = Trial(TrialKey("a", task.id, "baseline", "0", 0))
    measures = domain.measures(trial, world.state(), domain.truth(task))
    assert measures["others_untouched"] == 0.0
    assert measures["outcome_correct"] == 0.0


def test_the_reason_code_is_measured_where_an_invoice_is_to_be_held():
    domain = AccountsPayable()
    by_id = {task.id: task for task in domain.tasks()}
    for task_id, code, expected in (
        ("INV-8009", "PRICE_VARIANCE", 1.0),
        ("INV-8009", "NO_PO", 0.0),
        ("INV-8001", "NO_PO", None),
    ):
        task = by_id[task_id]
        world = domain.world(task)
        Toolbox(world.tools()).call("flag_exception", {"invoice_id": task_id, "reason_code": code})
        trial = Trial(TrialKey("a", task.id, "baseline", "0", 0))
        measures = domain.measures(trial, world.state(), domain.truth(task))
        assert measures.get("reason_code_correct") == expected
