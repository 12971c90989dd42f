"""``data/<source>/columns.toml``: how the rows of a source's files become rows of the tables.

A source is described, not programmed. Every column of every file is either used by a mapping or
listed as ignored with the reason; a column that is neither is an error, so that nothing is lost
by accident when a source changes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from steelyard.errors import StudyError
from steelyard.store.schema import TABLES
from steelyard.store.toml_files import Declared, read_toml
from steelyard.trials.ids import PARTS

LONG_TABLES = ("measures", "covariates")
"""Tables with one row per trial and name, which a wide file fills with ``values``."""

Kind = Literal["text", "integer", "number", "boolean", "json"]


class Pattern(Declared):
    r"""One rule of a pattern list: a regular expression for the whole text, and what it becomes.

    ``give`` may use the groups of ``match`` (``\1``). The first pattern that matches decides.
    """

    match: str
    give: str

    @model_validator(mode="after")
    def _check_expression(self) -> Self:
        try:
            re.compile(self.match)
        except re.error as error:
            raise ValueError(f"{self.match!r} is not a regular expression: {error}") from None
        return self


class Mapping(Declared):
    """Where one column of a table takes its values from.

    Exactly one of ``column``, ``join`` and ``constant`` names the origin. ``map`` and
    ``patterns`` then translate the text; a text that neither knows is an error, unless
    ``otherwise`` gives a value for it; a translation to the empty text means NULL. ``nulls``
    lists further spellings of "not recorded"; in numbers, booleans and JSON the blank always is
    one.

    Attributes
    ----------
    column : str, optional
        A column of the file.
    join : tuple of str, optional
        Several columns, joined by ``separator``; blank ones are left out.
    constant : str, optional
        The same text in every row.
    map : dict of str to str
        Exact texts and what they become.
    patterns : tuple of Pattern
        Tried in order on texts that ``map`` does not hold.
    otherwise : str, optional
        For texts that neither knows.
    nulls : tuple of str
        Texts that mean NULL, compared before translation.
    scale : float
        Numbers are multiplied by it (1000 turns seconds into milliseconds).
    type : str, optional
        For members of a state: how to read the text. Elsewhere the table's column decides.
    """

    column: str | None = None
    join: tuple[str, ...] = ()
    separator: str = ":"
    constant: str | None = None
    map: dict[str, str] = Field(default_factory=dict)
    patterns: tuple[Pattern, ...] = ()
    otherwise: str | None = None
    nulls: tuple[str, ...] = ()
    scale: float = 1.0
    type: Kind | None = None

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        given = (self.column is not None) + bool(self.join) + (self.constant is not None)
        if given != 1:
            raise ValueError("give exactly one of column, join and constant")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The file's columns that it reads."""
        return self.join or ((self.column,) if self.column is not None else ())


def _shorthand(value: object) -> object:
    """Let ``arm = "agent"`` stand for ``arm = { column = "agent" }``."""
    return {"column": value} if isinstance(value, str) else value


MappingField = Annotated[Mapping, BeforeValidator(_shorthand)]


class Skip(Declared):
    """Rows that are no trials: left out and counted, with the reason."""

    column: str
    values: Annotated[tuple[str, ...], Field(min_length=1)]
    reason: Annotated[str, Field(min_length=1)]


