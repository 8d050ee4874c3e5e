"""NSM, the n-ary storage model: slotted pages with whole records."""

from dataclasses import dataclass

from memwalk.workloads.tables.page import Format
from memwalk.workloads.tables.rows import RecordPages


@dataclass(frozen=True)
class Nsm(RecordPages):
    """Records one after another, each with a slot and an end for each value of variable length.

    The kernels' storage manager keeps a tag in front of each record; other systems' pages do without (``tags``).
    """

    tags: bool = True

    @property
    def _format(self) -> Format:
        return "nsm" if self.tags else "nsm_without_tags"
