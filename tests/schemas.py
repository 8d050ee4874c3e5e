"""Page schemas as the columns in them."""

from collections.abc import Iterable, Iterator

from memwalk.traces.storage import Schema


def schema_of(columns: Iterable[int]) -> Schema:
    """Return the schema of the columns with these numbers."""
    schema = 0
    for column in columns:
        schema |= 1 << column
    return schema


def columns_of(schema: Schema) -> Iterator[int]:
    """List the columns of a schema in ascending order."""
    column = 0
    while schema:
        if schema & 1:
            yield column
        schema >>= 1
        column += 1
