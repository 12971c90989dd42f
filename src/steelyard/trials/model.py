"""What a trial is: one run of one agent on one task, and the steps it took.

A `Trial` is what every evaluator and every trajectory analysis reads, wherever the trial came
from: the harness, a replay, another tool's trace or a published table. Nothing is repaired here.
What cannot be read is kept and marked (`UnreadableArguments`), what was not recorded is None, and
neither of the two is ever taken for an empty value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from steelyard.errors import InputError
from steelyard.trials import paths
from steelyard.trials.ids import TrialKey

STATUSES = ("completed", "failed", "missing")


@dataclass(frozen=True, slots=True)
class UnreadableArguments:
    """Arguments that were recorded but are not a JSON object: kept as they came, and marked.

    Parameters
    ----------
    raw : Any
        The JSON value that was recorded, or the text where it is not JSON.
    reason : str
        Why it is not a set of arguments, for example ``"a list, not an object"``.
    """

    raw: Any
    reason: str


Arguments: TypeAlias = Mapping[str, Any] | UnreadableArguments | None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing an agent did.

    Parameters
    ----------
    kind : str
        ``"tool_call"`` and ``"decision"`` are control steps: they form paths, and rules look at
        them. Any other kind (``"message"``, ``"thought"``, ``"final"`` and kinds that a source
        made up) is carried along and plays no part in a path.
    name : str
        The tool's or the decision's name. A control step without a name is refused; a message
        may have none (``""``).
    arguments : mapping, UnreadableArguments or None
        What the step was called with. None says that this was not recorded; ``{}`` says that it
        was called with nothing. `steelyard.trials.arguments.read_arguments` makes this value
        from JSON text.
    output : Any, optional
        What came back, as a JSON value.
    error : str or None
        The error text. Any text, the empty one included, marks the step as failed.
    wall_ms : float or None
        Wall time in milliseconds.

    Raises
    ------
    InputError
        A kind or name that is not text, a control step without a name, arguments that are none
        of the three accepted forms.
    """

    kind: str
    name: str
    arguments: Arguments = None
    output: Any = None
    error: str | None = None
    wall_ms: float | None = None

    def __post_init__(self) -> None:
        for what, value in (("kind", self.kind), ("name", self.name)):
            _check_text(f"step {what}", value)
        if not self.kind:
            raise InputError("step kind is empty; accepted is text such as 'tool_call'")
        if self.is_control and not self.name.strip():
            raise InputError(
                f"a {self.kind} step has no name (name={self.name!r}); give the tool's name, or "
                "record the step under another kind"
            )
        if self.error is not None and not isinstance(self.error, str):
            raise InputError(
                f"step {self.name!r}: error is {self.error!r}; accepted is text, or None for a "
                "step that succeeded"
            )
        _check_arguments(self.name, self.arguments)

    @property
    def is_control(self) -> bool:
        """Whether the step is a tool call or a decision."""
        return self.kind in paths.CONTROL_KINDS

    @property
    def failed(self) -> bool:
        """Whether the step ended in an error; an empty error text is one too."""
        return self.error is not None


def _check_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r} ({type(value).__name__}); accepted is text")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(
            f"{what} {value!r} holds a lone surrogate, which no UTF-8 file can store; read the "
            "trace with steelyard.trials.strict_json, which replaces and counts them"
        )


def _check_arguments(name: str, arguments: object) -> None:
    if arguments is None or isinstance(arguments, UnreadableArguments):
        return
    if not isinstance(arguments, Mapping):
        raise InputError(
            f"step {name!r}: arguments are a {type(arguments).__name__}; accepted are a mapping, "
            "None (not recorded) and UnreadableArguments; read_arguments() makes one of them "
            "from any JSON text or value"
        )
    for key in arguments:
        if not isinstance(key, str):
            raise InputError(
                f"step {name!r}: argument name {key!r} is not text; JSON objects have text keys"
            )


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one agent on one task under one perturbation.

    Parameters
    ----------
    key : TrialKey
        Arm, task, perturbation, variant and repeat.
    status : {"completed", "failed", "missing"}
        ``"failed"`` ran and errored; ``"missing"`` never ran.
    steps : tuple of Step
        In the order they happened.
    study : str, optional
        The study the trial belongs to.
    state : mapping or None
        The terminal state of the system of record; None when it was not read.
    error : str or None
        Why the trial as a whole failed.
    source_id : str or None
        The id another tool gave the trial, where it is not of the form of ``key.trial_id``.
    """

    key: TrialKey
    status: str = "completed"
    steps: tuple[Step, ...] = field(default=(), repr=False)
    study: str = ""
    state: Mapping[str, Any] | None = None
    error: str | None = None
    source_id: str | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(
                f"trial {self.key.trial_id}: status is {self.status!r}; accepted are "
                + ", ".join(STATUSES)
            )
        object.__setattr__(self, "steps", tuple(self.steps))
        for position, step in enumerate(self.steps):
            if not isinstance(step, Step):
                raise InputError(
                    f"trial {self.key.trial_id}: step {position} is a {type(step).__name__}; "
                    "accepted is steelyard.trials.model.Step"
                )

    @property
    def label(self) -> str:
        """The id to show: the source's own where it gave one, else ``key.trial_id``."""
        return self.key.trial_id if self.source_id is None else self.source_id

    @property
    def control_steps(self) -> tuple[Step, ...]:
        """Tool calls and decisions in order, failed ones included."""
        return paths.control_steps(self.steps)

    @property
    def full_path(self) -> paths.Path:
        """(kind, name) of every control step, failed ones included."""
        return paths.path_of(self.control_steps)

    @property
    def effect_path(self) -> paths.Path:
        """(kind, name) of every tool call, failed ones included."""
        return paths.path_of(paths.effect_steps(self.steps))

    def calls(self, name: str, *, include_failed: bool = False) -> tuple[Step, ...]:
        """Return the control steps of that name, in order.

        A decision of that name counts, as it does in a path; a failed step does not unless
        ``include_failed``.
        """
        return tuple(
            step
            for step in self.control_steps
            if step.name == name and (include_failed or not step.failed)
        )

    def called(self, name: str, *, include_failed: bool = False) -> bool:
        """Return whether there is a control step of that name; see `calls`."""
        return bool(self.calls(name, include_failed=include_failed))

    def first_index_of(self, name: str, *, include_failed: bool = False) -> int | None:
        """Return the position of the first such step among the control steps, or None."""
        for index, step in enumerate(self.control_steps):
            if step.name == name and (include_failed or not step.failed):
                return index
        return None
