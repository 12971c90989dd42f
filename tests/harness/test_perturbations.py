"""Perturbations: what they change, that all state is a trial's own, whether they took effect."""

from __future__ import annotations

import json
from random import Random

import pytest

from invoice_domains import (
    accounts_payable_domain,
    procure_to_pay_arms,
    procure_to_pay_domain,
    suite,
)
from steelyard.errors import InputError
from steelyard.harness.perturbations import (
    LIBRARY,
    Baseline,
    DecoyTools,
    Distractor,
    Latency,
    ModelParaphrase,
    PreparedParaphrase,
    ReorderedTools,
    Sampling,
    ToolFault,
    TypeNoise,
)
from steelyard.harness.perturbations.rewording import (
    identifiers,
    keep_equivalent,
    lost_identifiers,
    verdict_objection,
)
from steelyard.harness.protocols import PerturbedTrial, TrialSetup, Usage, Variant
from steelyard.harness.tools import Toolbox, ToolError
from steelyard.trials.ids import TrialKey

DOMAIN = procure_to_pay_domain.ProcureToPay()
TASK = DOMAIN.tasks()[0]
TARGETS = suite.FAULT_TARGETS
EXECUTOR = procure_to_pay_arms.Executor(retries=3)
TEMPLATES = ["{invoice_id} of {vendor_name} is in. Process and report, please.", "Invoices!"]
ALL = {
    "baseline": Baseline(),
    "distractor": Distractor(),
    "tool_fault": ToolFault(TARGETS),
    "decoy_tools": DecoyTools(),
    "sampling": Sampling(),
    "type_noise": TypeNoise(),
    "reordered_tools": ReorderedTools(),
    "latency": Latency(TARGETS),
    "paraphrase": PreparedParaphrase(TEMPLATES),
}


def generator(seed):
    return Random(seed)  # noqa: S311 - reproducible, not secret


def setup_of(task=TASK):
    world = DOMAIN.world(task)
    key = TrialKey("arm", task.id, "p", "0", 0)
    return world, TrialSetup(key, task, Toolbox(world.tools()))


def perturbed(one, index=0, count=4):
    _, setup = setup_of()
    variant = one.variants(TASK, count, generator(1))[index]
    return setup, one.perturb(setup, variant)


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_variants_are_json_and_the_same_for_the_same_generator(one):
    variants = one.variants(TASK, 4, generator(3))
    again = one.variants(TASK, 4, generator(3))
    assert variants == again
    assert [variant.index for variant in variants] == list(range(len(variants)))
    for variant in variants:
        assert json.loads(json.dumps(variant.meta)) == variant.meta
    assert one.preserves
    assert one.name in ALL


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_a_variant_that_was_stored_and_read_back_does_the_same(one):
    variant = one.variants(TASK, 2, generator(3))[0]
    stored = Variant(variant.index, json.loads(json.dumps(variant.meta)))
    _, first = setup_of()
    _, second = setup_of()
    one.perturb(first, variant)
    one.perturb(second, stored)
    assert first.prompt == second.prompt
    assert first.toolbox.names == second.toolbox.names
    assert first.temperature == second.temperature


def test_the_library_knows_each_by_its_name():
    assert {name: kind.name for name, kind in LIBRARY.items()} == {name: name for name in LIBRARY}
    assert set(LIBRARY) == set(ALL)


def test_nothing_took_effect_at_the_baseline_because_there_is_nothing():
    _, trial = perturbed(Baseline())
    assert trial.applied() is None


@pytest.mark.parametrize("name", ["distractor", "paraphrase"])
def test_another_prompt_took_effect_once_it_is_read(name):
    setup, trial = perturbed(ALL[name])
    assert trial.applied() is False
    assert TASK.id in setup.prompt
    assert trial.applied() is True


def test_notes_stand_around_the_request_word_for_word():
    for index in range(4):
        setup, _ = perturbed(Distractor(), index)
        assert TASK.prompt in setup.prompt
        assert len(setup.prompt) > len(TASK.prompt)


@pytest.mark.parametrize("index", range(3))
def test_each_trial_has_a_fault_of_its_own(index):
    one = ToolFault(TARGETS)
    variant = one.variants(TASK, 3, generator(1))[index]
    for _ in range(5):
        _, setup = setup_of()
        trial = one.perturb(setup, variant)
        EXECUTOR.run(trial.setup)
        assert trial.applied() is True
        assert setup.toolbox.calls[variant.meta["target"]] == 2


def test_a_shared_fault_reaches_one_trial_only():
    one = ToolFault(TARGETS, shared=True)
    variant = one.variants(TASK, 1, generator(1))[0]
    applied = []
    for _ in range(3):
        _, setup = setup_of()
        trial = one.perturb(setup, variant)
        EXECUTOR.run(trial.setup)
        applied.append(trial.applied())
    assert applied == [True, False, False]


