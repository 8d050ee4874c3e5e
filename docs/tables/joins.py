"""Tables of docs/joins-today.md, docs/joins-on-disks.md and docs/variable-length-tuples.md."""

from itertools import product

import pandas as pd

from docs.tables.cells import Select, Table, cores, grid, number, one, percent, values, variants
from docs.tables.registry import table
from docs.tables.results import Run, cycles, microseconds, share

SKEWS: dict[str, Select] = values("workload.skew", [0.0, 1.0], lambda skew: f"skew {skew:.0f}")
PROBES = Run("interleaved-probes")


def _few(row: pd.Series) -> str:
    """Write cycles of an operation where tens of them are the most that matter."""
    return number(cycles(row), places=1)


@table("interleaved-probes", PROBES)
def interleaved_probes(results: pd.DataFrame) -> Table:
    """Return cycles of a probe, and where they go."""
    causes = ("busy", "dcache", "branch", "other")
    made = [["", "skew", "cycles a probe", *(f"{cause} %" for cause in causes)]]
    for _, row in results.iterrows():
        shares = [f"{100 * share(row, cause):.1f}" for cause in causes]
        made.append([row["variant"], f"{row['workload.skew']:.0f}", number(cycles(row)), *shares])
    return made


def _reorder_buffer(entries: int) -> Run:
    return Run(PROBES.experiment, (f"machine.core.reorder_buffer={entries}",))


@table(
    "interleaved-probes-beside-published-ones",
    PROBES,
    _reorder_buffer(112),
    _reorder_buffer(80),
    Run(PROBES.experiment, ("machine=zen4-server",)),
)
def interleaved_probes_beside_published_ones(xeon: pd.DataFrame, of_112: pd.DataFrame, of_80: pd.DataFrame, zen4: pd.DataFrame) -> Table:
    """Return how many times as fast AMAC is as one by one, published (Fang et al., PVLDB 13(3), 2019), simulated and measured natively."""

    def row(label: str, results: pd.DataFrame, kind: str) -> list[str]:
        single = [one(results, {"variant": f"one by one{kind}"}, skew) for skew in SKEWS.values()]
        interleaved = [one(results, {"variant": f"AMAC{kind}"}, skew) for skew in SKEWS.values()]
        gains = [cycles(before) / cycles(after) for before, after in zip(single, interleaved, strict=True)]
        return [label, *(f"{gain:.1f}" for gain in gains), f"{percent(share(single[-1], 'dcache'))} (skew 1)"]

    return [
        ["", "AMAC over one by one, skew 0", "skew 1", "one by one waits for memory"],
        ["published, Xeon Silver 4110", "1.74", "1.70", "66% (skew 1)"],
        row("simulated, Xeon Silver 4110, dense, stored", xeon, ", dense, stored"),
        row("the same, reorder buffer of 112 instead of 224", of_112, ", dense, stored"),
        row("dense, not stored", xeon, ", dense"),
        row("the same, reorder buffer of 112", of_112, ", dense"),
        row("the same, 80", of_80, ", dense"),
        row("simulated, Xeon Silver 4110, scattered", xeon, ""),
        row("simulated, Zen 4 (`--set machine=zen4-server`), scattered", zen4, ""),
        ["natively, a virtual EPYC (Zen 4) with 4 KiB pages, dense, stored", "1.8", "1.6", "not counted"],
        ["the same, not stored", "1.6", "1.6", "not counted"],
        ["the same, scattered", "1.7", "1.4", "not counted"],
    ]


@table("partitioned-joins", Run("partitioned-joins"))
def partitioned_joins(results: pd.DataFrame) -> Table:
    """Return cycles of a tuple of either input, of all cores together."""
    rows = {
        f"{place}, {algorithm}": {"variant": f"{platform} - {algorithm}"}
        for platform, place in (("Xeon", "Xeon Silver 4110"), ("thesis", "thesis's machine"))
        for algorithm in ("no partitioning", "radix, one pass", "radix, two passes")
    }
    return grid(results, rows, cores([1, 2, 4, 8]), _few)


