"""Every number of every kind of device, and of workloads on storage: refused at its place before a run, or the run ends."""

import math
from pathlib import Path
from typing import Any

import pytest

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device_file import device_of, find_device
from memwalk.simcore.storage.system import System
from memwalk.simcore.yaml_source import Place, Route, Sourced, load

HERE = Place("here", 7, 7)
AMOUNTS: list[Any] = [0, -1, 1e-300, 1, 10**9, 2**63 - 1, 1e300]
BARE: list[Any] = [*AMOUNTS, 2**64, 1.5, True, "1000", "", math.inf, math.nan, None]


def numbers_in(source: Sourced) -> list[tuple[Route, str]]:
    """Gives the route of a number of each kind with its unit, the first of equal ones in a list."""
    found: dict[tuple[object, ...], tuple[Route, str]] = {}
    for route in filter(None, source.spots):
        value = source.get(route)
        plain = not isinstance(value, bool) and isinstance(value, int | float)
        if (
            "sources" in route
            or route[-1] in ("schema_version", "source", "description", "name")
            or not (plain or str(value)[:1].isdigit())
        ):
            continue
        kind = tuple("#" if isinstance(step, int) else step for step in route[:-1]) + route[-1:]
        found.setdefault(kind, (route, "" if plain else str(value).lstrip("0123456789.e_ ")))
    return list(found.values())


@pytest.mark.parametrize("name", ["raid0-6-disks", "nvme-ssd", "mems-g1", "disk-2024"])
def test_every_number_of_a_device_is_refused_where_it_stands_or_runs(name: str) -> None:
    source = load(find_device(name))
    numbers = numbers_in(source)
    assert len(numbers) > 3
    for route, unit in numbers:
        for value in [f"{amount}{unit}" for amount in AMOUNTS] if unit else BARE:
            changed = source.replaced(route, Sourced.uniform(value, HERE))
            try:
                device = device_of(changed, name)
            except UserError as error:
                if "here:7:7: " not in str(error) and f"{name}.yaml:" not in str(error):
                    pytest.fail(f"{route}, {value}: {error}")
                continue
            if device.device().blocks < 8:
                continue
            for queue in ("fcfs", "sptf"):
                ran = Requests(kernel="requests", count=5, blocks=8, write_share=0.5, in_flight=2).run(System(device, queue=queue))
                assert all(math.isfinite(number) and number >= 0 for number in ran.values()), (route, value)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "says"),
    [
        ("nvme-ssd", "queue_depth", 10**9, "`1000000000` is too large; the most is 65536"),
        ("mems-g2", "acceleration", "1e-300m/s2", "`1e-300` is too small; the least is 0.001"),
        ("mems-g2", "spring_factor", 1e-300, "write 0 for no springs, or at least 1e-06"),
    ],
)
def test_numbers_that_no_run_would_end_with_are_refused(name: str, parameter: str, value: object, says: str) -> None:
    with pytest.raises(UserError) as found:
        device_of(load(find_device(name)).replaced((parameter,), Sourced.uniform(value, HERE)), name)
    assert str(found.value) == f"here:7:7: {parameter}: {says}" or says in str(found.value)
    assert str(found.value).startswith(f"here:7:7: {parameter}: ")


DISK = "{device: atlas-10k}"
ATROPOS = "{device: cheetah-36es, disks: 2, volume: atropos, depth: 4}"
TPCC = "kernel: tpcc, layout: pax, warehouses: 1, users: 2, page_access: 100us"


