"""Range scans from disks: Figures 3.27 and 3.28."""

from __future__ import annotations

import itertools

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, clearly_less, less, never_rising, no_more, series, similar, speedup
from memwalk.analysis.papers.thesis_ch3.indexes import DISK_FIRST, RANGE, SLOTTED
from memwalk.analysis.papers.thesis_ch3.register import measure

DISKS, SCANS, SECONDS = "storage.disks", "workload.operations", "seconds"
BLOCK_BYTES = 512
PREFETCHERS, THREADS = "storage.prefetchers", "workload.threads"
PLAIN, JUMPING, IN_MEMORY = "no prefetching", "jump pointers", "in memory"
INDISTINGUISHABLE = 1000
"""Most entries of the ranges that often fit within a page."""


def gains(frame: pd.DataFrame) -> pd.Series[float]:
    """Give how many times as fast the disk-first tree is."""
    return speedup(frame, DISK_FIRST, over=SLOTTED, column=SECONDS)


@measure("bt-fig3.27a-small-equal")
def _(study: Study) -> Holds:
    # Beside ranges of several pages: otherwise pages read ahead without any effect would do.
    ranges = study["small"]
    within, beyond = ranges[ranges[RANGE] <= INDISTINGUISHABLE], ranges[ranges[RANGE] > INDISTINGUISHABLE]
    return similar(series(within, DISK_FIRST, SECONDS), series(within, SLOTTED, SECONDS)) & clearly_less(
        series(beyond, DISK_FIRST, SECONDS), series(beyond, SLOTTED, SECONDS)
    )


@measure("bt-fig3.27a-10k-pages")
def _(study: Study) -> float:
    # What the shortest scans read is a leaf page and those on the way to it.
    read = series(study["small"], DISK_FIRST, "pages_read", per=SCANS).groupby(level=RANGE).mean()
    return float(read.iloc[-1] - read.iloc[0] + 1)


@measure("bt-fig3.27a-10k")
def _(study: Study) -> pd.Series[float]:
    small = study["small"]
    return gains(small[small[RANGE] == small[RANGE].max()])


@measure("bt-fig3.27a-large")
def _(study: Study) -> pd.Series[float]:
    large = study["large"]
    return gains(large[large[RANGE] > large[RANGE].min()])


@measure("bt-fig3.27c-8disks")
def _(study: Study) -> pd.Series[float]:
    disks = study["disks"]
    return gains(disks[disks[DISKS] == disks[DISKS].max()])


@measure("bt-fig3.27c-doubling")
def _(study: Study) -> Holds:
    disks = study["disks"]
    by_disks = [float(gains(disks[disks[DISKS] == count]).iloc[0]) for count in sorted(disks[DISKS].unique())]
    return all_of(similar(twice, 2 * once) for once, twice in itertools.pairwise(by_disks))


@measure("bt-fig3.27-bandwidth")
def _(study: Study) -> pd.Series[float]:
    disks = study["disks"]
    most = disks[disks[DISKS] == disks[DISKS].max()]
    return series(most, DISK_FIRST, "io_blocks") * BLOCK_BYTES / 1e6 / series(most, DISK_FIRST, SECONDS)


def only(study: Study, panel: str, variant: str) -> float:
    """Give the cycles of a panel's only point."""
    (cycles,) = series(study[panel], variant, "cycles")
    return float(cycles)


@measure("bt-fig3.28-db2", "bt-ch3-db2-intro", "bt-sum3-db2")
def _(study: Study) -> pd.Series[float]:
    return only(study, "plain", PLAIN) / series(study["prefetchers"], JUMPING, "cycles")


@measure("bt-jpa-io-five-fold")
def _(study: Study) -> float:
    return only(study, "plain", PLAIN) / float(series(study["prefetchers"], JUMPING, "cycles").min())


@measure("bt-fig3.28a-prefetchers")
def _(study: Study) -> Holds:
    # Nearly reached with the most prefetchers is the limit only if the fewest leave something to reach.
    cycles = series(study["prefetchers"], JUMPING, "cycles").sort_index()
    fewest, most = float(cycles.iloc[0]), float(cycles.iloc[-1])
    return never_rising(cycles, PREFETCHERS) & clearly_less(most, fewest) & similar(most, only(study, "memory", IN_MEMORY))


@measure("bt-fig3.28b-smp")
def _(study: Study) -> Holds:
    jumping, plain, in_memory = (
        series(study[panel], variant, "cycles")
        for panel, variant in (("parallel-jumping", JUMPING), ("parallel-plain", PLAIN), ("parallel-memory", IN_MEMORY))
    )
    gains = all_of(never_rising(cycles, THREADS) for cycles in (jumping, plain, in_memory))
    faster = all_of(clearly_less(cycles.iloc[-1], cycles.iloc[0]) for cycles in (jumping, plain, in_memory))
    return gains & faster & less(jumping, plain) & no_more(in_memory, jumping)
