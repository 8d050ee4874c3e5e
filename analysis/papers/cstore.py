"""Row stores and column stores in one framework (Halverson et al., VLDB 2006).

What the study computes with its cost model is computed with it here; what it measured on the prototype is simulated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Measures,
    Study,
    alike,
    all_of,
    clearly_less,
    falling,
    flat,
    from_where_on,
    growth,
    in_order,
    less,
    lines,
    much_less,
    rising,
    series,
    similar,
    slightly_less,
    speedup,
)
from memwalk.analysis.claims.orders import MAGNITUDE, MUCH, SEVERAL, SIZABLE, SLIGHT
from memwalk.analysis.cost_models import table_scan as model
from memwalk.analysis.cost_models import table_space as space

measure = Measures()

STANDARD: Final = "standard-row"
SUPER: Final = "super-row"
COLUMN: Final = "super-column"
STORES: tuple[model.Store, ...] = (STANDARD, SUPER, COLUMN)
SCANNED, WIDTH = "workload.projected", "workload.attributes"
ROWS = ("rows-4", "rows-8", "rows-16", "rows-32")
"""Panels of 8 million rows, by width."""
FIELDS = ("rows-4", "fields-8", "fields-16", "fields-32")
"""Panels of 32 million fields, by width."""

PROTOTYPE = model.Constants()
SHORT = model.Table(rows=8_000_000, columns=4)
"""Figure 11's table."""
WIDE = model.Table(rows=1_000_000, columns=32)
"""Figure 12's table."""
LIGHT = replace(PROTOTYPE, iteration=8)
"""Section 4.3.1: a tenth of the cost of an iteration."""


def seconds(frame: pd.DataFrame, store: str) -> pd.Series[float]:
    """Time of a scan, disk I/O and processing."""
    return series(frame, store, "seconds")


def io(frame: pd.DataFrame, store: str) -> pd.Series[float]:
    """Time of a scan's disk I/O."""
    return series(frame, store, "io_seconds")


def processing(frame: pd.DataFrame, store: str) -> pd.Series[float]:
    """Time of a scan's processing."""
    return series(frame, store, "cpu_seconds")


def fields(frame: pd.DataFrame) -> pd.Series[float]:
    """Fields that a scan returns."""
    return series(frame, SUPER, "returned") * series(frame, SUPER, SCANNED)


# Section 1 and section 3.2: query 7 of the C-Store paper


@measure("cs-intro-row-q")
def _(study: Study) -> pd.Series[float]:
    return processing(study["returned-lines"], SUPER)


@measure("cs-q7-shore-cstore")
def _(study: Study) -> pd.Series[float]:
    return seconds(study["returned-lines"], COLUMN)


# Section 2: overheads and abstraction


@measure("cs-tuple-header")
def _(_study: Study) -> float:
    return space.tuple_header(slot_bytes=4, constants=PROTOTYPE)


@measure("cs-overhead-80")
def _(_study: Study) -> float:
    return space.overhead_share(tuple_bytes=80, overhead_bytes=PROTOTYPE.overhead_bytes)


@measure("cs-overhead-4col")
def _(_study: Study) -> float:
    return space.overhead_share(tuple_bytes=4 * PROTOTYPE.column_bytes, overhead_bytes=PROTOTYPE.overhead_bytes)


@measure("cs-overhead-32col")
def _(_study: Study) -> float:
    return space.overhead_share(tuple_bytes=32 * PROTOTYPE.column_bytes, overhead_bytes=PROTOTYPE.overhead_bytes)


@measure("cs-cstore-overhead")
def _(_study: Study) -> Holds:
    return much_less(PROTOTYPE.column_bytes, PROTOTYPE.overhead_bytes, times=SEVERAL)


@measure("cs-abstraction-savings")
def _(_study: Study) -> Holds:
    def saved(values: int) -> float:
        table = replace(SHORT, levels=f"{values}_{8_000_000 // values}", level_columns="1_3")
        return model.abstraction_savings(table, PROTOTYPE)

    return in_order(saved(2_000_000), saved(200_000), saved(10))


