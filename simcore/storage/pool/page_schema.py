"""Which columns pages in the buffer pool hold: schemas as bit vectors, and the list of them that a table's queries share.

Shao, Schindler, Schlosser, Ailamaki, Ganger 2004, "Clotho: decoupling memory page layout from storage organization" (VLDB),
section 4.2 and Figure 4.
"""

from memwalk.traces.storage import Schema


def subsumes(held: Schema, asked: Schema) -> bool:
    """Say whether a page with schema ``held`` has every column of ``asked``."""
    return asked & ~held == 0


class PageSchemas:
    """The page schemas of one table: what a page holds that is brought for one of the active queries.

    No two schemas of the list overlap, so that a query's columns are in exactly one of them.
    """

    def __init__(self, full: Schema) -> None:
        """Start without queries; ``full`` has all columns of the table."""
        self._full = full
        self._active: dict[int, Schema] = {}
        self._next_query = 0
        self._pages: list[Schema] = []

    @property
    def pages(self) -> tuple[Schema, ...]:
        """The list as it stands."""
        return tuple(self._pages)

    def begin(self, schema: Schema) -> int:
        """Enter a query that needs ``schema`` (a query that writes: the full one); returns its number for :meth:`end`.

        Raises ValueError for a column that the table does not have, and for no columns at all.
        """
        if not schema or not subsumes(self._full, schema):
            raise ValueError(f"schema {schema:#b} is no part of the table's {self._full:#b}")
        query = self._next_query
        self._next_query += 1
        self._active[query] = schema
        self._take(schema)
        return query

    def end(self, query: int) -> None:
        """Remove a query and make the list anew from those that still run, in the order in which they began."""
        del self._active[query]
        self._pages.clear()
        for schema in self._active.values():
            self._take(schema)

    def page_for(self, schema: Schema) -> Schema:
        """Return the page schema that serves an active query with ``schema``."""
        return next(page for page in self._pages if subsumes(page, schema))

    def _take(self, schema: Schema) -> None:
        if any(subsumes(page, schema) for page in self._pages):
            return
        merged = schema
        for page in self._pages:
            if page & schema:
                merged |= page
        self._pages = [*(page for page in self._pages if not page & schema), merged]
