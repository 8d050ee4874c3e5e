"""How figures look: the same colour for a tree or a cause everywhere, labels with units."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.figure import Figure

_PARAMETERS: dict[Any, Any] = {
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.markersize": 4,
    "lines.linewidth": 1.3,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    # The same figure gives the same file: element ids come from the salt, not from chance.
    "svg.hashsalt": "memwalk",
}

PANEL_INCHES = (4.6, 3.0)
"""Width and height of one plot."""
WIDE_INCHES = (1.4 * PANEL_INCHES[0], 1.2 * PANEL_INCHES[1])
"""Those of one plot that is a figure by itself."""

# Okabe and Ito's palette, which colour-blind readers tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"

_TREES = {"B": (BLACK, "o"), "CSB": (ORANGE, "s"), "pB": (BLUE, "^"), "pCSB": (SKY, "D")}
_JUMPS = {"peB": (VERMILION, "v"), "piB": (GREEN, "P")}
_OTHERS = [(BLACK, "o"), (BLUE, "^"), (VERMILION, "v"), (GREEN, "P"), (ORANGE, "s"), (SKY, "D"), (PURPLE, "X")]
_DASHES = ("-", ":", "-.")
"""Their line styles, each time around; models are drawn dashed."""

SECTIONS = (
    ("busy", BLUE, ("busy",)),
    ("other stalls", SKY, ("branch", "other", "drain")),
    ("barriers", PURPLE, ("barrier",)),
    ("storage", ORANGE, ("storage", "system")),
    ("instruction cache stalls", GREEN, ("icache",)),
    ("data TLB stalls", YELLOW, ("dtlb",)),
    ("data cache stalls", VERMILION, ("dcache",)),
)
"""Sections of a breakdown bar from the bottom up: label, colour, and the causes of slots that it takes together, each cause once."""

PARTS = {"disk I/O": ORANGE, "iteration": SKY, "reconstruction": BLUE, "processing": BLUE}
"""Colours of the parts of a scan's cost."""

_STORES = {
    "standard-row": (BLACK, "o"),
    "super-row": (VERMILION, "v"),
    "super-column": (BLUE, "^"),
}

_LABELS = {
    "workload.keys": "keys in the tree",
    "workload.operations": "operations",
    "workload.range": "tupleIDs per scan",
    "workload.fill": "fill factor",
    "workload.tree.node_lines": "node width w (cache lines)",
    "workload.tree.distance_nodes": "d",
    "workload.tree.chunk_lines": "c",
    "workload.distance_lines": "lines prefetched ahead",
    "workload.lines": "lines in the chain",
    "workload.in_flight": "requests in flight",
    "workload.attributes": "attributes of a record",
    "workload.blocks": "blocks, on as many tracks",
    "workload.displaced": "tuples out of order (share)",
    "workload.duplicates": "build tuples with one key",
    "workload.group_size": "group size G (tuples)",
    "workload.match_share": "probe tuples that match (share)",
    "workload.page_bytes": "page size (bytes)",
    "workload.partitions": "partitions",
    "workload.payload": "attributes read",
    "workload.predicates": "attributes in the predicate",
    "workload.prefetch_distance": "prefetch distance D (iterations)",
    "workload.probe_tuples": "probe tuples",
    "workload.projected": "attributes projected",
    "workload.scale_factor": "scale factor of TPC-H",
    "workload.selectivity": "selectivity (share of the records)",
    "workload.threads": "processors",
    "workload.threshold": "threshold of reorganizations (share of a page)",
    "workload.tuple_bytes": "tuple size (bytes)",
    "storage.disks": "disks",
    "storage.prefetchers": "processes that read ahead",
    "storage.depth": "tracks of a quadrangle",
    "workload.query": "query",
    "workload.table": "table",
    "workload.run_pages": "pages in a row",
    "workload.mbsm.run_pages": "pages in a run r",
    "requests_per_second": "requests per second",
    "megabytes_read": "volume requested (MB)",
    "megabytes_stored": "disk space (MB)",
    "io_seconds": "I/O time (s)",
    "machine.cores": "processors",
    "machine.interference.flush_interval_cycles": "time from one emptying of the caches to the next (cycles)",
    "machine.memory.latency_cycles": "memory latency T1 (cycles)",
    "page_kib": "page size (KiB)",
    "cycles": "execution time (cycles)",
    "levels": "tree levels",
    "columns": "columns per tuple",
    "scanned": "columns scanned",
    "seconds": "execution time with I/O (s)",
    "cpu_seconds": "the processor's time (s)",
    "io_busiest_seconds": "the busiest disk's time (s)",
    "s": "time (s)",
    "ms": "time (ms)",
    "query_ms": "time of a query (ms)",
    "group_ms": "time of all blocks (ms)",
    "MB": "disk space (MB)",
    "TpmC": "new orders per minute (TpmC)",
    "instructions": "instructions",
    "slots_total": "time of all processors (graduation slots)",
    "slots_dcache_L2": "waits for L2 (graduation slots)",
    "slots_dcache_memory": "waits for memory (graduation slots)",
    "L3_misses": "L3 misses",
    "bus_fills": "lines from memory",
    "prefetches_late": "prefetched lines that come too late",
    "prefetches_unused": "prefetched lines that leave before their use",
    "reorganizations": "reorganizations",
    "node_splits": "node splits",
    "slots_in_probe": "graduation slots of probing",
    "splitting_insertions": "insertions that split nodes",
    "chunk_splits": "chunk splits",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draws and saves in memwalk's style, and leaves matplotlib's settings as they were."""
    with matplotlib.rc_context():
        matplotlib.rcParams.update(_PARAMETERS)
        yield


def settled(figure: Figure) -> Figure:
    """Lay a figure out, once for all images of it: the layout costs more than the drawing."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def as_written(text: str) -> str:
    """Give a name that users chose, of a file or a variant, as text to draw: between dollars matplotlib would read mathematics."""
    return text.replace("$", r"\$")


def along_axis(values: Iterable[Any]) -> list[Any]:
    """Give values along an axis as they are drawn: numbers, or text."""
    return [as_written(value) if isinstance(value, str) else value for value in values]


def label(column: str) -> str:
    """Give the label of a column or axis, with its unit, as text to draw."""
    return _LABELS.get(column, as_written(column))


def look(series: str, index: int = 0) -> tuple[str, str, str]:
    """Colour, marker and line style of a series; ``index`` tells series apart that are not trees.

    Trees of one kind share colour and marker whatever their width; a variation of one (``p8eB+ 100%``) is dotted.
    """
    if series in _STORES:
        return *_STORES[series], "-"
    match = re.fullmatch(r"(?:p(\d*)([ei]?))?(CSB|B)\+(.*)", series)
    if match is None:
        around, place = divmod(index, len(_OTHERS))
        return *_OTHERS[place], _DASHES[around % len(_DASHES)]
    family = ("p" if series.startswith("p") else "") + (match[2] or "") + match[3]
    colour, marker = (_TREES | _JUMPS).get(family, (PURPLE, "X"))
    wider = match[1] is not None and len(match[1]) > 1
    return colour, marker, ":" if match[4] or wider else "-"
