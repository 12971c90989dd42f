"""``[run]`` of a ``study.toml``: what the harness needs in order to run the study itself.

Arms and perturbations have their order and their names in ``[design]``; here each gets its code.
An entry point is ``"module:attribute"``. The module is looked for in the experiment's folder, then
in ``experiments/``, then among the installed packages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from steelyard.errors import InputError
from steelyard.store.toml_files import Declared, Parameters
from steelyard.trials.ids import check_part

_ENTRY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")

Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]


class EntryPoint(Declared):
    """A piece of code by name, and the parameters it is given.

    A class is called with the parameters to make the object. A function is used as it is; it gets
    the parameters as keyword arguments whenever it is called. Any other object takes none.
    """

    entry: str
    parameters: Parameters = Field(default_factory=dict)

    @field_validator("entry")
    @classmethod
    def _check_entry(cls, value: str) -> str:
        if not _ENTRY.fullmatch(value):
            raise ValueError('an entry point is written "module:attribute"')
        return value


class ArmCode(EntryPoint):
    """``[run.arms."<arm>"]``: its code, what it waits for, and its model calls per trial at most.

    ``kind`` and ``model_calls`` replace what the arm's code says of itself.
    """

    kind: Literal["cpu", "model"] | None = None
    model_calls: Annotated[int, Field(ge=0, strict=True)] | None = None
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class PerturbationCode(Declared):
    """``[run.perturbations."<perturbation>"]``: its code and how many variants of it are made.

    Without an entry point it is the one of steelyard's own perturbations that has this name.
    """

    entry: str | None = None
    parameters: Parameters = Field(default_factory=dict)
    variants: Count | None = None

    @model_validator(mode="after")
    def _check_entry(self) -> Self:
        EntryPoint(entry=self.entry or "library:own")
        return self


class RunDeclaration(Declared):
    """The whole ``[run]`` section.

    Attributes
    ----------
    domain : EntryPoint
    tasks : "*" or tuple of str
        Task ids of the domain; ``"*"`` for all of them.
    variants, repeats : int
        Per task and perturbation, and per variant.
    seed : int
        All of the study's randomness follows from it and from the trials' keys.
    arms : dict of str to ArmCode
        One for each arm of the design.
    perturbations : dict of str to PerturbationCode
        Those of the design that need more than their name.
    model : EntryPoint, optional
        Where the arms' model comes from; see `steelyard.harness.protocols.ModelSource`.
    contracts : tuple of str
        Policies of schema 1.0 in the experiment's folder; each final output is judged by them, as
        measures ``contract:<policy>`` and ``contract:<policy>:<rule>``.
    expected : dict of str to float
        Assumed success rates of arms, for the power that ``steelyard plan`` states.
    """

    domain: EntryPoint
    tasks: Literal["*"] | Annotated[tuple[str, ...], Field(min_length=1)] = "*"
    variants: Count = 1
    repeats: Count = 1
    seed: Annotated[int, Field(ge=0, lt=2**63, strict=True)] = 0
    arms: dict[str, ArmCode]
    perturbations: dict[str, PerturbationCode] = Field(default_factory=dict)
    model: EntryPoint | None = None
    contracts: tuple[str, ...] = ()
    expected: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)

    @field_validator("tasks")
    @classmethod
    def _check_tasks(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if value == "*":
            return value
        if len(set(value)) < len(value):
            raise ValueError("a task is named twice")
        for task in value:
            try:
                check_part("task", task)
            except InputError as error:
                raise ValueError(str(error)) from None
        return value

    def check_names(self, arms: Sequence[str], perturbations: Sequence[str]) -> None:
        """Raise ValueError unless the names are those of the design."""
        for what, expected, given, complete in (
            ("arms", arms, self.arms, True),
            ("perturbations", perturbations, self.perturbations, False),
            ("expected", arms, self.expected, False),
        ):
            unknown = sorted(set(given) - set(expected))
            if unknown:
                raise ValueError(f"run.{what} names {unknown}, which [design] does not")
            lacking = [name for name in expected if name not in given]
            if complete and lacking:
                raise ValueError(f"run.{what} lacks {lacking}, which [design] names")

    def variants_of(self, perturbation: str) -> int:
        """Return how many variants of a perturbation are made per task."""
        code = self.perturbations.get(perturbation)
        return self.variants if code is None or code.variants is None else code.variants
