"""A source's files, read once, and which of their rows belong to which study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.errors import DataError, InputError
from steelyard.store.columns import FileColumns, SourceColumns, read_columns
from steelyard.store.tabular import TextTable, read_csv
from steelyard.store.values import texts
from steelyard.trials.ids import PARTS, check_part, escape_part


@dataclass(frozen=True)
class SourceFile:
    """One file and its declaration.

    Attributes
    ----------
    name : str
        Path below ``data/``.
    declared : FileColumns
    table : TextTable
    owner : list of str or None
        For each row, the name of its study in the source.
    """

    name: str
    declared: FileColumns
    table: TextTable
    owner: list[str | None]

    def rows_of(self, study: str | None) -> tuple[list[int], dict[str, int]]:
        """Return the rows of a study that are trials, and the counts of those that are not.

        Parameters
        ----------
        study : str or None
            The study's name in the source.

        Returns
        -------
        rows : list of int
        skipped : dict of str to int
            Reason and number of rows.
        """
        reasons: dict[int, str] = {}
        for skip in self.declared.skip:
            column = self.table.columns[skip.column]
            for row, text in enumerate(column):
                if text in skip.values:
                    reasons.setdefault(row, skip.reason)
        mine = [row for row, owner in enumerate(self.owner) if owner == study]
        skipped: dict[str, int] = {}
        for row in mine:
            if row in reasons:
                skipped[reasons[row]] = skipped.get(reasons[row], 0) + 1
        return [row for row in mine if row not in reasons], skipped

    def keys(self, rows: Sequence[int]) -> tuple[list[str], dict[str, list[str]]]:
        """Compose trial ids from the key columns.

        Parameters
        ----------
        rows : sequence of int

        Returns
        -------
        trial_ids : list of str
        parts : dict of str to list of str
            The five parts, unescaped.

        Raises
        ------
        DataError
            If a part cannot be part of an id.
        """
        parts: dict[str, list[str]] = {}
        escaped: list[list[str]] = []
        for part in PARTS:
            cells = texts(self.declared.key[part], self.table, rows)
            known: dict[str | None, str] = {}
            for row, text in zip(rows, cells, strict=True):
                if text not in known:
                    known[text] = self._checked(part, text, row)
            parts[part] = [text or "" for text in cells]
            escaped.append([known[text] for text in cells])
        return ["/".join(together) for together in zip(*escaped, strict=True)], parts

    def _checked(self, part: str, text: str | None, row: int) -> str:
        columns = "+".join(self.declared.key[part].columns)
        try:
            checked = check_part(part, "" if text is None else text)
        except InputError as error:
            raise DataError(f"{self.table.place(row, columns)}: {error}") from None
        if part != "repeat":
            return escape_part(checked)
        if not checked.isascii() or not checked.isdigit() or int(checked) >= 2**31:
            raise DataError(
                f"{self.table.place(row, columns)}: repeat {checked!r} is not a whole number "
                "from 0 to 2147483647"
            )
        return str(int(checked))


@dataclass
class Source:
    """A folder below ``data/`` with its ``columns.toml``.

    Parameters
    ----------
    folder : pathlib.Path
        For example ``data/plumbline``.
    """

    folder: Path
    columns: SourceColumns = field(init=False)
    files: list[SourceFile] = field(init=False)

    def __post_init__(self) -> None:
        shown = f"data/{self.folder.name}"
        if not self.folder.is_dir():
            raise DataError(f"{shown}: there is no such folder")
        self.columns = read_columns(self.folder / "columns.toml", f"{shown}/columns.toml")
        self.files = [
            self._read(name, declared, f"{shown}/{name}")
            for name, declared in self.columns.files.items()
        ]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    def check_owners(self, studies: Iterable[str | None]) -> None:
        """Refuse rows of a study that nobody declared: they would be lost without a word.

        Parameters
        ----------
        studies : iterable of str or None
            ``data.study`` of every declaration with this source.

        Raises
        ------
        DataError
        """
        known = set(studies)
        for file in self.files:
            for row, owner in enumerate(file.owner):
                if owner not in known:
                    accepted = ", ".join(sorted(repr(study) for study in known))
                    raise DataError(
                        f"{file.table.place(row)}: study {owner!r} is declared by no "
                        f"experiments/*/study.toml; declared: {accepted}"
                    )

    def _read(self, name: str, declared: FileColumns, shown: str) -> SourceFile:
        table = read_csv(self.folder / name, shown)
        expected = declared.used | set(declared.ignored)
        missing = sorted(expected - set(table.columns))
        if missing:
            raise DataError(f"{shown}:1: column {', '.join(map(repr, missing))} is missing")
        unknown = sorted(set(table.columns) - expected)
        if unknown:
            raise DataError(
                f"{shown}:1: column {', '.join(map(repr, unknown))} is not in columns.toml; "
                "map it, or list it under ignored with the reason"
            )
        everything = range(len(table))
        owner: list[str | None] = [None] * len(table)
        if declared.study is not None:
            owner = texts(declared.study, table, everything)
        return SourceFile(f"{self.name}/{name}", declared, table, owner)
