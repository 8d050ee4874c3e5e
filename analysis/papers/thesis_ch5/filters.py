"""Filters of inspector joins: Tables 5.2 and 5.3."""

from __future__ import annotations

from memwalk.analysis.claims import Study
from memwalk.analysis.cost_models import bloom
from memwalk.analysis.papers.thesis_ch5.algorithms import measure

RATES = (0.1, 0.05, 0.01, 0.005, 0.001, 0.0005)
"""False positive rates of Table 5.2."""
RATE, SUB_PARTITIONS = 0.05, 50
"""Those of Table 5.3."""
MILLIONS = {20: 50, 60: 16.7, 100: 10, 140: 7.1}
"""Millions of tuples of 1 GB, by the bytes of a tuple: as rounded as the table has them."""

for rate in RATES:

    @measure(f"hj-bloom-bpk-fpr-{rate}")
    def _(_: Study, rate: float = rate) -> float:
        return bloom.bits_per_key(rate)


for size, millions in MILLIONS.items():

    @measure(f"hj-bloom-size-single-{size}B")
    def _(_: Study, millions: float = millions) -> float:
        return bloom.filter_megabytes(1e6 * millions, RATE)

    @measure(f"hj-bloom-size-multi-{size}B")
    def _(_: Study, millions: float = millions) -> float:
        return bloom.filter_megabytes(1e6 * millions, RATE, SUB_PARTITIONS)


@measure("hj-bloom-fpr-individual-s50")
def _(_: Study) -> float:
    return bloom.individual_rate(RATE, SUB_PARTITIONS)


@measure("hj-bloom-space-ratio-s50")
def _(_: Study) -> float:
    return bloom.space_increase(RATE, SUB_PARTITIONS)


@measure("hj-bloom-space-ratio-s100")
def _(_: Study) -> float:
    return bloom.space_increase(RATE, 2 * SUB_PARTITIONS)
