"""Misses of filters, and sizes of what they are said in: sections 5.4.3 and 5.4.4."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, series, similar
from memwalk.analysis.papers.thesis_ch5.register import measure

PROBE, PARTITIONS = "workload.probe_tuples", "workload.partitions"
HASH_CODE, OFFSET, COUNT, ID, WORD = 4, 2, 1, 1, 4
"""Bytes of the parts of slots, and of what they are aligned to."""
LINES = (32, 128)
"""Bytes of the lines that the thesis calls typical."""
BITS = 8


@measure("hj-single-filter-misses-per-tuple")
def _(study: Study) -> float:
    return of_test(study, "single")


@measure("hj-multi-filter-vertical-misses")
def _(study: Study) -> float:
    return of_test(study, "vertical")


@measure("hj-multi-filter-horizontal-misses")
def _(study: Study) -> Holds:
    panel = study["tests"]
    filters = series(panel, "horizontal", "filters").iloc[-1] / panel[PARTITIONS].iloc[0]
    return similar(of_test(study, "horizontal"), of_test(study, "vertical") * float(filters))


@measure("hj-line-bits")
def _(_: Study) -> pd.Series[float]:
    return pd.Series([float(BITS * line) for line in LINES])


@measure("hj-probe-slot-size")
def _(_: Study) -> float:
    used = HASH_CODE + OFFSET + COUNT + ID
    return float(-(-used // WORD) * WORD)


@measure("hj-build-slot-size")
def _(_: Study) -> float:
    return float(HASH_CODE + OFFSET)


def of_test(study: Study, one: str) -> float:
    """Return the lines that the test of a probe tuple brings: those of a probe relation, less what it brings where filters are cached."""
    return (_of_probing(study, one) - _of_probing(study, "cached")) / float(study["tests"][PROBE].max())


def _of_probing(study: Study, one: str) -> float:
    lines = series(study["tests"], one, "bus_fills")
    return float(lines.iloc[-1] - lines.iloc[0])