@table("coherent-joins", Run("coherent-joins"))
def coherent_joins(results: pd.DataFrame) -> Table:
    """Return cycles of a tuple, of all cores together, by build tuples."""
    rows = variants(
        "one table",
        ("the same, not coherent", "one table, not coherent"),
        ("radix, two passes, 14 bits", "radix, two passes"),
        ("radix, not coherent", "radix, two passes, not coherent"),
    )
    sizes = values("workload.build_tuples", [2**14, 2**17, 2**20], lambda tuples: f"2^{tuples.bit_length() - 1}")
    return grid(results, rows, sizes, _few, "build tuples")


@table("radix-bits", Run("radix-bits"))
def radix_bits(results: pd.DataFrame) -> Table:
    """Return cycles of a tuple by radix bits, and waits for translations."""
    bits = values("workload.radix_bits", [4, 6, 8, 10, 12, 14])
    made = [["radix bits", *bits]]
    waiting = {"one pass, 4 KiB", "thesis, one pass"}
    rows = {
        "Xeon, one pass, 4 KiB pages": "one pass, 4 KiB",
        "Xeon, one pass, 2 MiB pages": "one pass, 2 MiB",
        "Xeon, two passes, 4 KiB pages": "two passes, 4 KiB",
        "Xeon, two passes, 2 MiB pages": "two passes, 2 MiB",
        "Xeon, one pass, buffers, 4 KiB pages": "one pass, 4 KiB, buffers",
        "thesis, one pass": "thesis, one pass",
        "thesis, two passes": "thesis, two passes",
        "thesis, one pass, buffers": "thesis, one pass, buffers",
    }
    for label, variant in rows.items():
        found = [one(results, {"variant": variant}, column) for column in bits.values()]
        made.append([label, *map(_few, found)])
        if variant in waiting:
            made.append(["its waits for translations (% of the time)", *(f"{100 * share(row, 'dtlb'):.0f}" for row in found)])
    return made


def _lines(row: pd.Series) -> float:
    """Return lines that an operation moves over the bus."""
    past = row.get("bus_non_temporal", 0)
    return float((row["bus_fills"] + row["bus_write_backs"] + (0 if pd.isna(past) else past)) / row["operations"])


@table("lines-past-the-caches", Run("lines-past-the-caches"))
def lines_past_the_caches(results: pd.DataFrame) -> Table:
    """Return cycles of a tuple, of all cores together, and lines that it moves over the bus."""
    numbers = cores([1, 4, 8])
    made = [["", *numbers, "lines"]]
    for platform, way in product(("Xeon", "thesis"), ("tuple by tuple", "buffers", "buffers, past the caches")):
        found = [one(results, {"variant": f"{platform} - {way}"}, column) for column in numbers.values()]
        lines = sorted({f"{_lines(row):.1f}" for row in found})
        made.append([f"{platform}, {way}", *map(_few, found), " to ".join([lines[0], *lines[1:][-1:]])])
    return made


EIGHT = Run("tuples-of-eight-bytes")
KEYS_AND_BYTES = {
    f"{keys}, {size} bytes": {"workload.keys": keys, "workload.tuple_bytes": size} for keys in ("dense", "scattered") for size in (16, 8)
}


@table("tuples-of-eight-bytes", EIGHT, Run(EIGHT.experiment, ("workload.build_tuples=4194304",)))
def tuples_of_eight_bytes(results: pd.DataFrame, larger: pd.DataFrame) -> Table:
    """Return cycles of a tuple by its bytes and keys, and lines that it brings over the bus."""
    made = [["build tuples", "", *KEYS_AND_BYTES]]

    def add(build: str, label: str, results: pd.DataFrame, variant: str, lines: str = "") -> None:
        found = [one(results, {"variant": variant}, column) for column in KEYS_AND_BYTES.values()]
        made.append([build, label, *map(_few, found)])
        if lines:
            made.append(["", lines, *(number(row["bus_fills"] / row["operations"], places=2) for row in found)])

    add("2^20", "no partitioning", results, "no partitioning", "its lines")
    add("", "radix, one pass of 8 bits", results, "radix, one pass", "its lines")
    add("", "the same with buffers", results, "radix, one pass, buffers")
    add("", "radix, two passes, 14 bits", results, "radix, two passes")
    add("2^22", "no partitioning", larger, "no partitioning", "its lines")
    add("", "radix, one pass of 8 bits", larger, "radix, one pass")
    return made


