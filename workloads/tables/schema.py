"""Tables as layouts see them: columns with their sizes, and a number of records."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column; ``bytes`` is the most that a value takes, ``average_bytes`` what values take on average."""

    name: str
    type: str
    """SQL type in lower case without its length: ``integer``, ``decimal``, ``date``, ``char``, ``varchar``."""
    bytes: int
    average_bytes: float

    @classmethod
    def fixed(cls, name: str, type_: str, size: int) -> "Column":
        """Make a column whose values all take ``size`` bytes."""
        return cls(name, type_, size, float(size))

    @property
    def variable(self) -> bool:
        """Whether values differ in length."""
        return self.type == "varchar"


@dataclass(frozen=True)
class Table:
    """A table: its columns in the order of the schema, and how many records it has."""

    name: str
    columns: tuple[Column, ...]
    records: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def bytes(self) -> int:
        """The most that the values of a record take together."""
        return sum(column.bytes for column in self.columns)

    @property
    def average_bytes(self) -> float:
        """What the values of a record take together on average."""
        return sum(column.average_bytes for column in self.columns)

    def pick(self, names: Iterable[str]) -> tuple[Column, ...]:
        """Pick columns by name, each once, in the order of the schema. Raises ValueError for a name that is not there."""
        wanted = set(names)
        unknown = sorted(wanted.difference(self.names))
        if unknown:
            raise ValueError(f"table {self.name} has no column `{unknown[0]}`; it has {', '.join(self.names)}")
        return tuple(column for column in self.columns if column.name in wanted)
