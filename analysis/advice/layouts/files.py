"""The two files of an advice: a table, and the queries that scan it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from memwalk.simcore.errors import UserError
from memwalk.simcore.units import Bytes, PositiveCount, Real
from memwalk.simcore.validation import StrictModel, nearest, validate
from memwalk.simcore.yaml_source import Sourced, load


class SchemaFile(StrictModel):
    """A table of attributes of one size."""

    schema_version: Literal[1]
    name: str
    records: PositiveCount
    attribute_bytes: Bytes = Field(description="Size of every attribute: 4B or 8B")
    attributes: list[str] = Field(min_length=1, description="Names, in the order in which they are stored")


class Query(StrictModel):
    """A scan: conditions on ``predicates`` hold for ``selectivity`` of the records, whose ``project`` attributes are returned."""

    name: str
    weight: Real = Field(1.0, ge=1e-12, le=1e12, description="How often it runs, relative to the others")
    predicates: list[str] = Field(default_factory=list)
    selectivity: Real = Field(1.0, gt=0, le=1)
    project: list[str] = Field(min_length=1)

    @property
    def attributes(self) -> list[str]:
        """Attributes that the query reads, each once."""
        return list(dict.fromkeys([*self.predicates, *self.project]))


class QueriesFile(StrictModel):
    """Queries over one table, and how its pages are kept."""

    schema_version: Literal[1]
    page_bytes: Bytes
    prefetch_bytes: Bytes = Field(gt=0, description="Memory for reading columns ahead, divided among the columns of a query")
    queries: list[Query] = Field(min_length=1)


@dataclass(frozen=True)
class Task:
    """A table and its queries, checked against each other."""

    schema: SchemaFile
    workload: QueriesFile
    table_source: Sourced = field(repr=False, compare=False)
    query_source: Sourced = field(repr=False, compare=False)

    def mistake(self, path: str, message: str) -> UserError:
        """Tell at its place in the files what is wrong with a parameter of the kernel that scans."""
        name = path.partition(".")[0]
        if name in SchemaFile.model_fields:
            return self.table_source.error((name,), f"{path}: {message}")
        return self.query_source.error((_OF_QUERIES.get(name, name),), f"{path}: {message}")


_OF_QUERIES = {"header_bytes": "page_bytes"}
"""Parameters of the kernel that follow from something in the file of queries."""


def load_task(schema: Path, workload: Path) -> Task:
    """Read both files. Raises UserError, one line per mistake, with file, line and column."""
    table_source, query_source = load(schema), load(workload)
    table, queries = validate(SchemaFile, table_source), validate(QueriesFile, query_source)
    _known_once(table_source, ("attributes",), table.attributes, None)
    _once(query_source, [query.name for query in queries.queries])
    for index, query in enumerate(queries.queries):
        for part in ("predicates", "project"):
            _known_once(query_source, ("queries", index, part), getattr(query, part), table.attributes)
        if query.selectivity < 1 and not query.predicates:
            message = "selectivity: has no effect on this query: it is for queries with predicates; remove it"
            raise query_source.error(("queries", index, "selectivity"), message)
    _room_to_read_ahead(query_source, queries)
    return Task(table, queries, table_source, query_source)


def _room_to_read_ahead(source: Sourced, file: QueriesFile) -> None:
    """Refuse memory for reading ahead that has no page for each column of a query."""
    widest = max(file.queries, key=lambda query: len(query.attributes))
    columns = len(widest.attributes)
    if file.prefetch_bytes < (least := columns * file.page_bytes):
        pages = f"a page of {file.page_bytes} for each of the {columns} columns of `{widest.name}`"
        raise source.error(
            ("prefetch_bytes",), f"prefetch_bytes: {file.prefetch_bytes} bytes are less than {pages}; give at least {least}B"
        )


def _once(source: Sourced, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise source.error(("queries", index, "name"), f"a query is called `{name}` already; give each a name of its own")


def _known_once(source: Sourced, route: tuple[str | int, ...], names: list[str], known: list[str] | None) -> None:
    """Refuse a name given twice, or one that the table does not have."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise source.error((*route, index), f"`{name}` is given twice; remove one")
        if known is not None and name not in known:
            raise source.error((*route, index), f"the table has no attribute `{name}`; {nearest(name, known)}")
