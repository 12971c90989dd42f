"""What a table is: its columns, its key, the order of its rows, and the DDL that follows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    type : str
        ``TEXT``, ``INTEGER``, ``BIGINT``, ``DOUBLE``, ``BOOLEAN`` or ``JSON``.
    meaning : str
        One phrase; for numbers with the unit.
    required : bool
        Whether NULL is refused.
    accepted : tuple of str
        The values the column may hold; empty for no restriction.
    """

    name: str
    type: str
    meaning: str
    required: bool = False
    accepted: tuple[str, ...] = ()

    @property
    def ddl(self) -> str:
        """The column's line of the CREATE TABLE statement."""
        check = ""
        if self.accepted:
            words = ", ".join(f"'{word}'" for word in self.accepted)
            check = f" CHECK ({self.name} IN ({words}))"
        return f"{self.name} {self.type}{' NOT NULL' if self.required else ''}{check}"


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes
    ----------
    name : str
    meaning : str
        What one row is.
    columns : tuple of Column
    key : tuple of str
        What identifies a row; empty where a fact may occur twice.
    indexed : bool
        Whether the database keeps the key as PRIMARY KEY. The long tables go without: indexes
        over their texts would more than triple the file, and `steelyard.store.batch` refuses a
        second row with one key anyway.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    indexed: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def order(self) -> tuple[str, ...]:
        """A sort key that leaves no tie between different rows."""
        return self.key or self.names

    @property
    def ddl(self) -> str:
        """The CREATE TABLE statement."""
        lines = [column.ddl for column in self.columns]
        if self.key and self.indexed:
            lines.append(f"PRIMARY KEY ({', '.join(self.key)})")
        return f"CREATE TABLE {self.name} (\n  " + ",\n  ".join(lines) + "\n)"

    def column(self, name: str) -> Column:
        """Return the column called ``name``; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)