class Into(Declared):
    """One table that a file's rows go into.

    Attributes
    ----------
    table : str
        Name of the table.
    only : dict of str to tuple of str
        Column of the file and the texts it must hold; other rows do not go here.
    amend : bool
        Fill NULL columns of trials that another file brought, instead of adding trials.
    columns : dict of str to Mapping
        Column of the table and where it comes from.
    values : dict of str to Mapping
        For measures and covariates: name and where its value comes from. For states: member
        of the state object and where it comes from.
    """

    table: str
    only: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    amend: bool = False
    columns: dict[str, MappingField] = Field(default_factory=dict)
    values: dict[str, MappingField] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_against_schema(self) -> Self:
        if self.table not in TABLES or self.table in ("studies", "skipped_rows"):
            accepted = sorted(set(TABLES) - {"studies", "skipped_rows"})
            raise ValueError(f"unknown table {self.table!r}; accepted: {', '.join(accepted)}")
        unknown = sorted(set(self.columns) - set(TABLES[self.table].names))
        if unknown:
            raise ValueError(f"table {self.table} has no column {', '.join(unknown)}")
        if self.values and self.table not in (*LONG_TABLES, "states"):
            raise ValueError(f"values are for measures, covariates and states, not {self.table}")
        if self.amend and self.table != "trials":
            raise ValueError("only trials can be amended")
        return self

    @property
    def mappings(self) -> tuple[Mapping, ...]:
        """Every mapping of this table."""
        return (*self.columns.values(), *self.values.values())


class FileColumns(Declared):
    """One file of a source.

    Attributes
    ----------
    study : Mapping, optional
        Which study a row belongs to, compared with ``data.study`` of the declarations; absent
        where every row belongs to the one study of the source.
    key : dict of str to Mapping
        The five parts of the trial id. Absent where the file holds the id itself, or no trials.
    skip : tuple of Skip
    ignored : dict of str to str
        Columns that no table takes, and why.
    into : tuple of Into
    """

    study: MappingField | None = None
    key: dict[str, MappingField] = Field(default_factory=dict)
    skip: tuple[Skip, ...] = ()
    ignored: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    into: Annotated[tuple[Into, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_key(self) -> Self:
        if self.key and set(self.key) != set(PARTS):
            raise ValueError(f"key must hold exactly {', '.join(PARTS)}")
        for into in self.into:
            needs_key = "trial_id" in TABLES[into.table].names and "trial_id" not in into.columns
            if needs_key and not self.key:
                raise ValueError(f"table {into.table} needs a trial: give key, or map trial_id")
        return self

    @property
    def used(self) -> set[str]:
        """The file's columns that some mapping reads."""
        mappings = [*self.key.values()]
        if self.study is not None:
            mappings.append(self.study)
        for into in self.into:
            mappings.extend(into.mappings)
        names = {name for mapping in mappings for name in mapping.columns}
        names.update(skip.column for skip in self.skip)
        names.update(column for into in self.into for column in into.only)
        return names


class Derived(Declared):
    """A measure that follows from the violations: 1 where nothing was violated, else 0.

    Attributes
    ----------
    measure : str
        Its name; with ``per_rule``, ``{rule}`` stands for the rule's id.
    per_rule : bool
        One measure for every rule of the study's ``[rules]``, for the tasks the rule applies
        to, instead of one measure over all rules.
    severities : tuple of str
        Count only violations of these severities; all when empty.
    """

    measure: str
    per_rule: bool = False
    severities: tuple[Literal["critical", "high", "medium", "low"], ...] = ()

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if self.per_rule != ("{rule}" in self.measure):
            raise ValueError("the name holds {rule} exactly when per_rule is true")
        return self


class SourceColumns(Declared):
    """A whole ``columns.toml``: its files by name, and what is derived from them."""

    files: Annotated[dict[str, FileColumns], Field(min_length=1)]
    derived: tuple[Derived, ...] = ()


def read_columns(path: Path, shown_as: str = "") -> SourceColumns:
    """Read one ``columns.toml``.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    shown_as : str, optional
        How messages name it.

    Returns
    -------
    SourceColumns

    Raises
    ------
    StudyError
        With file, line and field.
    """
    columns = read_toml(path, SourceColumns, shown_as)
    for name, file in columns.files.items():
        both = sorted(file.used & set(file.ignored))
        if both:
            raise StudyError(
                f"{shown_as or path.name}: files.{name}.ignored lists {', '.join(both)}, "
                "which a mapping of the file uses"
            )
    return columns
