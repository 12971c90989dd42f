"""From a source's rows to the rows of the tables: one general path for every study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from steelyard.errors import DataError, InputError
from steelyard.store.batch import Batch
from steelyard.store.columns import Into
from steelyard.store.declaration import Declaration
from steelyard.store.derive import derive
from steelyard.store.schema import TABLES
from steelyard.store.source import Source, SourceFile
from steelyard.store.table_definition import Table
from steelyard.store.values import NOT_APPLICABLE, convert, texts
from steelyard.trials.strict_json import canonical_dumps, loads

_STATE_TYPES = {
    "text": "TEXT",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "json": "JSON",
}


def load_study(
    connection: duckdb.DuckDBPyConnection, source: Source, declaration: Declaration
) -> dict[str, int]:
    """Load one study from its source into the tables.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A database with empty tables, or without this study.
    source : Source
        The files.
    declaration : Declaration
        The study.

    Returns
    -------
    dict of str to int
        Rows written, by table.

    Raises
    ------
    DataError
        For the first row that cannot be read as declared: file, line and field. Nothing is
        written then.
    """
    loader = _Loader(source, declaration)
    batches = loader.run()
    for batch in batches.values():
        batch.check_keys()
    for batch in batches.values():
        batch.insert(connection)
    return {name: len(batch) for name, batch in batches.items()}


class _Loader:
    """The state of one load: the batches so far and where each trial came from."""

    def __init__(self, source: Source, declaration: Declaration) -> None:
        self.source = source
        self.declaration = declaration
        self.study = declaration.id
        self.batches = {name: Batch(table) for name, table in TABLES.items()}
        self.position: dict[str, int] = {}  # of a trial within its batch

    def run(self) -> dict[str, Batch]:
        """Fill every batch: trials first, since the other tables refer to them."""
        place = f"experiments/{self.study}/study.toml"
        row = self.declaration.row()
        self.batches["studies"].extend({name: [value] for name, value in row.items()}, [place])
        work = [part for file in self.source.files for part in self._share_out(file)]
        for file, into, rows in work:
            if into.table == "trials" and not into.amend:
                self._add_trials(file, into, rows)
        for file, into, rows in work:
            if into.amend:
                self._amend_trials(file, into, rows)
        for file, into, rows in work:
            if into.table != "trials":
                self._add_rows(file, into, rows)
        derive(self.batches, self.declaration, self.source.columns.derived)
        return self.batches

    def _share_out(self, file: SourceFile) -> list[tuple[SourceFile, Into, list[int]]]:
        """Say which rows of a file go into which table; every row must go somewhere."""
        rows, skipped = file.rows_of(self.declaration.data.study)
        for reason, count in sorted(skipped.items()):
            row = {"study": self.study, "file": file.name, "reason": reason, "rows": count}
            self.batches["skipped_rows"].extend({n: [v] for n, v in row.items()}, [file.name])
        parts = [(file, into, _only(file, into, rows)) for into in file.declared.into]
        lost = set(rows).difference(*(chosen for _, _, chosen in parts))
        if lost:
            conditions = "; ".join(
                f"{column} in {', '.join(map(repr, accepted))}"
                for into in file.declared.into
                for column, accepted in into.only.items()
            )
            raise DataError(
                f"{file.table.place(min(lost))}: the row goes into no table; accepted: {conditions}"
            )
        return parts

    def _add_trials(self, file: SourceFile, into: Into, rows: Sequence[int]) -> None:
        trial_ids, parts = file.keys(rows)
        for part, known in (
            ("arm", self.declaration.design.arms),
            ("perturbation", self.declaration.design.perturbations),
        ):
            for row, name in zip(rows, parts[part], strict=True):
                if name not in known:
                    raise DataError(
                        f"{file.table.place(row)}: {part} {name!r} is not declared in "
                        f"experiments/{self.study}/study.toml; declared: {', '.join(known)}"
                    )
        values: dict[str, Sequence[Any]] = {
            "study": [self.study] * len(rows),
            "trial_id": trial_ids,
            **parts,
            "repeat": [int(repeat) for repeat in parts["repeat"]],
            "status": ["completed"] * len(rows),
            "model": [self.declaration.study.model] * len(rows),
            **self._columns(file, into, rows, TABLES["trials"]),
        }
        batch = self.batches["trials"]
        begins = len(batch)
        batch.extend(values, [file.table.place(row) for row in rows])
        for offset, trial_id in enumerate(trial_ids):
            earlier = self.position.setdefault(trial_id, begins + offset)
            if earlier != begins + offset:
                raise DataError(
                    f"{batch.places[earlier]} and {batch.places[begins + offset]} are both trial "
                    f"{trial_id!r} of study {self.study}; a trial is one row"
                )

    def _amend_trials(self, file: SourceFile, into: Into, rows: Sequence[int]) -> None:
        trial_ids = self._trial_ids(file, into, rows)
        values = self._columns(file, into, rows, TABLES["trials"])
        trials = self.batches["trials"]
        for name, cells in values.items():
            if name == "trial_id":
                continue
            for row, trial_id, value in zip(rows, trial_ids, cells, strict=True):
                position = self.position[trial_id]
                if trials.columns[name][position] is not None:
                    raise DataError(
                        f"{file.table.place(row)}: {name} of trial {trial_id!r} is already given "
                        f"by {trials.places[position]}"
                    )
                trials.columns[name][position] = value

    def _add_rows(self, file: SourceFile, into: Into, rows: Sequence[int]) -> None:
        table = TABLES[into.table]
        values = self._columns(file, into, rows, table)
        values["study"] = [self.study] * len(rows)
        if "trial_id" in table.names:
            values["trial_id"] = self._trial_ids(file, into, rows)
        places = [file.table.place(row) for row in rows]
        batch = self.batches[into.table]
        if not into.values:
            kept = list(range(len(rows)))
            if into.table == "measures":
                kept = [i for i, v in enumerate(values["value"]) if v is not NOT_APPLICABLE]
            batch.extend(
                {name: [column[i] for i in kept] for name, column in _nulled(values).items()},
                [places[i] for i in kept],
            )
        elif into.table == "states":
            values["state"] = _states(file, into, rows)
            batch.extend(values, places)
        else:
            self._add_long(file, into, rows, values, places)

    def _add_long(
        self,
        file: SourceFile,
        into: Into,
        rows: Sequence[int],
        values: dict[str, Sequence[Any]],
        places: Sequence[str],
    ) -> None:
        """Turn each named column of a wide file into rows; ``NA`` makes no row."""
        table = TABLES[into.table]
        name_column = "measure" if into.table == "measures" else "name"
        for name, mapping in into.values.items():
            cells = convert(
                texts(mapping, file.table, rows),
                table.column("value").type,
                file.table,
                rows,
                mapping,
            )
            kept = [i for i, value in enumerate(cells) if value is not NOT_APPLICABLE]
            self.batches[into.table].extend(
                {
                    "study": [self.study] * len(kept),
                    "trial_id": [values["trial_id"][i] for i in kept],
                    name_column: [name] * len(kept),
                    "value": [cells[i] for i in kept],
                },
                [places[i] for i in kept],
            )

    def _columns(
        self, file: SourceFile, into: Into, rows: Sequence[int], table: Table
    ) -> dict[str, Sequence[Any]]:
        values: dict[str, Sequence[Any]] = {}
        for name, mapping in into.columns.items():
            cells = texts(mapping, file.table, rows)
            column = convert(cells, table.column(name).type, file.table, rows, mapping)
            keeps_na = into.table == "measures" and name == "value"
            values[name] = column if keeps_na else _nulled({name: column})[name]
        return values

    def _trial_ids(self, file: SourceFile, into: Into, rows: Sequence[int]) -> list[str]:
        if "trial_id" in into.columns:
            ids = [str(text) for text in texts(into.columns["trial_id"], file.table, rows)]
        else:
            ids, _ = file.keys(rows)
        for row, trial_id in zip(rows, ids, strict=True):
            if trial_id not in self.position:
                raise DataError(
                    f"{file.table.place(row)}: trial {trial_id!r} is not among the "
                    f"{len(self.position)} trials of study {self.study}"
                )
        return ids


def _only(file: SourceFile, into: Into, rows: Sequence[int]) -> list[int]:
    for column, accepted in into.only.items():
        cells = file.table.columns[column]
        rows = [row for row in rows if cells[row] in accepted]
    return list(rows)


def _nulled(values: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Outside of measures and states a table has no other way to say 'does not apply'."""
    return {
        name: [None if value is NOT_APPLICABLE else value for value in column]
        for name, column in values.items()
    }


def _states(file: SourceFile, into: Into, rows: Sequence[int]) -> list[str]:
    """Assemble state objects; a blank member is null, an ``NA`` member is left out."""
    members = {}
    for name, mapping in into.values.items():
        sql_type = _STATE_TYPES[mapping.type or "text"]
        cells = convert(texts(mapping, file.table, rows), sql_type, file.table, rows, mapping)
        members[name] = [_as_member(value, sql_type) for value in cells]
    states: list[str] = []
    for row, together in zip(rows, zip(*members.values(), strict=True), strict=True):
        state = {n: v for n, v in zip(members, together, strict=True) if v is not NOT_APPLICABLE}
        try:
            states.append(canonical_dumps(state))
        except InputError as error:
            raise DataError(
                f"{file.table.place(row)}: the state cannot be written: {error}"
            ) from None
    return states


def _as_member(value: Any, sql_type: str) -> Any:
    if sql_type == "JSON" and isinstance(value, str):
        return loads(value)
    # 4500.0 is written as 4500: a table cell does not say which of the two the source meant.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