def stored(store: model.Store, *, abstracted: bool) -> float:
    """Bytes of Table 1's view: three flags, seven pairs of flag and nation, eleven tuples of three columns."""
    tuples, columns = ("3_7_11", "1_1_1") if abstracted else ("11", "3")
    return space.stored_bytes(store, tuples, columns, PROTOTYPE)


@measure("cs-abstraction-headers")
def _(_study: Study) -> Holds:
    return less(stored(STANDARD, abstracted=False), stored(STANDARD, abstracted=True))


@measure("cs-abstraction-super")
def _(_study: Study) -> Holds:
    others: list[tuple[model.Store, bool]] = [(STANDARD, False), (STANDARD, True), (SUPER, False)]
    return all_of(less(stored(SUPER, abstracted=True), stored(store, abstracted=abstracted)) for store, abstracted in others)


# Section 3.1: set-up


@measure("cs-prefetch-total")
def _(study: Study) -> pd.Series[float]:
    return series(study["prefetched"], COLUMN, "workload.prefetch_bytes") / 2**20


@measure("cs-prefetch-8")
def _(_study: Study) -> float:
    return space.prefetch_mib(model.Table(rows=8_000_000, columns=8), PROTOTYPE)


@measure("cs-prefetch-random")
def _(study: Study) -> Holds:
    alone, ahead = study["unprefetched"], study["prefetched"]
    return less(processing(alone, COLUMN), io(alone, COLUMN)) & less(io(ahead, COLUMN), processing(ahead, COLUMN))


@measure("cs-gen-2-4-3")
def _(_study: Study) -> float:
    return space.generated_rows("2_4_3")


# Figure 2: some of the columns


@measure("cs-fig2a-std-factor")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["narrow"], [SUPER, COLUMN], over=STANDARD, column="seconds")


@measure("cs-fig2a-order-1")
def _(study: Study) -> Holds:
    narrow = study["narrow"]
    one, more = narrow[narrow[SCANNED] == 1], narrow[narrow[SCANNED] > 1]
    return less(seconds(one, COLUMN), seconds(one, SUPER)) & less(seconds(more, SUPER), seconds(more, COLUMN))


@measure("cs-fig2a-crossover")
def _(study: Study) -> float:
    narrow = study["narrow"]
    return from_where_on(seconds(narrow, SUPER) < seconds(narrow, COLUMN), SCANNED)


@measure("cs-fig2b-order")
def _(study: Study) -> Holds:
    wide = study["wide"]
    return all_of(much_less(seconds(wide, COLUMN), seconds(wide, store), times=SIZABLE) for store in (STANDARD, SUPER))


# Figure 3: constant rows, constant fields


@measure("cs-fig3a-increase")
def _(study: Study) -> Holds:
    rows = study.joined(*ROWS)
    return all_of(rising(seconds(rows, store), WIDTH) for store in STORES)


@measure("cs-fig3a-std-4")
def _(study: Study) -> pd.Series[float]:
    return seconds(study["rows-4"], STANDARD)


@measure("cs-fig3a-std-32")
def _(study: Study) -> pd.Series[float]:
    return seconds(study["rows-32"], STANDARD)


@measure("cs-fig3a-data-8x")
def _(study: Study) -> Holds:
    rows = study.joined(*ROWS)
    grown = growth(seconds(rows, STANDARD), WIDTH)
    return alike(growth(fields(rows), WIDTH), 8.0) & in_order(1.0, grown, 2.0)


@measure("cs-fig3b-rows")
def _(study: Study) -> pd.Series[float]:
    return fields(study.joined(*FIELDS))


@measure("cs-fig3b-super-fastest")
def _(study: Study) -> Holds:
    scans = study.joined(*FIELDS)
    return all_of(less(seconds(scans, SUPER), seconds(scans, store)) for store in (STANDARD, COLUMN))


