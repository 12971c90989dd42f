"""Arms, interpreters and paraphrases that ask the study's model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.arms import Agent, Answer, Call, FreeForm, Turn, Veto
from steelyard.harness.entry_points import resolve
from steelyard.harness.models.request import Message, ModelRequest, ToolCall
from steelyard.harness.perturbations.paraphrase import ModelParaphrase
from steelyard.harness.protocols import TrialModel, TrialSetup
from steelyard.harness.replies import object_in
from steelyard.trials.strict_json import canonical_dumps

SYSTEM = (
    "You work through tools. Call the tools you need, one or several at a time, and use what they "
    "return. When the task is done, answer in plain words without calling a tool."
)


class ModelAgent:
    """A free-form agent at work on one trial: the conversation so far, and the model.

    Parameters
    ----------
    setup : TrialSetup
        Its prompt opens the conversation; its tools and temperature go with every request.
    system : str
        Instructions.
    max_tokens : int, optional
        Of each answer; by default the study's limit.
    """

    def __init__(
        self, setup: TrialSetup, system: str = SYSTEM, max_tokens: int | None = None
    ) -> None:
        self._setup = setup
        self._model = model_of(setup)
        self._system = system
        self._max_tokens = max_tokens
        self._messages = [Message("user", setup.prompt)]
        self._asked: Sequence[ToolCall] = ()

    def turn(self, answers: Sequence[Answer]) -> Turn:
        """Put the answers to the last calls to the model; return what it wants next."""
        for call, answer in zip(self._asked, answers, strict=True):
            self._messages.append(result_message(call, answer))
        response = self._model.complete(
            ModelRequest(
                tuple(self._messages),
                self._system,
                self._setup.toolbox.tools,
                self._setup.temperature,
                self._max_tokens,
            )
        )
        self._messages.append(response.message())
        self._asked = response.tool_calls
        return Turn(response.text, [Call(call.name, call.arguments) for call in self._asked])


def result_message(call: ToolCall, answer: Answer) -> Message:
    """Return what became of a tool call as a message to the model."""
    if answer.error is not None:
        text = canonical_dumps({"error": answer.error})
    elif isinstance(answer.output, str):
        text = answer.output
    else:
        text = canonical_dumps(answer.output)
    return Message("tool", text, answers=call.id, failed=answer.error is not None)


class ToolAgent(FreeForm):
    """An arm that leaves the choice of tools to the study's model.

    Parameters
    ----------
    system : str
        Instructions.
    turns : int
        Model calls per trial at most.
    max_tokens : int, optional
        Of each answer; by default the study's limit.
    veto : callable or str, optional
        A guard; see `steelyard.harness.arms.Veto`. A text names it as ``"module:attribute"``.

    Raises
    ------
    InputError
        If what is named is no function.
    """

    def __init__(
        self,
        system: str = SYSTEM,
        turns: int = 12,
        max_tokens: int | None = None,
        veto: Veto | str | None = None,
    ) -> None:
        guard = resolve(veto, None, "veto") if isinstance(veto, str) else veto
        if guard is not None and not callable(guard):
            raise InputError(f"veto is {veto!r}; accepted is a function, or its module:attribute")

        def agent(setup: TrialSetup) -> Agent:
            return ModelAgent(setup, system, max_tokens)

        super().__init__(agent, turns, guard)


class ModelInterpreter:
    """Reads from a request what it is about by asking the study's model; for `PlanExecute`.

    Parameters
    ----------
    instruction : str
        Asks for a JSON object.
    member : str
        The member of that object that is returned; anything but a text or a number counts as not
        understood.
    """

    model_calls = 1

    def __init__(self, instruction: str, member: str) -> None:
        self.instruction = instruction
        self.member = member

    def __call__(self, setup: TrialSetup) -> Any:
        """Return what the model read from the prompt, or None."""
        request = ModelRequest(
            (Message("user", setup.prompt),), self.instruction, (), setup.temperature
        )
        reply: Mapping[str, Any] = object_in(model_of(setup).complete(request).text) or {}
        found = reply.get(self.member)
        return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def ask_model(model: TrialModel, instruction: str, text: str) -> str:
    """Put an instruction and a text to a model; return the text of its answer."""
    answer: str = model.complete(ModelRequest((Message("user", text),), instruction)).text
    return answer


class Paraphrase(ModelParaphrase):
    """`ModelParaphrase` by the study's model, for ``[run.perturbations.paraphrase] entry``.

    Parameters
    ----------
    same : str
        See `ModelParaphrase`.
    """

    def __init__(self, same: str = "same_subject") -> None:
        if not re.fullmatch(r"\w+", same):
            raise InputError(f"same is {same!r}; accepted is the name of a JSON member")
        super().__init__(ask_model, same)


def model_of(setup: TrialSetup) -> TrialModel:
    """Return a trial's model; InputError where the study declares none."""
    if setup.model is None:
        raise InputError("this arm asks a model, and the study has no [run.model]")
    return setup.model