@table("joins-natively", EIGHT)
def joins_natively(results: pd.DataFrame) -> Table:
    """Return nanoseconds of a tuple of 16 bytes, natively and simulated."""
    # Measured on a virtual EPYC (Zen 4), pages of 4 KiB, one thread, medians of seven: with dense and with scattered keys.
    natively = {
        "no partitioning": ("no partitioning", "31.3", "74.6"),
        "radix, one pass of 8 bits": ("radix, one pass", "9.1", "15.7"),
        "the same with buffers": ("radix, one pass, buffers", "15.6", "21.7"),
        "radix, two passes, 14 bits": ("radix, two passes", "12.4", "18.1"),
        "these with buffers": ("radix, two passes, buffers", "24.3", "31.1"),
    }
    made = [["", "dense, natively", "simulated", "scattered, natively", "simulated"]]
    for label, (variant, dense, scattered) in natively.items():
        found = [one(results, {"variant": variant}, KEYS_AND_BYTES[f"{keys}, 16 bytes"]) for keys in ("dense", "scattered")]
        simulated = [f"{1000 * microseconds(row):.1f}" for row in found]
        made.append([label, dense, simulated[0], scattered, simulated[1]])
    return made


def _joins_on_disks(results: pd.DataFrame, ahead: str) -> Table:
    """Return cycles of a probe tuple by disks and processors, and how much of them processors wait for disks."""
    made = [["disks", "GRACE, 1 processor", "2", "4", "group prefetching, 1 processor", "2", "4"]]
    for disks in (1, 2, 4, 8):
        place: Select = {"storage.disks": disks}
        found = [
            one(results, place, {"variant": f"{algorithm}{ahead}", "workload.threads": threads})
            for algorithm, threads in product(("GRACE", "group"), (1, 2, 4))
        ]
        made.append([str(disks), *(f"{cycles(row):.0f} ({percent(share(row, 'storage'))})" for row in found)])
    return made


@table("joins-on-disks", Run("joins-on-disks"))
def joins_on_disks(results: pd.DataFrame) -> Table:
    """Return what joins take that ask for 128 pages ahead."""
    return _joins_on_disks(results, "")


@table("joins-on-disks-far-ahead", Run("joins-on-disks"))
def joins_on_disks_far_ahead(results: pd.DataFrame) -> Table:
    """Return what joins take that ask for 1024 pages ahead."""
    return _joins_on_disks(results, " far ahead")


def _tuples_by_length(results: pd.DataFrame, phase: str) -> Table:
    """Return cycles of a tuple by its length, and what prefetching gains over GRACE."""
    lengths = {
        "20 bytes": "20",
        "80 bytes": "80",
        "100 bytes": "100",
        "140 bytes": "140",
        "20 to 140 bytes, 80 on average": "20-140",
        "as if of any length, all of 80 bytes": "equal",
    }
    made = [[f"{phase} phase", "GRACE", "group", "pipelined (D = 4)"]]
    for label, length in lengths.items():
        grace, *prefetching = (
            cycles(one(results, {"variant": f"{phase} {length} - {algorithm}"})) for algorithm in ("GRACE", "group", "pipelined")
        )
        made.append([label, f"{grace:,.0f}", *(f"{found:,.0f} ({grace / found:.2f})" for found in prefetching)])
    return made


@table("join-by-length", Run("variable-length-tuples"))
def join_by_length(results: pd.DataFrame) -> Table:
    """Return what the join phase takes."""
    return _tuples_by_length(results, "join")


@table("partition-by-length", Run("variable-length-tuples"))
def partition_by_length(results: pd.DataFrame) -> Table:
    """Return what the partition phase takes."""
    return _tuples_by_length(results, "partition")