def test_a_fault_whose_target_is_never_called_has_not_taken_effect():
    setup, trial = perturbed(ToolFault(["post_audit_log"]))
    setup.call("fetch_invoice", {"invoice_id": TASK.id})
    assert trial.applied() is False


def test_a_fault_after_the_tool_loses_the_answer_and_not_the_effect():
    world, setup = setup_of()
    one = ToolFault(["schedule_payment"], after=True)
    trial = one.perturb(setup, one.variants(TASK, 1, generator(1))[0])
    payment = {"invoice_id": TASK.id, "amount": 4500.0, "vendor_id": "V-101"}
    with pytest.raises(ToolError, match="503"):
        setup.call("schedule_payment", payment)
    assert trial.applied() is True
    assert world.state()["payment_count"] == 1
    setup.call("schedule_payment", payment)
    assert world.state()["payment_count"] == 2


def test_timeouts_say_when_to_try_again_and_end():
    setup, trial = perturbed(Latency(TARGETS, timeouts=[2], retry_after_s=5))
    for _ in range(2):
        with pytest.raises(ToolError, match="retry after 5 s"):
            setup.call("match_purchase_order", {"invoice_id": TASK.id})
    assert setup.call("match_purchase_order", {"invoice_id": TASK.id})["matched"] is True
    assert trial.applied() is True


def test_decoys_stand_after_the_tools_and_do_not_work():
    setup, trial = perturbed(DecoyTools(suite.DECOYS), 2)
    assert trial.applied() is False
    assert len(setup.toolbox.tools) == 11
    assert trial.applied() is True
    with pytest.raises(ToolError, match="not available"):
        setup.call("lookup_tax_code", {"sku": "RC-88"})


def test_the_tools_come_in_another_order_and_are_the_same():
    setup, trial = perturbed(ReorderedTools())
    before = [tool.name for tool in DOMAIN.world(TASK).tools()]
    assert list(setup.toolbox.names) != before
    assert sorted(tool.name for tool in setup.toolbox.tools) == sorted(before)
    assert trial.applied() is True
    setup, trial = perturbed(ReorderedTools())
    assert trial.applied() is False


def test_two_tools_always_change_places():
    world, _ = setup_of()
    for seed in range(20):
        key = TrialKey("arm", TASK.id, "p", "0", 0)
        setup = TrialSetup(key, TASK, Toolbox(world.tools()[:2]))
        ReorderedTools().perturb(setup, Variant(0, {"order_seed": seed}))
        assert setup.toolbox.names == ("match_purchase_order", "fetch_invoice")


class SilentModel:
    usage = Usage()


def test_a_temperature_took_effect_if_the_model_was_asked():
    setup, trial = perturbed(Sampling(0.7))
    assert (setup.temperature, trial.applied()) == (0.7, False)
    setup.model = SilentModel()
    assert trial.applied() is False
    setup.model.usage = Usage(calls=1)
    assert trial.applied() is True


@pytest.mark.parametrize(
    ("index", "total", "billed", "matched"),
    [(0, "4500.0", "300", True), (1, 4500, 300.0, True), (2, 4500.0, 300, "true")],
)
def test_values_come_as_another_type_and_mean_the_same(index, total, billed, matched):
    setup, trial = perturbed(TypeNoise(), index)
    assert trial.applied() is False
    invoice = setup.call("fetch_invoice", {"invoice_id": TASK.id})["invoice"]
    match = setup.call("match_purchase_order", {"invoice_id": TASK.id})
    for got, expected in (
        (invoice["total"], total),
        (invoice["qty_billed"], billed),
        (match["matched"], matched),
    ):
        assert (got, type(got)) == (expected, type(expected))
    assert trial.applied() is True


def test_noise_may_be_confined_to_some_tools():
    setup, trial = perturbed(TypeNoise(tools=["match_purchase_order"]))
    setup.call("fetch_invoice", {"invoice_id": TASK.id})
    assert trial.applied() is False


def test_a_template_that_loses_the_invoice_is_discarded_and_recorded():
    one = PreparedParaphrase(TEMPLATES)
    variants = one.variants(TASK, 2, generator(1))
    assert [variant.meta["rejected_count"] for variant in variants] == [1]
    assert one.discarded[TASK.id][0].reason == f"lacks {TASK.id}"