@measure("cs-fig3b-constant")
def _(study: Study) -> Holds:
    scans = study.joined(*FIELDS)
    slotted = seconds(scans, STANDARD)
    return all_of(
        [
            flat(seconds(scans, COLUMN), WIDTH),
            flat(seconds(scans, SUPER), WIDTH),
            falling(slotted, WIDTH),
            much_less(growth(slotted, WIDTH), 1.0),
        ]
    )


@measure("cs-fig3b-overheads")
def _(_study: Study) -> float:
    return space.tuples_saved(fields=32_000_000, columns=32, over=4)


@measure("cs-fig3b-crossover")
def _(study: Study) -> float:
    scans = study.joined(*FIELDS)
    return crossing(seconds(scans, STANDARD) / seconds(scans, COLUMN))


def crossing(ratios: pd.Series[float]) -> float:
    """Where ratios along the width come down to 1, with straight lines between their logarithms; infinity if nowhere."""
    (line,) = lines(ratios, WIDTH)
    logs = list(zip(np.log(line.index.to_numpy(float)), np.log(line.to_numpy()), strict=True))
    for (left, above), (right, below) in itertools.pairwise(logs):
        if above > 0 >= below:
            return float(np.exp(left + (right - left) * above / (above - below)))
    return math.inf


# Figure 4: column abstraction


@measure("cs-fig4a-fields")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([fields(study[name]) for name in ("none", "customers", "flags")])


@measure("cs-fig4a-decrease")
def _(study: Study) -> Holds:
    data_sets = [study[name] for name in ("flags", "customers", "none")]
    return all_of(in_order(*(seconds(frame, store) for frame in data_sets)) for store in (SUPER, COLUMN))


@measure("cs-fig4a-std-increase")
def _(study: Study) -> Holds:
    return less(seconds(study["none"], STANDARD), seconds(study["customers"], STANDARD))


@measure("cs-fig4-std-benefit")
def _(study: Study) -> Holds:
    none, customers, flags = (study[name] for name in ("none", "customers", "flags"))
    saved = io(none, STANDARD) - io(customers, STANDARD)
    added = processing(customers, STANDARD) - processing(none, STANDARD)
    return less(0.0, saved) & less(saved, added) & less(seconds(flags, STANDARD), seconds(none, STANDARD))


# Section 4.2: parts of the cost


@measure("cs-fig910-col-increase")
def _(study: Study) -> Holds:
    both = study.joined("four", "sixteen")
    more_io, more_processing = (line.diff().iloc[1:] for part in (io, processing) for line in lines(part(both, COLUMN), SCANNED))
    return rising(seconds(both, COLUMN), SCANNED) & less(more_io, more_processing)


@measure("cs-fig910-io-decrease")
def _(study: Study) -> Holds:
    return rising(io(study.joined("four", "sixteen"), COLUMN), SCANNED)


@measure("cs-fig910-std-iter")
def _(study: Study) -> Holds:
    both = study.joined("four", "sixteen")
    slotted = processing(both, STANDARD)
    return less(io(both, STANDARD), slotted) & much_less(processing(both, SUPER), slotted, times=MAGNITUDE)


@measure("cs-iter-under-1pct")
def _(_study: Study) -> pd.Series[float]:
    tables = [model.Table(rows=8_000_000, columns=16, scanned=scanned) for scanned in (4, 16)]
    return pd.Series([model.scan_iteration_share(store, table, PROTOTYPE) for store in (SUPER, COLUMN) for table in tables])


@measure("cs-fig11-io")
def _(_study: Study) -> Holds:
    slotted, row, column = (model.scan_io(store, SHORT, PROTOTYPE) for store in STORES)
    return much_less(row, slotted, times=SIZABLE) & much_less(column, slotted, times=SIZABLE) & alike(column, row)


