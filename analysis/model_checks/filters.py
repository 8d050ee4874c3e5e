"""Filters of inspector joins: equations 5.1, 5.2 and 5.6 against those that partitioning fills."""

from __future__ import annotations

import math
from collections.abc import Iterable

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import rows
from memwalk.analysis.cost_models import bloom, hash_join
from memwalk.analysis.model_checks.comparison import Check, ModelStudy

RATE = 0.05
"""The false positive rate of a filter, and of all filters of sub-partitions together (section 5.6.1)."""
SUB_PARTITIONS = 50
PAGE_BYTES, PAGE_TUPLES = 8192, 76
"""Those of the kernel, with 100 bytes a tuple, six a slot and a header of 32."""
TABLE_BYTES = 25
"""Of the hash table for every key, H: a bucket's header of 16 bytes, and 9 of cell arrays, where there are as many buckets as keys."""
CACHE_BYTES = 256 << 10
"""What the variants give a sub-partition (section 5.4)."""
STRANGERS = 100_000
"""Probe tuples, all of them without matches."""
DEVIATIONS = 3
"""Standard deviations of the false positives that were counted: they are draws of a binomial distribution."""


def _single(study: Study) -> Iterable[Check]:
    """Compare the share of probe tuples that one filter of all build tuples passes with equation 5.2."""
    (row,) = rows(study["tests"], "single").to_dict("records")
    yield _drawn("one filter", bloom.false_positive_rate(bloom.bits_per_key(RATE)), STRANGERS - float(row["dropped"]))


def _multiple(study: Study) -> Iterable[Check]:
    """Compare filters of sub-partitions: how many there are with equation 5.1, what all of them pass together with equation 5.6."""
    (row,) = rows(study["tests"], "vertical").to_dict("records")
    pages = hash_join.sub_partition_pages(PAGE_BYTES, PAGE_TUPLES, TABLE_BYTES, CACHE_BYTES)
    filled = math.ceil(float(row["workload.tuples"]) / (pages * PAGE_TUPLES))
    yield Check("sub-partition pages (5.1)", f"sub-partitions of K={pages} pages", filled, float(row["filters"]), 0, unit="filters")
    yield _drawn(f"{SUB_PARTITIONS} filters", RATE, float(row["ids"]))


def _drawn(name: str, rate: float, found: float) -> Check:
    expected = STRANGERS * rate
    tolerance = DEVIATIONS * math.sqrt(expected * (1 - rate)) / expected
    return Check("false positives (5.2, 5.6)", f"{name}, rate {rate:.3g}", expected, found, tolerance)


_KEYS = SUB_PARTITIONS * hash_join.sub_partition_pages(PAGE_BYTES, PAGE_TUPLES, TABLE_BYTES, CACHE_BYTES) * PAGE_TUPLES
"""Build tuples that fill all filters: one page more or less a sub-partition would make other numbers of them."""
_SIZES = (f"workload.tuples={_KEYS}", f"workload.probe_tuples={STRANGERS}", "workload.partitions=1")

STUDIES = (
    ModelStudy("section-5.4", ("tests",), (*_SIZES, f"workload.false_positive_rate={RATE}"), _single, ("single",)),
    ModelStudy(
        "section-5.4",
        ("tests",),
        (*_SIZES, f"workload.false_positive_rate={bloom.individual_rate(RATE, SUB_PARTITIONS)}"),
        _multiple,
        ("vertical",),
    ),
)
