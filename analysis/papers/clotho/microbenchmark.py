"""Queries and updates of one relation: Figures 7 and 8, section 7.2.3, and Table 1, which sums up what was known of the layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    alike,
    all_of,
    falling,
    gained,
    less,
    much_less,
    no_more,
    series,
    similar,
    slightly_less,
    speedup,
)
from memwalk.analysis.papers.clotho.layouts import (
    ATTRIBUTES,
    CSM,
    DSM,
    NSM,
    PAX,
    PAYLOAD,
    SECONDS,
    SELECTIVITY,
    WHOLE,
    measure,
    with_payload,
)

Timed = Callable[[str], "pd.Series[float]"]
"""The times of a layout."""

# Figure 7: scans.


def _of_few_attributes(took: Timed) -> Holds:
    """CSM takes a time similar to that of DSM, and both take less than NSM and PAX."""
    return similar(took(CSM), took(DSM)) & all_of(less(took(one), took(whole)) for one in (DSM, CSM) for whole in WHOLE)


def _of_whole_records(took: Timed) -> Holds:
    """CSM takes no longer than NSM and PAX, which take the same time, and DSM takes longer."""
    return all_of(no_more(took(CSM), took(whole)) & less(took(whole), took(DSM)) for whole in WHOLE) & alike(took(NSM), took(PAX))


def _timed(frame: pd.DataFrame) -> Timed:
    return lambda layout: series(frame, layout, SECONDS)


def _few(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep queries of one or two attributes."""
    return frame[frame[PAYLOAD] <= 2]


@measure("cl-fig7a-order-low")
def _(study: Study) -> Holds:
    one = _timed(with_payload(study["disks"], 1))
    return _of_few_attributes(_timed(_few(study["disks"]))) & slightly_less(one(DSM), one(CSM))


@measure("cl-fig7a-order-high")
def _(study: Study) -> Holds:
    return _of_whole_records(_timed(with_payload(study["disks"], ATTRIBUTES)))


@measure("cl-fig7a-dsm-slow")
def _(study: Study) -> pd.Series[float]:
    return speedup(with_payload(study["disks"], ATTRIBUTES), CSM, over=DSM, column=SECONDS)


@measure("cl-fig7b-mems-trend")
def _(study: Study) -> Holds:
    scans = study["memstore"]
    return _of_few_attributes(_timed(_few(scans))) & _of_whole_records(_timed(with_payload(scans, ATTRIBUTES)))


@measure("cl-fig7a-selectivity-trend")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["disks"], CSM, "records_selected", per="records")


S_SCAN, SI_SCAN = "S-scan", "SI-scan"


@measure("cl-fig7c-si-range-low")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["operators"], SI_SCAN, "records_selected", per="records")


@measure("cl-fig7c-order")
def _(study: Study) -> Holds:
    scans = study["operators"]
    few, many = scans[scans[SELECTIVITY] <= 1e-5], scans[scans[SELECTIVITY] >= 1e-3]
    low = less(series(few, SI_SCAN, SECONDS), series(few, S_SCAN, SECONDS))
    high = less(series(many, S_SCAN, SECONDS), series(many, SI_SCAN, SECONDS))
    return low & high & falling(speedup(scans, SI_SCAN, over=S_SCAN, column=SECONDS), along=SELECTIVITY)


# Figure 8(a) and section 7.2.3: single records.

QUERY_MS = "query_ms"


def _grown(frame: pd.DataFrame, layout: str) -> float:
    """How much longer all attributes of a record take than one, in ms."""
    one, all_of_them = (float(series(with_payload(frame, attributes), layout, QUERY_MS).iloc[0]) for attributes in (1, ATTRIBUTES))
    return all_of_them - one


@measure("cl-fig8a-order-few")
def _(study: Study) -> Holds:
    queries = study["point"]
    few, more = _few(queries), with_payload(queries, ATTRIBUTES)
    level = all_of(similar(series(few, CSM, QUERY_MS), series(few, whole, QUERY_MS)) for whole in WHOLE)
    behind = all_of(slightly_less(series(more, whole, QUERY_MS), series(more, CSM, QUERY_MS)) for whole in WHOLE)
    return level & behind & much_less(_grown(queries, CSM), _grown(queries, DSM))


@measure("cl-point-update-22pct")
def _(study: Study) -> pd.Series[float]:
    return gained(study["update"], NSM, over=CSM, column=QUERY_MS)


@measure("cl-point-update-order")
def _(study: Study) -> Holds:
    update = study["update"]
    return all_of(much_less(_grown(update, layout), _grown(update, DSM)) for layout in (NSM, PAX, CSM))


# Section 7.2.3: updates of many records.


@measure("cl-bulk-update-as-scan")
def _(study: Study) -> Holds:
    bulk = study["bulk"]
    return _of_few_attributes(_timed(with_payload(bulk, 1))) & _of_whole_records(_timed(with_payload(bulk, ATTRIBUTES)))


# Figure 8(b): whole tables.


@measure("cl-fig8b-order")
def _(study: Study) -> Holds:
    def held(took: Timed) -> Holds:
        level = all_of(similar(took(one), took(other)) for one, other in ((CSM, NSM), (CSM, PAX), (NSM, PAX)))
        return level & all_of(much_less(took(layout), took(DSM)) for layout in (NSM, PAX, CSM))

    return all_of(held(_timed(study[panel])) for panel in ("full", "insert"))


# Table 1: good takes less than half of what bad takes.

GOOD_AND_BAD = {
    "records-in-memory": ("cycles", (NSM, PAX), (DSM,)),
    "scans-in-memory": ("slots_dcache", (DSM, PAX), (NSM,)),
    "records-on-disks": (QUERY_MS, (NSM, PAX), (DSM,)),
    "scans-on-disks": ("blocks_read", (DSM,), (NSM, PAX)),
}
"""What is counted in each panel, and the layouts that are good and bad there."""


def _row(study: Study, layout: str) -> Holds:
    """Compare a layout with every one that is marked otherwise."""

    def pairs() -> Iterable[Holds]:
        for panel, (column, good, bad) in GOOD_AND_BAD.items():
            for better in good:
                for worse in bad:
                    if layout in (better, worse):
                        yield much_less(series(study[panel], better, column), series(study[panel], worse, column))

    return all_of(pairs())


@measure("cl-table1-nsm")
def _(study: Study) -> Holds:
    return _row(study, NSM)


@measure("cl-table1-dsm")
def _(study: Study) -> Holds:
    return _row(study, DSM)


@measure("cl-table1-pax")
def _(study: Study) -> Holds:
    return _row(study, PAX)
