"""NSM, the n-ary storage model: slotted pages with whole records."""

from dataclasses import dataclass

from memwalk.workloads.tables.page import Format
from memwalk.workloads.tables.rows import RecordPages


@dataclass(frozen=True)
class Nsm(RecordPages):
    """Records one after another, each with a tag, a slot and an end for each value of variable length."""

    @property
    def _format(self) -> Format:
        return "nsm"
