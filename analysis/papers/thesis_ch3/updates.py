"""Insertions and deletions through simulations: Figures 3.15, 3.16, 3.18(b), (c) and 3.19(b), (c)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    flat,
    less,
    much_less,
    rising,
    series,
    similar,
    slightly_less,
    speedup,
    stable,
)
from memwalk.analysis.papers.thesis_ch3.indexes import (
    ARRAYS,
    CACHE_FIRST,
    DISK_FIRST,
    FILL,
    FRACTAL,
    KEYS,
    MICRO,
    OF_PAGES,
    PAGE,
    SLOTTED,
    by_page,
    everywhere,
    full,
    not_full,
    of_pages,
)
from memwalk.analysis.papers.thesis_ch3.register import measure

CONTIGUOUS = (ARRAYS, MICRO)
"""Those that keep a page's entries in one large array."""


def sweeps(study: Study) -> list[pd.DataFrame]:
    """By occupancy, tree size and page size."""
    return [study["fill"], study["size"], by_page(study)]


@measure("bt-fig3.15-insert-max-slotted", "bt-fig3.16-delete")
def _(study: Study) -> pd.Series[float]:
    return everywhere(sweeps(study), FRACTAL, over=SLOTTED)


@measure("bt-fig3.15-insert-max-array")
def _(study: Study) -> pd.Series[float]:
    return everywhere(sweeps(study), FRACTAL, over=ARRAYS)


@measure("bt-fig3.15-micro-as-array")
def _(study: Study) -> Holds:
    return all_of(similar(series(frame, MICRO), series(frame, ARRAYS)) for frame in sweeps(study))


@measure("bt-fig3.15a-insert-array-60-90")
def _(study: Study) -> pd.Series[float]:
    return speedup(not_full(study["fill"]), FRACTAL, over=ARRAYS)


@measure("bt-fig3.15a-insert-array-100")
def _(study: Study) -> pd.Series[float]:
    return speedup(full(study["fill"]), FRACTAL, over=ARRAYS)


@measure("bt-fig3.15a-insert-slotted-60-90")
def _(study: Study) -> pd.Series[float]:
    return speedup(not_full(study["fill"]), FRACTAL, over=SLOTTED)


@measure("bt-fig3.15a-shape")
def _(study: Study) -> Holds:
    some, all_ = not_full(study["fill"]), full(study["fill"])
    fullest = some[some[FILL] == some[FILL].max()]

    def before_and_after(variant: str) -> tuple[float, float]:
        return float(series(fullest, variant).sum()), float(series(all_, variant).sum())

    falls = [less(*reversed(before_and_after(variant))) for variant in CONTIGUOUS]
    jumps = [much_less(*before_and_after(variant)) for variant in (SLOTTED, *FRACTAL)]
    rises = [rising(series(some, variant), along=FILL) for variant in CONTIGUOUS]
    stays = [flat(series(some, variant), along=FILL) for variant in (SLOTTED, *FRACTAL)]
    return all_of([*rises, *falls, *stays, *jumps])


@measure("bt-fig3.15a-slotted-worst-full")
def _(study: Study) -> Holds:
    trees = full(study["fill"])
    return less(series(trees, ARRAYS), series(trees, SLOTTED))


@measure("bt-fig3.15b-insert-slotted")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["size"], FRACTAL, over=SLOTTED)


@measure("bt-fig3.15b-insert-array")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["size"], FRACTAL, over=ARRAYS)


@measure("bt-fig3.15b-splits")
def _(study: Study) -> pd.Series[float]:
    return series(study["size"], ARRAYS, "leaf_page_splits")


@measure("bt-fig3.15c-insert-pagesize")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([speedup(by_page(study), FRACTAL, over=tree) for tree in OF_PAGES])


@measure("bt-fig3.15c-trend")
def _(study: Study) -> Holds:
    trees = by_page(study)
    worse = (much_less(of_pages(trees, variant, 4), of_pages(trees, variant, 32)) for variant in (*OF_PAGES, MICRO))
    return all_of([*worse, *(slightly_less(of_pages(trees, variant, 4), of_pages(trees, variant, 32)) for variant in FRACTAL)])


@measure("bt-fig3.15-cf-vs-df")
def _(study: Study) -> Holds:
    longer = max(float((series(frame, CACHE_FIRST) / series(frame, DISK_FIRST)).max()) for frame in sweeps(study))
    alike = (similar(series(frame, CACHE_FIRST), series(frame, DISK_FIRST)) for frame in sweeps(study))
    return all_of([*alike, Holds((longer,), longer > 1)])


@measure("bt-fig3.16-trend")
def _(study: Study) -> Holds:
    along = dict(zip((FILL, KEYS, PAGE), sweeps(study), strict=True))
    rises = [rising(series(frame, variant), along=axis) for axis, frame in along.items() for variant in CONTIGUOUS]
    stays = [stable(series(frame, variant), along=axis) for axis, frame in along.items() for variant in FRACTAL]
    return all_of([*rises, rising(series(along[PAGE], SLOTTED), along=PAGE), *stays])


@measure("bt-fig3.18b-mature-insert", "bt-fig3.19b-insert-20b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["insert"], FRACTAL, over=SLOTTED)


@measure("bt-fig3.18c-mature-delete", "bt-fig3.19c-delete-20b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["delete"], FRACTAL, over=SLOTTED)


@measure("bt-sum3-update")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["insert"], study["delete"]], FRACTAL, over=SLOTTED)
