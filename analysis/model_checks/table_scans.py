"""Scans of row and column stores: equations 1 to 12 of their comparison."""

from collections.abc import Iterable

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import rows
from memwalk.analysis.cost_models import table_scan
from memwalk.analysis.model_checks.comparison import MODEL_TOLERANCE, Check, ModelStudy

PART_TOLERANCE = 0.12
"""What I/O, or processing, may differ by itself. Runs of columns are cut short at the end of a table, and the model has fractions of them;
of what the processor takes, caches are left out. They are 7% off at the most in tables of up to 16 columns, and 11% in one of 32."""
LONG_ROW = 32
"""Columns of a super row whose lines take most of the processor's time: the constants are those of shorter ones, which hardly wait."""


def _scans(study: Study) -> Iterable[Check]:
    """Figures 9 to 12: what scans of row and column stores take, in all and by parts: the smaller one hardly shows in the sum."""
    stores: tuple[table_scan.Store, ...] = ("standard-row", "super-row", "super-column")
    for store in stores:
        for row in rows(study["scan"], store).to_dict("records"):
            table = table_scan.Table(row["workload.records"], row["workload.attributes"], row["workload.projected"])
            constants = table_scan.Constants(pool_pages=2 * row["workload.prefetch_bytes"] / row["workload.page_bytes"])
            name = f"{store}, {table.scanned} of {table.columns} columns of {table.rows:,} rows"
            modelled = table_scan.scan_seconds(store, table, constants)
            yield Check("scan cost (1-12)", name, modelled, float(row["seconds"]), MODEL_TOLERANCE, unit="s")
            cost, unit = table_scan.scan_cost(store, table, constants), modelled / table_scan.scan_total(store, table, constants)
            yield Check("scan I/O (1, 4, 10)", name, cost.io * unit, float(row["io_seconds"]), PART_TOLERANCE, unit="s")
            if store != "super-row" or table.columns < LONG_ROW:
                work = (cost.iteration + cost.reconstruction) * unit
                yield Check("scan processing (2, 3, 5, 6, 11, 12)", name, work, float(row["cpu_seconds"]), PART_TOLERANCE, unit="s")


_TENTH = ("workload.prefetch_bytes=26843545",)
"""A tenth of the memory for reading columns ahead, to go with a tenth of the rows: columns are then read in as many runs."""

STUDIES = (
    *(ModelStudy(f"cstore/fig-{number}", ("scan",), ("workload.records=800000", *_TENTH), _scans) for number in (9, 10, 11)),
    ModelStudy("cstore/fig-12", ("scan",), (), _scans),  # as published: its columns are short, and a tenth of one is one run
)
