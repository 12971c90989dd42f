"""A study that can be run: its declaration together with the code that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, StudyError, UnknownNameError
from steelyard.harness.entry_points import build, check_fit, resolve
from steelyard.harness.protocols import (
    Domain,
    Kind,
    ModelSource,
    Perturbation,
    Task,
    TrialSetup,
)
from steelyard.store.declaration import Declaration, read_declaration
from steelyard.store.run_declaration import ArmCode, EntryPoint, RunDeclaration
from steelyard.store.toml_files import line_of
from steelyard.trials.ids import check_part

RECORDINGS = "recordings"
"""Folder of recorded responses, below the experiment's own."""


@dataclass(frozen=True)
class LoadedArm:
    """An arm ready to run.

    Attributes
    ----------
    name : str
        As the design calls it.
    run : callable
        Takes a `TrialSetup`.
    kind : "cpu" or "model"
        What it waits for.
    model_calls : int
        Model calls per trial at most.
    temperature : float or None
        As declared.
    """

    name: str
    run: Callable[[TrialSetup], None]
    kind: Kind = "cpu"
    model_calls: int = 0
    temperature: float | None = None


@dataclass(frozen=True)
class RunnableStudy:
    """A declaration with its domain, arms and perturbations.

    `load_study` makes one from a folder; tests and notebooks may make one from objects, which
    then runs in this process only.

    Attributes
    ----------
    declaration : Declaration
        With a ``[run]`` section.
    domain : Domain
    arms : dict of str to LoadedArm
    perturbations : dict of str to Perturbation
    folder : pathlib.Path or None
        ``experiments/<study>``.
    digest : str
        SHA-256 of ``study.toml``; worker processes compare it with theirs.
    """

    declaration: Declaration
    domain: Domain
    arms: Mapping[str, LoadedArm]
    perturbations: Mapping[str, Perturbation]
    folder: Path | None = None
    digest: str = ""
    tasks: Mapping[str, Task] = field(init=False)
    _truths: dict[str, Mapping[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", self._chosen_tasks())

    @property
    def id(self) -> str:
        """The study's id."""
        return self.declaration.id

    @property
    def settings(self) -> RunDeclaration:
        """The ``[run]`` section."""
        if self.declaration.run is None:
            raise StudyError(f"study {self.id} has no [run] section; it cannot be run")
        return self.declaration.run

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return what is right for a task; derived once per process."""
        if task.id not in self._truths:
            self._truths[task.id] = self.domain.truth(task)
        return self._truths[task.id]

    def models(self, *, offline: bool = False) -> ModelSource | None:
        """Open the model that ``[run.model]`` declares; None where there is none."""
        declared = self.settings.model
        if declared is None:
            return None
        where = self.place("run", "model")
        recordings = (self.folder or Path.cwd()) / RECORDINGS
        source: ModelSource = build(
            resolve(declared.entry, self.folder, where),
            declared.parameters,
            where,
            recordings=recordings,
            offline=offline,
        )
        return source

    def check_model(self) -> None:
        """Refuse a ``[run.model]`` that names nothing or has unfit parameters; open nothing.

        Raises
        ------
        SteelyardError
            With file, line and field.
        """
        declared = self.settings.model
        if declared is not None:
            where = self.place("run", "model")
            check_fit(resolve(declared.entry, self.folder, where), declared.parameters, where)

    def place(self, *location: str) -> str:
        """Return file, line and field of a part of the declaration, for messages."""
        return _place(self.folder, location)

    def _chosen_tasks(self) -> dict[str, Task]:
        every: dict[str, Task] = {}
        for task in self.domain.tasks():
            if task.id in every:
                raise StudyError(f"domain {self.domain.name}: two tasks have the id {task.id!r}")
            try:
                every[check_part("task", task.id)] = task
            except InputError as error:
                raise StudyError(f"domain {self.domain.name}: {error}") from None
        if self.settings.tasks == "*":
            return every
        for name in self.settings.tasks:
            if name not in every:
                raise UnknownNameError("task", name, every, self.place("run", "tasks"))
        return {name: every[name] for name in self.settings.tasks}


def load_study(folder: str | Path) -> RunnableStudy:
    """Load ``experiments/<study>`` with the code it names.

    Parameters
    ----------
    folder : str or pathlib.Path
        Holds ``study.toml``.

    Returns
    -------
    RunnableStudy

    Raises
    ------
    StudyError
        If the declaration breaks the schema, has no ``[run]`` section, or its code cannot be
        imported or does not have the right shape: with file, line and field.
    UnknownNameError
        For an attribute, task or perturbation that does not exist.
    """
    home = Path(folder).resolve()
    declaration = read_declaration(home / "study.toml", f"{home.name}/study.toml")
    if declaration.run is None:
        raise StudyError(
            f"{home.name}/study.toml: there is no [run] section, so this study (origin "
            f"{declaration.study.origin!r}) cannot be run"
        )
    settings = declaration.run
    return RunnableStudy(
        declaration,
        _judged(_domain(settings.domain, home), settings, home),
        {name: _arm(name, settings.arms[name], home) for name in declaration.design.arms},
        {name: _perturbation(name, settings, home) for name in declaration.design.perturbations},
        home,
        hashlib.sha256((home / "study.toml").read_bytes()).hexdigest(),
    )


def as_arm(
    name: str, found: Any, declared: ArmCode | None = None, where: str = "this study"
) -> LoadedArm:
    """Take an `Arm`, or any callable, as an arm.

    Parameters
    ----------
    name : str
        As the design calls it.
    found : Any
        Has ``run``, or can be called itself.
    declared : ArmCode, optional
        Its section of ``study.toml``.
    where : str, optional
        For messages.

    Raises
    ------
    StudyError
        If it can neither run nor be called, or is of an unknown kind.
    """
    run = getattr(found, "run", found)
    if not callable(run):
        raise StudyError(f"{where}: an arm has run(setup), or is a callable; this is {found!r}")
    code = ArmCode(entry="declared:elsewhere") if declared is None else declared
    kind = code.kind or getattr(found, "kind", "cpu")
    if kind not in ("cpu", "model"):
        raise StudyError(f"{where}: kind is {kind!r}; accepted are 'cpu' and 'model'")
    calls = code.model_calls
    calls = getattr(found, "model_calls", 0) if calls is None else calls
    return LoadedArm(name, run, kind, int(calls), code.temperature)


def _domain(declared: EntryPoint, home: Path) -> Domain:
    where = _place(home, ("run", "domain"))
    found = build(resolve(declared.entry, home, where), declared.parameters, where)
    _check_shape(found, ("tasks", "world", "truth", "measures", "violations"), "a domain", where)
    domain: Domain = found
    return domain


def _judged(domain: Domain, settings: RunDeclaration, home: Path) -> Domain:
    if not settings.contracts:
        return domain
    from steelyard.harness.contracts import ContractedDomain, read_policies

    where = _place(home, ("run", "contracts"))
    judged: Domain = ContractedDomain(domain, read_policies(settings.contracts, home, where))
    return judged


def _arm(name: str, declared: ArmCode, home: Path) -> LoadedArm:
    where = _place(home, ("run", "arms", name))
    found = build(resolve(declared.entry, home, where), declared.parameters, where)
    return as_arm(name, found, declared, where)


def _perturbation(name: str, settings: RunDeclaration, home: Path) -> Perturbation:
    declared = settings.perturbations.get(name)
    where = _place(home, ("run", "perturbations", name))
    if declared is None or declared.entry is None:
        found = _library(name, where)
    else:
        found = resolve(declared.entry, home, where)
    built = build(found, {} if declared is None else declared.parameters, where)
    _check_shape(built, ("variants", "perturb"), "a perturbation", where)
    perturbation: Perturbation = built
    return perturbation


def _library(name: str, where: str) -> Any:
    from steelyard.harness.perturbations import LIBRARY

    if name not in LIBRARY:
        raise UnknownNameError("perturbation", name, LIBRARY, f"{where} (steelyard's own)")
    return LIBRARY[name]


def _check_shape(found: Any, methods: Sequence[str], what: str, where: str) -> None:
    lacking = [name for name in methods if not callable(getattr(found, name, None))]
    if lacking:
        raise StudyError(
            f"{where}: {what} has the methods {', '.join(methods)}; it lacks {', '.join(lacking)}"
        )


def _place(home: Path | None, location: Sequence[str]) -> str:
    shown = ".".join(location)
    if home is None:
        return shown
    lines = (home / "study.toml").read_text(encoding="utf-8-sig").splitlines()
    return f"{home.name}/study.toml:{line_of(lines, location)}: {shown}"
