"""Where in the pool a page is: by file and page, with the schemas of its copies beside it (Clotho, section 4.3)."""

from collections.abc import Sequence

from memwalk.simcore.storage.pool.page import CPage
from memwalk.simcore.storage.pool.page_schema import subsumes
from memwalk.traces.storage import PagedFile, Schema


class PageTable:
    """All C-pages that may be used, under each page of which they hold columns."""

    def __init__(self) -> None:
        """Begin empty."""
        self._copies: dict[tuple[PagedFile, int], list[CPage]] = {}

    def copies(self, file: PagedFile, page: int) -> Sequence[CPage]:
        """List the C-pages with columns of a page, oldest first."""
        return self._copies.get((file, page), ())

    def find(self, file: PagedFile, page: int, schema: Schema, *, alone: bool = False) -> CPage | None:
        """Find a C-page that has all columns of ``schema`` of a page, and, if ``alone``, columns of no other page."""
        for copy in self._copies.get((file, page), ()):
            if subsumes(copy.schema, schema) and not (alone and len(copy.pages) > 1):
                return copy
        return None

    def add(self, copy: CPage) -> None:
        """Enter a C-page under all of its pages."""
        for page in copy.pages:
            self._copies.setdefault((copy.file, page), []).append(copy)

    def remove(self, copy: CPage) -> None:
        """Take a C-page out."""
        for page in copy.pages:
            copies = self._copies[copy.file, page]
            copies.remove(copy)
            if not copies:
                del self._copies[copy.file, page]