@pytest.mark.parametrize(
    ("domain", "one", "count"),
    [
        (DOMAIN, suite.PROCURE_TO_PAY_PARAPHRASE, 8),
        (accounts_payable_domain.AccountsPayable(), suite.ACCOUNTS_PAYABLE_PARAPHRASE, 5),
    ],
    ids=["procure_to_pay", "accounts_payable"],
)
def test_no_prepared_rewording_of_the_domains_loses_anything(domain, one, count):
    for task in domain.tasks():
        variants = one.variants(task, count, generator(1))
        assert len({variant.meta["text"] for variant in variants}) == count
        assert one.discarded[task.id] == []


def test_a_template_with_unknown_data_names_what_there_is():
    with pytest.raises(InputError, match=r"task INV-7002 .*KeyError.*invoice_id"):
        PreparedParaphrase(["{invoice}"]).variants(TASK, 1, generator(1))


def answering(*verdicts):
    """Return a paraphrase whose model offers three rewordings, and what it was asked."""
    offered = ["Do INV-7002.", "Do the invoice.", "Please do INV-7002."]
    asked = []
    left = list(verdicts)

    def ask(_model, instruction, text):
        asked.append((instruction, text))
        return left.pop(0) if instruction.startswith("Compare") else json.dumps(offered)

    one = ModelParaphrase(ask)
    one.model = SilentModel()
    return one, asked


YES = '{"equivalent": true, "same_subject": true}'
NO = '{"equivalent": false, "same_subject": true}'


def test_a_model_writes_and_judges_and_what_loses_an_id_is_not_asked_about():
    one, asked = answering(NO, YES)
    variants = one.variants(TASK, 2, generator(1))
    assert [variant.meta["text"] for variant in variants] == ["Please do INV-7002."]
    assert [discard.reason for discard in one.discarded[TASK.id]] == [
        "judged not equivalent",
        "lacks INV-7002",
    ]
    assert len(asked) == 3
    assert "4 different ways" in asked[0][0]
    assert json.loads(asked[1][1]) == {"first": TASK.prompt, "second": "Do INV-7002."}


def test_when_every_rewording_is_discarded_that_is_recorded():
    one, _ = answering(NO, "what?")
    assert one.variants(TASK, 2, generator(1)) == []
    assert len(one.discarded[TASK.id]) == 3


def test_without_a_model_nothing_can_be_written():
    one, _ = answering()
    one.model = None
    with pytest.raises(InputError, match="a model has to write"):
        one.variants(TASK, 2, generator(1))


def test_no_more_candidates_are_judged_than_needed():
    judged = []

    def judge(_original, text):
        judged.append(text)
        return "bad" if text == "b" else None

    found = keep_equivalent("x", ["a", "b", "c", "d"], 2, [judge])
    assert found.accepted == ["a", "c"]
    assert [(one.text, one.reason) for one in found.discarded] == [("b", "bad")]
    assert judged == ["a", "b", "c"]


def test_identifiers_are_words_with_digits():
    assert identifiers("Pay INV-7002 (EUR 4506.25), due 2026-07-02.") == [
        "INV-7002",
        "4506.25",
        "2026-07-02",
    ]
    assert lost_identifiers("INV-7002", "invoice INV-7002!") is None


@pytest.mark.parametrize(
    ("reply", "objects"),
    [
        ('{"equivalent": true, "same_task": true}', False),
        ('{"equivalent": true}', True),
        ("yes", True),
        ("[true, true]", True),
    ],
)
def test_a_verdict_has_to_be_read_and_to_be_yes(reply, objects):
    assert (verdict_objection(reply, "same_task") is not None) is objects


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (ToolFault, "targets"),
        (lambda: ToolFault("check"), "targets"),
        (lambda: ToolFault(["a"], calls=[0]), "calls"),
        (lambda: ToolFault(["a"], errors=[]), "errors"),
        (lambda: Latency(["a"], timeouts=[]), "timeouts"),
        (lambda: Distractor(["one"]), "notes"),
        (lambda: Sampling(-1), "temperature"),
        (lambda: Sampling(float("nan")), "temperature"),
        (lambda: TypeNoise(["loud"]), "kinds"),
        (lambda: DecoyTools([]), "decoys"),
        (lambda: DecoyTools([{"name": "a"}]), "a decoy has"),
        (lambda: PreparedParaphrase([]), "templates"),
    ],
)
def test_parameters_that_make_no_perturbation_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


class Uppercase:
    """Twenty lines or fewer make a perturbation; it needs to inherit from nothing."""

    name = "uppercase"
    preserves = "the request's words"

    def variants(self, task, count, random):  # noqa: ARG002
        return [Variant(index) for index in range(count)]

    def perturb(self, setup, variant):  # noqa: ARG002
        setup.prompt = setup.prompt.upper()
        return PerturbedTrial(setup, lambda: setup.prompt_read)


def test_a_user_can_add_one():
    setup, trial = perturbed(Uppercase())
    assert setup.prompt == TASK.prompt.upper()
    assert trial.applied() is True
