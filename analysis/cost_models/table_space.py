"""What the row and column stores' study says about space: overheads, data sets, memory for prefetching."""

from __future__ import annotations

import math

from memwalk.analysis.cost_models.table_scan import Constants, Store, Table, known, numbers, prefetch_pages


def stored_bytes(store: Store, tuples: str, level_columns: str, constants: Constants) -> float:
    """Bytes of a table with ``tuples`` tuples at its levels (`3_7_11`), each with its own overhead (section 2.2).

    Equation 14 leaves the overhead of the abstracted tuples out; this is what Figure 1 shows.
    """
    overhead = constants.overhead_bytes if known(store) == "standard-row" else 0
    levels = zip(numbers(tuples), numbers(level_columns), strict=True)
    return sum(count * (overhead + columns * constants.column_bytes) for count, columns in levels)


def generated_rows(levels: str) -> int:
    """Rows of the data set Gen_``levels``, such as `2_4_3` (section 3.1)."""
    return math.prod(numbers(levels))


def prefetch_mib(table: Table, constants: Constants, page_kib: float = 32) -> float:
    """Mebibytes of one column that are read at once, with pages of ``page_kib`` (section 3.1)."""
    return prefetch_pages(table, constants) * page_kib / 1024


def tuple_header(slot_bytes: float, constants: Constants) -> float:
    """Bytes of overhead per tuple besides its slot (section 2.1)."""
    return constants.overhead_bytes - slot_bytes


def tuples_saved(fields: float, columns: float, over: float) -> float:
    """Tuples that ``fields`` fields make fewer in rows of ``columns`` columns than in rows of ``over`` (section 3.3.2)."""
    return fields / over - fields / columns


def overhead_share(tuple_bytes: float, overhead_bytes: float) -> float:
    """Overhead per tuple, in % of the tuple (sections 2.1 and 3.3.2)."""
    if tuple_bytes <= 0:
        raise ValueError(f"tuple_bytes is {tuple_bytes}; a tuple has a positive number of bytes")
    return 100 * overhead_bytes / tuple_bytes
