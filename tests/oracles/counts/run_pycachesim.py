"""Count misses with pycachesim (RRZE Erlangen, PyPI `pycachesim`), an independent simulator, and print the reference CSV.

usage: python run_pycachesim.py [ACCESSES] > pycachesim.csv

Needs, besides memwalk on the path, `pip install pycachesim==0.3.1`. Runs the beginnings of the address traces and kernels as
this package's Rust side records them. Caches are those of the thesis's simulator: L1 16 KiB 4-way, L2 256 KiB 8-way, L3 2 MiB
8-way, 64-byte lines, LRU, write-back and write-allocate.
"""

import csv
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from cachesim import Cache, CacheSimulator, MainMemory

sys.path.insert(0, str(Path(__file__).parents[2]))

from oracles.address_traces import LENGTH, TRACES, addresses
from oracles.counts.kernels import KERNELS

from memwalk.simcore.engines import native

BATCH = 1_000_000
COLUMNS = ("simulator", "trace", "accesses", *(f"{level}_misses" for level in ("L1", "L2", "L3")))


def hierarchy() -> CacheSimulator:
    """An empty hierarchy."""
    memory = MainMemory()
    last = Cache("L3", 4096, 8, 64, "LRU")
    middle = Cache("L2", 512, 8, 64, "LRU", store_to=last, load_from=last)
    first = Cache("L1", 64, 4, 64, "LRU", store_to=middle, load_from=middle)
    memory.load_to(last)
    memory.store_from(last)
    return CacheSimulator(first, memory)


def misses(caches: CacheSimulator) -> list[int]:
    """Misses by level, nearest first."""
    return [statistics["MISS_count"] for statistics in caches.stats()][:3]


def read_addresses(name: str, count: int) -> list[object]:
    """Run the beginning of an address trace."""
    caches = hierarchy()
    trace = addresses(name, count)
    for start in range(0, count, BATCH):
        caches.load(trace[start : start + BATCH].tolist(), length=1)
    return [name, count, *misses(caches)]


def run_kernel(name: str) -> list[object]:
    """Run what a kernel does; a software prefetch is a load of its line."""
    caches = hierarchy()
    events = list(_recorded(name))
    for kind, address, size in events:
        if kind == "store":
            caches.store(address, length=size)
        else:
            caches.load(address, length=1 if kind == "prefetch" else size)
    return [name, len(events), *misses(caches)]


def _recorded(name: str) -> Iterable[tuple[str, int, int]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.parquet"
        native.record(KERNELS[name], path)
        for event in native.trace_head(path, native.trace_info(path)["summary"]["events"]):
            if event["kind"] in ("load", "store", "prefetch"):
                yield event["kind"], event["address"], event["size"]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else LENGTH
    simulator = f"pycachesim {version('pycachesim')}"
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for name in TRACES:
        out.writerow([simulator, *read_addresses(name, count)])
    for name in KERNELS:
        out.writerow([simulator, *run_kernel(name)])


if __name__ == "__main__":
    main()
