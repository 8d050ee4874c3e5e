"""Cache lines that a scan should fetch, from the formats of pages alone."""

from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.scans import kernel_workload
from memwalk.simcore.engines import native

_KERNEL = {"nsm": "standard-row", "mbsm": "pax"}
"""Slotted pages that are scanned without a predicate; a page of MBSM in memory."""


def lines_per_record(layout: str, query: Query, task: Task, line_bytes: int) -> float:
    """Count the lines per record of a scan that reads every attribute the query names in full.

    Values of an attribute have lines of their own in PAX and DSM, and files of their own in DSM.
    """
    kernel = _KERNEL.get(layout, layout)

    def touched(attributes: list[str]) -> dict[str, float]:
        scan = Query(name="lines", weight=1.0, selectivity=1.0, project=attributes)
        return native.scan_lines(kernel_workload(kernel, scan, task, 1), line_bytes)

    if kernel not in ("pax", "dsm"):
        return sum(touched(query.attributes).values())
    one, count = touched(query.attributes[:1]), len(query.attributes)
    headers = 1 if kernel == "pax" else count
    return headers * one["header"] + count * (one["slots"] + one["values"])
