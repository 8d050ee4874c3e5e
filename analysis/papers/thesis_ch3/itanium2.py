"""Itanium 2: Figures 3.20 to 3.24 and section 3.5.7."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, less, much_less, no_more, ratio, series, similar, speedup
from memwalk.analysis.papers.thesis_ch3.indexes import (
    CACHE_SENSITIVE,
    DISK_FIRST,
    MICRO,
    RANGE,
    SLOTTED,
    by_page,
    everywhere,
    full,
    not_full,
)
from memwalk.analysis.papers.thesis_ch3.register import measure

SHORT, LONG = 100, 1000
"""Entries of short scans at most, of long ones at least."""


@measure("bt-fig3.20-search-it2")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["fill"], study["size"], by_page(study)], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.21-insert-notfull-it2")
def _(study: Study) -> pd.Series[float]:
    return speedup(not_full(study["fill"]), DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.21-insert-full-it2")
def _(study: Study) -> pd.Series[float]:
    return everywhere([full(study["fill"]), study["size"], by_page(study)], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.21-micro-gap")
def _(study: Study) -> Holds:
    gap, simulated = (ratio(series(study[name], MICRO), series(study[name], DISK_FIRST)) for name in ("fill", "simulated"))
    return less(gap.reset_index(drop=True), simulated.reset_index(drop=True))


@measure("bt-fig3.22-delete-it2")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["fill"], by_page(study)], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.23-scan-small-it2")
def _(study: Study) -> pd.Series[float]:
    scans = study["range"]
    return speedup(scans[scans[RANGE] <= SHORT], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.23-scan-large-it2")
def _(study: Study) -> pd.Series[float]:
    scans = study["range"]
    return everywhere([scans[scans[RANGE] >= LONG], study["fill"]], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.24a-mature-search-it2")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.24b-mature-insert-it2")
def _(study: Study) -> Holds:
    return similar(series(study["insert"], DISK_FIRST), series(study["insert"], SLOTTED))


@measure("bt-fig3.24c-mature-delete-it2")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["delete"], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.24d-mature-scan-small-it2")
def _(study: Study) -> pd.Series[float]:
    scans = study["scan"]
    return speedup(scans[scans[RANGE] <= SHORT], DISK_FIRST, over=SLOTTED)


@measure("bt-fig3.24d-mature-scan-large-it2")
def _(study: Study) -> pd.Series[float]:
    scans = study["scan"]
    return speedup(scans[scans[RANGE] >= LONG], DISK_FIRST, over=SLOTTED)


@measure("bt-it2-insert-shape")
def _(study: Study) -> Holds:
    some, all_ = not_full(study["insert"]), full(study["insert"])
    close = similar(series(some, DISK_FIRST), series(some, SLOTTED))
    return close & much_less(series(all_, DISK_FIRST), series(all_, SLOTTED))


@measure("bt-it2-delete-gt-insert")
def _(study: Study) -> Holds:
    inserted, deleted = (speedup(not_full(study[name]), DISK_FIRST, over=SLOTTED) for name in ("insert", "delete"))
    return less(inserted, deleted)


@measure("bt-it2-le-sim")
def _(study: Study) -> Holds:
    def gain(panel: str) -> pd.Series[float]:
        return speedup(study[panel], DISK_FIRST, over=SLOTTED).reset_index(drop=True)

    return all_of(no_more(gain(name), gain(f"simulated-{name}")) for name in ("search", "insert", "delete", "scan"))


@measure("bt-sum3-search")
def _(study: Study) -> pd.Series[float]:
    simulated = speedup(by_page(study, "search-"), CACHE_SENSITIVE, over=SLOTTED).reset_index(drop=True)
    measured = [study["fill-it2"], study["size-it2"], by_page(study, "search-it2-")]
    return pd.concat([simulated, everywhere(measured, DISK_FIRST, over=SLOTTED)], ignore_index=True)