@measure("cs-fig11-std")
def _(study: Study) -> Holds:
    scan = study["scan"]
    return all_of(
        much_less(part(scan, store), part(scan, STANDARD), times=times)
        for store in (SUPER, COLUMN)
        for part, times in ((processing, MUCH), (io, SIZABLE))
    )


@measure("cs-fig12-io")
def _(_study: Study) -> Holds:
    slotted, row, column = (model.scan_io(store, WIDE, PROTOTYPE) for store in STORES)
    return similar(slotted, row) & similar(column, row) & similar(slotted, column)


@measure("cs-fig12-iter")
def _(_study: Study) -> Holds:
    iteration = [model.scan_iteration(STANDARD, table, PROTOTYPE) for table in (WIDE, SHORT)]
    reconstruction = [model.scan_reconstruction(COLUMN, table, PROTOTYPE) for table in (SHORT, WIDE)]
    return much_less(*iteration) & less(*reconstruction)


# Section 4.3: forecasts


@measure("cs-iter-1000-ratio")
def _(_study: Study) -> float:
    return model.iteration_over_io(1000, PROTOTYPE)


@measure("cs-fig13-order")
def _(_study: Study) -> Holds:
    light, heavy = ({store: model.scan_total(store, SHORT, costs) for store in STORES} for costs in (LIGHT, PROTOTYPE))
    return less(light[STANDARD], light[COLUMN]) & all_of(slightly_less(light[store], heavy[store]) for store in (SUPER, COLUMN))


@measure("cs-fig13-crossover")
def _(_study: Study) -> float:
    return model.scan_crossing(COLUMN, STANDARD, along="iteration", least=1, most=80, table=SHORT, constants=PROTOTYPE)


@measure("cs-fig14-crossover")
def _(_study: Study) -> float:
    quarter = model.Table(rows=8_000_000, columns=64, scanned=16)
    return model.scan_crossing(COLUMN, STANDARD, along="columns", least=64, most=512, table=quarter, constants=PROTOTYPE)


# Section 6: conclusions


@measure("cs-super-tuple-cpu")
def _(study: Study) -> Holds:
    rows = study.joined(*ROWS)
    return all_of(less(part(rows, SUPER), part(rows, STANDARD)) for part in (io, processing))


@measure("cs-super-significant", "cs-concl-super")
def _(study: Study) -> Holds:
    experiments = [study.joined(*ROWS), study.joined(*FIELDS), study["narrow"], study["wide"]]
    return all_of(clearly_less(seconds(frame, SUPER), seconds(frame, STANDARD)) for frame in experiments)


@measure("cs-concl-col")
def _(study: Study) -> Holds:
    wide = study["wide"]
    one = wide[wide[SCANNED] == 1]
    return all_of(much_less(seconds(one, COLUMN), seconds(one, store)) for store in (STANDARD, SUPER))


@measure("cs-concl-abstraction")
def _(study: Study) -> Holds:
    none = study["rows-4"]

    def pages(frame: pd.DataFrame, store: str) -> pd.Series[float]:
        return series(frame, store, "pages")

    def judged(data_set: pd.DataFrame) -> Holds:
        smaller = all_of(less(pages(data_set, store), pages(none, store)) for store in STORES)
        limited = less(seconds(none, STANDARD) / (1 + SLIGHT), seconds(data_set, STANDARD))
        otherwise = all_of(clearly_less(seconds(data_set, store), seconds(none, store)) for store in (SUPER, COLUMN))
        return smaller & limited & otherwise

    return judged(study["customers"]) & judged(study["flags"])


@measure("cs-concl-cpu")
def _(study: Study) -> Holds:
    scans = [study.joined(*ROWS), study.joined(*FIELDS)]
    sizable = all_of(less(seconds(frame, STANDARD) / 3, processing(frame, STANDARD)) for frame in scans)
    return sizable & all_of(less(processing(frame, SUPER), processing(frame, STANDARD)) for frame in scans)
