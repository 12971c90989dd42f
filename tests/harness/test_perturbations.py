"""Perturbations: what they change, that all state is a trial's own, whether they took effect."""

from __future__ import annotations

import json

import pytest

from harness.perturbed import (
    TARGETS,
    TASK,
    TEMPLATES,
    SilentModel,
    generator,
    perturbed,
    setup_of,
)
from steelyard.errors import InputError
from steelyard.harness.perturbations import (
    LIBRARY,
    Baseline,
    DecoyTools,
    Distractor,
    Latency,
    PreparedParaphrase,
    ReorderedTools,
    Sampling,
    ToolFault,
    TypeNoise,
)
from steelyard.harness.protocols import PerturbedTrial, Usage, Variant

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


def test_a_temperature_took_effect_if_the_model_was_asked():
    setup, trial = perturbed(Sampling(0.7))
    assert (setup.temperature, trial.applied()) == (0.7, False)
    setup.model = SilentModel()
    assert trial.applied() is False
    setup.model.usage = Usage(calls=1)
    assert trial.applied() is True


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
