"""Pages that indexes take, and pages that searches read: Figures 3.25 and 3.26."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, falling, less, ratio, series
from memwalk.analysis.papers.thesis_ch3.indexes import ARRAYS, CACHE_FIRST, DISK_FIRST, PAGE, by_page, of_pages
from memwalk.analysis.papers.thesis_ch3.register import measure

SPACE, READS = "index_bytes", "pages_read"
STATES = ("kb-", "mature-")
"""Panels of bulkloaded and of mature trees, by page size."""


def over_arrays(study: Study, variant: str, column: str, states: Sequence[str] = STATES) -> list[pd.Series[float]]:
    """By how much a column of a fractal tree is above that of arrays, in %; a series by page size for each state of the tree."""
    found = []
    for prefix in states:
        pages = by_page(study, prefix)
        found.append(100 * (ratio(series(pages, variant, column), series(pages, ARRAYS, column)) - 1))
    return found


@measure("bt-fig3.25-df-space")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, DISK_FIRST, SPACE))


@measure("bt-fig3.25a-cf-space")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, CACHE_FIRST, SPACE, ["kb-"]))


@measure("bt-fig3.25b-cf-space")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, CACHE_FIRST, SPACE, ["mature-"]))


@measure("bt-fig3.25-df-trend")
def _(study: Study) -> Holds:
    return all_of(falling(percent, along=PAGE) for percent in over_arrays(study, DISK_FIRST, SPACE))


@measure("bt-fig3.26-df-io")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, DISK_FIRST, READS))


@measure("bt-fig3.26-cf-io")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, CACHE_FIRST, READS))


@measure("bt-fig3.26-cf-trend")
def _(study: Study) -> Holds:
    def more(prefix: str, kib: int) -> float:
        pages = by_page(study, prefix)
        return float(of_pages(pages, CACHE_FIRST, kib, READS).sum() / of_pages(pages, ARRAYS, kib, READS).sum())

    return all_of(less(more(prefix, 32), more(prefix, 4)) for prefix in STATES)


@measure("bt-sum3-space")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, DISK_FIRST, SPACE, ["space-", "space-mature-"]))


@measure("bt-sum3-io")
def _(study: Study) -> pd.Series[float]:
    return pd.concat(over_arrays(study, DISK_FIRST, READS, ["reads-", "reads-mature-"]))