@pytest.mark.parametrize(
    ("workload", "storage", "says"),
    [
        ("kernel: requests, count: 5, blocks: 16, first_block: 99999999", DISK, "requests begin at block 99999999"),
        ("kernel: interleaved-read, pages: 10, skipped_runs: 100000000", DISK, "interleaved-read: its data take"),
        ("kernel: layout-scan, layout: nsm, data: {kind: tpch, date_bytes: 9KiB}", DISK, "does not fit into a page of 8192"),
        ("kernel: layout-scan, layout: pax, data: {kind: tpch, scale_factor: 1000}", DISK, "its data take"),
        ("kernel: layout-scan, layout: pax, data: {kind: tpch, scale_factor: 1e-20}", DISK, "`1e-20` is too small; the least is 0.001"),
        ("kernel: layout-space, layout: dsm, table: r, data: {kind: uniform, attribute_bytes: 0B}", DISK, "it must be more than 0"),
        ("kernel: layout-space, layout: nsm, table: r, page_bytes: 512B, data: {kind: uniform, attributes: 90}", DISK, "does not fit"),
        ("kernel: layout-point, layout: nsm, table: r, data: {kind: uniform, records: 1000000000000}", DISK, "its data take"),
        ("kernel: layout-update, layout: mbsm, table: r, data: {kind: uniform}, start_blocks: 4294967296", DISK, "its data take"),
        ("kernel: layout-update, layout: nsm, table: r, data: {kind: uniform}, starts: 18446744073709551616", DISK, "is out of range"),
        ("kernel: super-block, data: {kind: given, columns: {a: 0B}, reads: {q: [a]}}", DISK, "it must be more than 0"),
        ("kernel: clotho-scan, layout: csm, operator: s-scan, records: 4294967296", ATROPOS, "have fewer records"),
        ("kernel: clotho-insert, layout: csm, records: 4294967296", ATROPOS, "have fewer records"),
        ("kernel: clotho-point, layout: nsm, records: 4294967296", ATROPOS, "have fewer records"),
        ("kernel: clotho-scan, layout: csm, operator: s-scan", DISK, "write volume: atropos"),
        ("kernel: clotho-column, blocks: 5", ATROPOS, "read no more blocks"),
        ("kernel: clotho-column, pattern: sequential, blocks: 65000", ATROPOS, "consecutive blocks: a row has"),
        ("kernel: super-block, data: {kind: uniform}, like: {nope: {1: 8}}", DISK, "r has no column `nope`"),
        ("kernel: super-block, data: {kind: uniform}, like: {a1: {-3: 8}}", DISK, "it must be more than 0"),
        ("kernel: super-block, data: {kind: uniform}, like: {a1: {1: -8}}", DISK, "the least is 0"),
        ("kernel: clotho-tpch, layout: csm, query: q6, sample_scale_factor: 1e-300", ATROPOS, "the least is 0.001"),
        ("kernel: clotho-tpch, layout: csm, query: q6, sample_scale_factor: 5", ATROPOS, "the most is 4"),
        (f"{TPCC.replace('100us', '0us')}", ATROPOS, "page_access: `0` is too small; it must be more than 0"),
    ],
)  # fmt: skip
def test_workloads_on_storage_are_refused_at_their_line_before_the_run(tmp_path: Path, workload: str, storage: str, says: str) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(f"schema_version: 1\nid: e\nstorage: {storage}\nworkload: {{{workload}}}\n")
    refused_at(path, 4, says)


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        ("page_bytes: 1", "page_bytes: `1` is too small; the least is 16"),
        ("page_bytes: 24", "page_bytes: 24 bytes; it must be a power of two from 16 to 32768"),
        ("page_bytes: 2147483648", "page_bytes: `2147483648` is too large; the most is 32768"),
        ("page_bytes: 4096, header_bytes: 4096", "header_bytes: 4096 bytes; it must be from 12 to less than a page, 4096"),
        ("page_bytes: 64", "page_bytes: 64 bytes, 32 of them usable; the longest record needs"),
    ],
)
def test_pages_of_tables_are_refused_at_their_line_before_the_run(tmp_path: Path, pages: str, says: str) -> None:
    path = tmp_path / "e.yaml"
    head = "schema_version: 1\nid: e\nmachine: thesis-simulator\ndbms: shore-pentium2\n"
    path.write_text(f"{head}workload: {{kernel: table, operation: scan, layout: nsm, records: 100, {pages}}}\n")
    refused_at(path, 5, says)


def refused_at(experiment: Path, number: int, says: str) -> None:
    """Expect one line that names the place and says what is wrong."""
    with pytest.raises(UserError) as found:
        expand(load_experiment(experiment))
    (line,) = str(found.value).splitlines()
    assert line.startswith(f"{experiment}:{number}:")
    assert says in line
