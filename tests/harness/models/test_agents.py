"""Agents that ask a model, at work on an invoice, through the real client libraries."""

from __future__ import annotations

import json

import pytest

from harness.model_server import Reply
from invoice_domains import procure_to_pay_domain
from steelyard.errors import InputError, UnknownNameError
from steelyard.harness.arms import TurnLimitError
from steelyard.harness.models import ModelInterpreter, ToolAgent
from steelyard.harness.models.agents import Paraphrase, model_of
from steelyard.harness.protocols import TrialSetup
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey

INVOICE, VENDOR = {"invoice_id": "INV-7002"}, {"vendor_id": "V-101"}
PAYMENT = ("schedule_payment", {**INVOICE, **VENDOR, "amount": 4500})
SCRIPT = (
    Reply("I pay at once.", [PAYMENT]),
    Reply(
        "",
        [
            ("match_purchase_order", INVOICE),
            ("check_duplicate", INVOICE),
            ("check_vendor_status", VENDOR),
            ("no_such_tool", {}),
        ],
    ),
    Reply("", [PAYMENT]),
    Reply("Paid."),
)


def hasty_clerk(said):
    """Scripted: tries to pay before it checks."""
    return SCRIPT[said.turn]


@pytest.fixture
def setup(client):
    domain = procure_to_pay_domain.ProcureToPay()
    task = next(task for task in domain.tasks() if task.data["invoice_id"] == "INV-7002")
    world = domain.world(task)
    key = TrialKey("arm", task.id, "baseline", "0", 0)
    made = TrialSetup(key, task, Toolbox(world.tools()), temperature=0.25)
    made.model = client().client_for(key.trial_id)
    yield made, world
    world.close()


def test_a_guarded_agent_is_told_why_a_call_was_not_made(setup, server):
    server.mind = hasty_clerk
    trial, world = setup
    ToolAgent("Be quick.", veto="domains.procure_to_pay_arms:veto_payment").run(trial)
    steps = [(step.kind, step.name, step.failed) for step in trial.toolbox.steps]
    assert steps == [
        ("message", "agent", False),
        ("decision", "blocked:schedule_payment", False),
        ("tool_call", "match_purchase_order", False),
        ("tool_call", "check_duplicate", False),
        ("tool_call", "check_vendor_status", False),
        ("tool_call", "no_such_tool", True),
        ("tool_call", "schedule_payment", False),
        ("final", "respond", False),
    ]
    assert trial.model.usage.calls == len(server.requests) == 4
    assert "call match_purchase_order" in json.dumps(server.requests[1]["body"]["messages"])
    assert "there is no tool" in json.dumps(server.requests[2]["body"]["messages"])
    body = server.requests[0]["body"]
    assert body["temperature"] == 0.25
    assert len(body["tools"]) == len(world.tools())
    assert trial.toolbox.listed
    assert trial.prompt_read


def test_without_a_guard_the_call_is_made(setup, server):
    server.mind = hasty_clerk
    trial, _ = setup
    ToolAgent().run(trial)
    assert [step.name for step in trial.toolbox.steps][:2] == ["agent", "schedule_payment"]


def test_an_agent_that_is_never_done_fails_at_its_turn_limit(setup, server):
    server.mind = lambda _: Reply("", [("check_duplicate", INVOICE)])
    with pytest.raises(TurnLimitError, match="after 3 turns"):
        ToolAgent(turns=3).run(setup[0])
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"invoice_id": "INV-7002"}', "INV-7002"),
        ('Here:\n```json\n{"invoice_id": 7002}\n```', 7002),
        ('{"invoice_id": true}', None),
        ('{"invoice_id": ["INV-7002"]}', None),
        ('{"other": 1}', None),
        ("I do not know.", None),
        ("[1, 2]", None),
        ("", None),
    ],
)
def test_an_interpreter_reads_one_member_of_the_answer(setup, server, reply, found):
    server.mind = lambda _: Reply(reply)
    assert ModelInterpreter("Answer in JSON.", "invoice_id")(setup[0]) == found


def test_what_cannot_work_is_refused_when_it_is_made(setup):
    trial, _ = setup
    trial.model = None
    with pytest.raises(InputError, match=r"the study has no \[run.model\]"):
        model_of(trial)
    with pytest.raises(InputError, match="veto is 3"):
        ToolAgent(veto=3)
    with pytest.raises(InputError, match="veto is"):
        ToolAgent(veto="steelyard:__version__")
    with pytest.raises(UnknownNameError, match="no_such"):
        ToolAgent(veto="steelyard.harness.arms:no_such")
    with pytest.raises(InputError, match="same is"):
        Paraphrase("two words")
