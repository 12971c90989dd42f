"""``experiments/<study>/study.toml``: what a study set out to do.

The declaration is written before the tables are read and holds everything that an analysis may
assume about the design: the arms and perturbations in their order, which arms cannot vary between
repeats, which measure answers the question, and which comparisons are worth making at what
margin.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from steelyard.errors import InputError, StudyError, UnknownNameError
from steelyard.store.report_declaration import ReportDeclaration
from steelyard.store.run_declaration import RunDeclaration
from steelyard.store.toml_files import Declared, read_toml, shown_faults
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.ids import check_part
from steelyard.trials.strict_json import canonical_dumps

Text = Annotated[str, Field(min_length=1)]
Severity = Literal["critical", "high", "medium", "low"]
Policy = Literal["exclude", "fail", "bounds", "recorded"]
SCOPE_COLUMNS = ("arm", "task", "perturbation", "variant", "repeat")


class StudyInfo(Declared):
    """``[study]``: what it is and where it comes from.

    ``developed_on`` names the studies whose results were seen when the arms of this one got their
    present form: on cases of those, its rates say how well the arms were fitted.
    """

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: Text
    question: Text
    origin: Literal["run", "replay", "ingest", "published"]
    source: Text
    licence: Text
    model: str | None = None
    created_at: str | None = None
    notes: tuple[Text, ...] = ()
    developed_on: tuple[Text, ...] = ()


class DataSource(Declared):
    """``[data]``: the folder below ``data/``, and this study's name in its study column."""

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    study: str | None = None


class Design(Declared):
    """``[design]``: arms and perturbations in their order; the first perturbation is the baseline.

    ``deterministic_arms`` names the arms that answer every repeat of a condition alike by
    construction, so that their repeats add no information. ``variant_meaning`` says what the levels
    of the variant column are.
    """

    arms: Annotated[tuple[Text, ...], Field(min_length=1)]
    perturbations: Annotated[tuple[Text, ...], Field(min_length=1)]
    deterministic_arms: tuple[Text, ...] = ()
    variant_meaning: str | None = None

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name, values in (("arms", self.arms), ("perturbations", self.perturbations)):
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names one twice")
            for value in values:
                _check_id(name, value)
        unknown = sorted(set(self.deterministic_arms) - set(self.arms))
        if unknown:
            raise ValueError(f"deterministic_arms names {unknown}, which arms does not")
        return self


