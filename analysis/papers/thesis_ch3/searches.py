"""Searches through simulations: Figures 3.4, 3.12, 3.14, 3.18(a) and 3.19(a)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import MAGNITUDE, Holds, Study, all_of, clearly_less, less, much_less, series, similar, slightly_less, speedup
from memwalk.analysis.papers.thesis_ch3.indexes import (
    ARRAYS,
    CACHE_FIRST,
    CACHE_SENSITIVE,
    FRACTAL,
    MICRO,
    OF_PAGES,
    SLOTTED,
    by_page,
    large,
    of_pages,
)
from memwalk.analysis.papers.thesis_ch3.register import measure


@measure("bt-fig3.4-dcache-order")
def _(study: Study) -> Holds:
    slotted, arrays = (series(study["pages"], variant, "slots_dcache").sum() for variant in (SLOTTED, ARRAYS))
    in_memory = series(study["memory"], "p8B+", "slots_dcache").sum()
    return clearly_less(arrays, slotted) & clearly_less(in_memory, arrays)


@measure("bt-fig3.4-tlb")
def _(study: Study) -> Holds:
    def part(variant: str, column: str) -> pd.Series[float]:
        return series(study["pages"], variant, column)

    return all_of(much_less(part(one, "slots_dtlb"), part(one, "slots_total"), times=MAGNITUDE) for one in OF_PAGES)


@measure("bt-fig3.12-search-all")
def _(study: Study) -> pd.Series[float]:
    return speedup(by_page(study), CACHE_SENSITIVE, over=SLOTTED)


@measure("bt-fig3.12-search-1m")
def _(study: Study) -> pd.Series[float]:
    return speedup(large(by_page(study)), CACHE_SENSITIVE, over=SLOTTED)


@measure("bt-fig3.12c-search-16kb")
def _(study: Study) -> pd.Series[float]:
    return speedup(large(study["kb-16"]), CACHE_SENSITIVE, over=SLOTTED)


@measure("bt-fig3.12d-search-32kb")
def _(study: Study) -> pd.Series[float]:
    return speedup(large(study["kb-32"]), CACHE_SENSITIVE, over=SLOTTED)


@measure("bt-fig3.12-order")
def _(study: Study) -> Holds:
    cycles = {variant: series(by_page(study), variant) for variant in (*CACHE_SENSITIVE, *OF_PAGES)}
    fastest = pd.DataFrame({variant: cycles[variant] for variant in CACHE_SENSITIVE}).idxmin(axis="columns")
    most = float((fastest == CACHE_FIRST).mean())
    return all_of(
        [
            *(slightly_less(cycles[variant], cycles[MICRO]) for variant in FRACTAL),
            similar(*(cycles[variant] for variant in FRACTAL)),
            *(clearly_less(cycles[variant], cycles[ARRAYS]) for variant in CACHE_SENSITIVE),
            clearly_less(cycles[ARRAYS], cycles[SLOTTED]),
            Holds((most,), most > 0.5),
        ]
    )


@measure("bt-fig3.12-pagesize-trend")
def _(study: Study) -> Holds:
    trees = large(by_page(study))
    small, wide = ({one: of_pages(trees, one, kib) for one in (*CACHE_SENSITIVE, *OF_PAGES)} for kib in (4, 32))
    worse = (less(small[variant], wide[variant]) for variant in OF_PAGES)
    return all_of([*worse, *(less(wide[variant], small[variant]) for variant in CACHE_SENSITIVE)])


@measure("bt-fig3.14-occupancy")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], CACHE_SENSITIVE, over=SLOTTED)


@measure("bt-fig3.18a-mature-search", "bt-fig3.19a-search-20b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], FRACTAL, over=SLOTTED)
