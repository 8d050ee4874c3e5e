"""PAX, partition attributes across: a minipage for each column in every page (Ailamaki et al. 2001)."""

from dataclasses import dataclass

from memwalk.workloads.tables.page import Format
from memwalk.workloads.tables.rows import RecordPages


@dataclass(frozen=True)
class Pax(RecordPages):
    """The records of a page, column by column."""

    @property
    def _format(self) -> Format:
        return "pax"