class Measures(Declared):
    """``[measures]``: the one that answers the question, and the others that are shown.

    ``harmful`` names those of which a 1 is an event that should not happen: their worst case is
    that every trial without a score had it, and a lower bound on them certifies nothing.
    """

    primary: Text
    others: tuple[Text, ...] = ()
    harmful: tuple[Text, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """The primary measure, then the others."""
        return (self.primary, *self.others)


class Missing(Declared):
    """``[missing]``: what a rate does by default with a trial that has no result, and why."""

    policy: Policy = "exclude"
    reason: str = ""


class Rule(Declared):
    """``[rules."<rule>"]``: how grave breaking it is, and the tasks it applies to."""

    severity: Severity
    tasks: Literal["*"] | tuple[Text, ...] = "*"

    def applies_to(self, task: str) -> bool:
        """Tell whether the rule can be broken at all in a trial of ``task``."""
        return self.tasks == "*" or task in self.tasks


class Comparison(Declared):
    """``[[comparisons]]``: candidate against reference, with the margin that would be 'the same'.

    An arm of another study is written ``study_id:arm``. The difference is candidate minus
    reference.
    """

    name: Text
    measure: Text
    reference: Text
    candidate: Text
    perturbations: tuple[Text, ...] = ()
    margin: Annotated[float, Field(gt=0, lt=1, strict=True)]
    note: str = ""


class ArgumentField(Declared):
    """``[arguments.<tool>]``, one entry: how an argument is compared, how much it matters."""

    policy: Literal["exact", "numeric", "text", "set", "multiset", "ignore"] = "exact"
    absolute_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    relative_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    severity: Severity = "high"


class Control(Declared):
    """``[[controls]]``: a control as an auditor tests it, the rules that show it at work.

    The tolerable rate is the largest rate of deviations at which the control can still be relied
    on; 0 means that no deviation is tolerable.
    """

    id: Text
    title: Text
    rules: Annotated[tuple[Text, ...], Field(min_length=1)]
    tolerable_rate: Annotated[float, Field(ge=0, lt=1, strict=True)]


class Declaration(Declared):
    """A whole ``study.toml``."""

    study: StudyInfo
    data: DataSource
    design: Design
    measures: Measures
    missing: Missing = Missing()
    scope: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    rules: dict[str, Rule] = Field(default_factory=dict)
    arguments: dict[Text, dict[Text, ArgumentField]] = Field(default_factory=dict)
    controls: tuple[Control, ...] = ()
    run: RunDeclaration | None = None
    report: ReportDeclaration | None = None

    @model_validator(mode="after")
    def _check_run(self) -> Self:
        if self.run is not None:
            if self.study.origin not in ("run", "replay"):
                raise ValueError(
                    f"[run] is for studies of origin 'run' or 'replay', not {self.study.origin!r}"
                )
            self.run.check_names(self.design.arms, self.design.perturbations)
        return self

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        for column in self.scope:
            if column not in SCOPE_COLUMNS:
                raise ValueError(f"scope names {column!r}; accepted: {', '.join(SCOPE_COLUMNS)}")
        names = [comparison.name for comparison in self.comparisons]
        if len(set(names)) < len(names):
            raise ValueError("two comparisons have one name")
        for comparison in self.comparisons:
            for arm in (comparison.reference, comparison.candidate):
                if ":" not in arm and arm not in self.design.arms:
                    raise ValueError(
                        f"comparison {comparison.name!r} names the unknown arm {arm!r}"
                    )
            unknown = sorted(set(comparison.perturbations) - set(self.design.perturbations))
            if unknown:
                raise ValueError(
                    f"comparison {comparison.name!r} names the unknown perturbations {unknown}"
                )
        return self

    @model_validator(mode="after")
    def _check_controls(self) -> Self:
        ids = [control.id for control in self.controls]
        if len(set(ids)) < len(ids):
            raise ValueError("two controls have one id")
        for control in self.controls:
            unknown = sorted(set(control.rules) - set(self.rules))
            if unknown:
                raise ValueError(
                    f"control {control.id!r} names {unknown}, which [rules] does not declare"
                )
        return self

    @property
    def argument_schemas(self) -> dict[str, ArgumentSchema]:
        """How the arguments of each tool are compared, as the trials room takes it."""
        return {
            tool: ArgumentSchema(
                {name: FieldPolicy(**field.model_dump()) for name, field in fields.items()}
            )
            for tool, fields in self.arguments.items()
        }

    @property
    def id(self) -> str:
        """The study's id, which is also its folder's name."""
        return self.study.id

    def to_json(self) -> str:
        """Return the declaration as canonical JSON, for ``studies.design``."""
        content = self.model_dump(mode="json", by_alias=True)
        for section in ("run", "report"):  # most studies have nothing to say about them
            if content[section] is None:
                del content[section]
        return canonical_dumps(content)

    def row(self) -> dict[str, str | None]:
        """Return the study's row of the table ``studies``; the design is JSON text."""
        info = self.study
        return {
            "study": info.id,
            "title": info.title,
            "origin": info.origin,
            "source": info.source,
            "licence": info.licence,
            "model": info.model,
            "created_at": info.created_at,
            "design": self.to_json(),
        }

    @classmethod
    def from_json(cls, text: str) -> Declaration:
        """Read what `to_json` wrote."""
        return cls.model_validate_json(text)

    @classmethod
    def of(cls, **content: Mapping[str, Any]) -> Declaration:
        """Build a declaration from plain dictionaries, as tests and notebooks do.

        Raises
        ------
        StudyError
            If the content breaks the schema.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise StudyError(f"not a study declaration: {shown_faults(error)}") from None


def read_declaration(path: Path, shown_as: str = "") -> Declaration:
    """Read one ``study.toml``.

    Parameters
    ----------
    path : pathlib.Path
        The file; the name of its folder must be the study's id.
    shown_as : str, optional
        How messages name the file.

    Returns
    -------
    Declaration

    Raises
    ------
    StudyError
        With file, line and field.
    """
    declaration = read_toml(path, Declaration, shown_as)
    if declaration.id != path.parent.name:
        raise StudyError(
            f"{shown_as or path.name}: study.id is {declaration.id!r}, but the folder is called "
            f"{path.parent.name!r}; they must agree"
        )
    return declaration


def read_declarations(root: Path) -> dict[str, Declaration]:
    """Read the declaration of every study of a project.

    Parameters
    ----------
    root : pathlib.Path
        The folder that holds ``experiments/``.

    Returns
    -------
    dict of str to Declaration
        By study id, sorted. Folders without a ``study.toml`` (benchmarks, calibration) are no
        studies.

    Raises
    ------
    StudyError
        If one breaks the schema, two claim the same rows, or a comparison names an arm of
        another study that does not exist.
    """
    found = {}
    for path in sorted((root / "experiments").glob("*/study.toml")):
        declaration = read_declaration(path, f"experiments/{path.parent.name}/study.toml")
        found[declaration.id] = declaration
    if not found:
        raise StudyError("experiments/ holds no study: there is no experiments/<study>/study.toml")
    _check_rows_apart(found)
    _check_comparisons(found)
    return found


def choose(declarations: Mapping[str, Declaration], study: str) -> Declaration:
    """Return the declaration of ``study``.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    """
    if study not in declarations:
        raise UnknownNameError("study", study, declarations)
    return declarations[study]


def _check_rows_apart(declarations: Mapping[str, Declaration]) -> None:
    owners: dict[tuple[str, str | None], str] = {}
    for name, declaration in declarations.items():
        rows = (declaration.data.source, declaration.data.study)
        if rows in owners:
            raise StudyError(
                f"experiments/{name}/study.toml: data.source and data.study are also those of "
                f"{owners[rows]}; each study needs rows of its own"
            )
        owners[rows] = name


def _check_comparisons(declarations: Mapping[str, Declaration]) -> None:
    for name, declaration in declarations.items():
        for comparison in declaration.comparisons:
            for side in (comparison.reference, comparison.candidate):
                study, separator, arm = side.rpartition(":")
                if not separator:
                    continue
                where = f"experiments/{name}/study.toml, comparison {comparison.name!r}"
                if study not in declarations:
                    raise UnknownNameError("study", study, declarations, where)
                arms = declarations[study].design.arms
                if arm not in arms:
                    raise UnknownNameError("arm", arm, arms, where)


def _check_id(name: str, value: str) -> None:
    try:
        check_part(name, value)
    except InputError as error:
        raise ValueError(str(error)) from None
    if ":" in value and name == "arms":
        raise ValueError(f"the arm {value!r} holds ':', which separates study and arm")
