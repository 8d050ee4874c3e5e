"""What a transaction asks of the buffer pool: records of tables, some of their columns, and leaves of indexes."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias


class Action(Enum):
    """What a statement does with its records."""

    READ = "read"
    UPDATE = "update"
    INSERT = "insert"
    DELETE = "delete"


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement on one table; statements that follow each other on the same records are one. Inserts write whole records."""

    table: str
    action: Action
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """Columns that are read or written."""
        return frozenset(self.reads + self.writes)

    @property
    def changes(self) -> bool:
        """Whether pages are dirty afterwards."""
        return self.action is not Action.READ


class Access(NamedTuple):
    """A statement works on ``records`` consecutive records from number ``record`` on."""

    statement: Statement
    record: int
    records: int = 1


class IndexVisit(NamedTuple):
    """A leaf of an index is searched, or changed. What lies above the leaves is a part of that: it never leaves the pool."""

    tree: str
    leaf: int
    changes: bool


Visit: TypeAlias = Access | IndexVisit
