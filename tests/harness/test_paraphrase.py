"""Rewordings of a request: written by hand or by a model, and the guard of their meaning."""

from __future__ import annotations

import json

import pytest

from harness.perturbed import DOMAIN, TASK, TEMPLATES, SilentModel, generator
from invoice_domains import accounts_payable_domain, suite
from steelyard.errors import InputError
from steelyard.harness.perturbations import ModelParaphrase, PreparedParaphrase
from steelyard.harness.perturbations.rewording import (
    identifiers,
    keep_equivalent,
    lost_identifiers,
    verdict_objection,
)


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
