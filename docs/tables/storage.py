"""Tables of docs/storage.md and docs/mbsm.md."""

import pandas as pd

from docs.tables.cells import Select, Table, grid, number, one, values, variants
from docs.tables.registry import table
from docs.tables.results import Run


def bytes_per_second(row: pd.Series, *, of: str = "") -> float:
    """Return what goes over the devices in a second of a run: of all, or of the program with this name and a dot."""
    return float(512 * row[f"{of}io_blocks"] / row[f"{of}seconds"])


@table("scans-of-a-drive", Run("scans-of-a-drive"))
def scans_of_a_drive(results: pd.DataFrame) -> Table:
    """Return GB/s that a scan reads, by cores and by what a page takes the operating system."""
    costs = variants(("no time: GB/s", "no time"), ("2 us a page", "2 us"), "10 us")

    return grid(results, values("workload.threads", [1, 2, 4, 8]), costs, lambda row: f"{bytes_per_second(row) / 1e9:.1f}", "cores")


@table("programs-side-by-side", Run("programs-side-by-side"))
def programs_side_by_side(results: pd.DataFrame) -> Table:
    """Return how much longer programs take beside each other, by queue."""
    queues = variants(("first come, first served", "first come"), "C-LOOK", "aged SPTF", "disks apart")
    measures = ("users.slowdown", "scan.slowdown", "plain.slowdown", "scan.seconds", "users.tpmc")
    found = [one(results, queue) for queue in queues.values()]
    body = [[f"`{name}`", *(number(row[name], places=2) for row in found)] for name in measures]
    return [["", *queues], *body]


@table("searches-beside-a-backup", Run("searches-beside-a-backup"))
def searches_beside_a_backup(results: pd.DataFrame) -> Table:
    """Return how much longer searches take beside a backup, and how fast that is, by its requests in flight."""
    flights = values("beside.backup.in_flight", [1, 4, 16, 64])
    ways = variants(("backup reads", "read"), "restored")
    made = grid(results, ways, flights, lambda row: number(row["slowdown"], places=2), "in flight")
    for variant, label in (("read", "read"), ("restored", "restored")):
        found = [one(results, {"variant": variant}, flight) for flight in flights.values()]
        made.append([f"`backup.MB_per_second`, {label}", *(f"{row['backup.MB_per_second']:,.0f}" for row in found)])
    return made


@table("searches-beside-scans", Run("searches-beside-scans"))
def searches_beside_scans(results: pd.DataFrame) -> Table:
    """Return how much longer searches take beside scans on another machine, and how fast those are."""
    distances = values("beside.scans.distance_pages", [1, 4, 16, 64])
    found = [one(results, distance) for distance in distances.values()]
    speeds = [bytes_per_second(row, of="scans.") / 1e6 for row in found]
    return [
        ["pages ahead", *distances],
        ["`slowdown` of the searches", *(number(row["slowdown"], places=2) for row in found)],
        ["`scans.seconds`, ten scans of 3 million keys", *(number(row["scans.seconds"]) for row in found)],
        ["the same in MB/s", *(number(speed) for speed in speeds)],
    ]


@table("disk-queues", Run("disk-queues"))
def disk_queues(results: pd.DataFrame) -> Table:
    """Return requests per second by queue and requests in flight."""
    flights = values("workload.in_flight", [1, 2, 4, 8, 16, 32])
    return grid(results, variants("FCFS", "C-LOOK", "SPTF"), flights, lambda row: f"{row['requests_per_second']:.0f}", "in flight")


@table("storage-then-and-now", Run("storage-then-and-now"))
def storage_then_and_now(results: pd.DataFrame) -> Table:
    """Return requests of 8 KiB per second by device and pattern."""
    devices = variants("disk, 2001", ("4 of them, striped", "4 disks, 2001"), ("MEMStore (G2)", "MEMStore"), "disk, today", "SSD, today")
    columns: dict[str, Select] = {}
    for label, pattern, writes in (
        ("read in sequence", "sequential", 0),
        ("read anywhere", "random", 0),
        ("written anywhere", "random", 1),
    ):
        for in_flight, asked in ((1, f"{label}, 1 in flight"), (32, f"32 in flight, {label}")):
            columns[asked] = {
                "workload.pattern": pattern,
                "workload.write_share": writes,
                "workload.in_flight": in_flight,
                "workload.blocks": 16,
            }
    made = grid(results, devices, columns, lambda row: f"{row['requests_per_second']:,.0f}")
    return [[label.partition(",")[0] if label.startswith("32") else label for label in made[0]], *made[1:]]


@table("layouts-on-disks", Run("layouts-on-disks"))
def layouts_on_disks(results: pd.DataFrame) -> Table:
    """Return seconds of the mean of TPC-H's abstract queries, by disk and layout."""
    disks: dict[str, Select] = {
        "disk of 2000 (`cheetah-x15`, tracks of 22 pages)": {"storage.device": "cheetah-x15"},
        "disk of today (`disk-2024`)": {"storage.device": "disk-2024"},
    }
    layouts = variants("NSM", "PAX", "DSM", "MBSM, runs of 30 pages", "MBSM, runs of 300 pages")
    return grid(results, disks, layouts, lambda row: number(row["io_seconds"], places=2))
