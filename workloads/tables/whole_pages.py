"""Files of pages that are read and written in one piece: those of NSM, PAX and DSM, and indexes."""

from collections.abc import Sequence
from dataclasses import dataclass

from memwalk.traces.storage import WHOLE, Schema, Span


@dataclass(frozen=True, eq=False)
class WholePages:
    """Pages of ``blocks`` blocks, numbered through from block ``first_block`` of a volume on."""

    blocks: int
    first_block: int = 0
    full_schema: Schema = WHOLE

    def together(self, schema: Schema) -> int:  # noqa: ARG002 (there is one column)
        """Return 1: a page fills its frame."""
        return 1

    def spans(self, pages: range, schema: Schema) -> Sequence[Span]:  # noqa: ARG002 (there is one column)
        """Return the pages as one span."""
        return [(self.first_block + pages.start * self.blocks, len(pages) * self.blocks)]
