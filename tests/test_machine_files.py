"""Every machine file of ours gives the machine that its sources describe: sizes, latencies, bandwidth, reach."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from files import ROOT

from memwalk.simcore.machine import load_machine, machine_names

KIB, MIB = 2**10, 2**20


@dataclass(frozen=True)
class Expected:
    """What a reader of the sources expects; written here a second time, in the units of a data sheet."""

    clock_mhz: int
    cache_bytes: tuple[int, ...]
    sets: tuple[int, ...]
    hit_cycles: tuple[int, ...]
    memory_cycles: int
    """Unloaded load-to-use latency of a miss in every cache (T1)."""
    memory_ns: float
    peak_gb_per_s: float
    """10^9 bytes per second: one line of the last cache per T_next."""
    tlb_reach_kib: tuple[int, ...]
    tlb_miss_cycles: int
    """What a walk costs besides reads of the page table."""
    normalized_bandwidth: float
    """B = T1 / T_next: lines that memory can start in the time of one miss."""


EXPECTED = {
    "thesis-simulator": Expected(
        clock_mhz=1500,
        cache_bytes=(16 * KIB, 256 * KIB, 2 * MIB),
        sets=(64, 512, 4096),
        hit_cycles=(1, 5, 12),
        memory_cycles=250,
        memory_ns=166.7,
        peak_gb_per_s=6.4,
        tlb_reach_kib=(2048,),
        tlb_miss_cycles=30,
        normalized_bandwidth=250 / 15,
    ),
    "itanium2-900": Expected(
        clock_mhz=900,
        cache_bytes=(16 * KIB, 256 * KIB, 3 * MIB // 2),
        sets=(64, 256, 2048),
        hit_cycles=(1, 5, 12),
        memory_cycles=189,
        memory_ns=210.0,
        peak_gb_per_s=4.8,
        tlb_reach_kib=(512, 2048),
        tlb_miss_cycles=32,
        normalized_bandwidth=189 / 24,
    ),
    "xeon-silver-4110": Expected(
        clock_mhz=3000,
        cache_bytes=(32 * KIB, MIB, 11 * MIB),
        sets=(64, 1024, 16384),
        hit_cycles=(4, 14, 77),
        memory_cycles=270,
        memory_ns=90.0,
        peak_gb_per_s=115.2,
        tlb_reach_kib=(256, 6144),
        tlb_miss_cycles=9,
        normalized_bandwidth=90 / 0.5556,
    ),
    "zen4-server": Expected(
        clock_mhz=3700,
        cache_bytes=(32 * KIB, 1 * MIB, 32 * MIB),
        sets=(64, 2048, 32768),
        hit_cycles=(4, 14, 50),
        memory_cycles=437,
        memory_ns=118.0,
        peak_gb_per_s=57.6,
        tlb_reach_kib=(288, 12288),
        tlb_miss_cycles=8,
        normalized_bandwidth=118 / 1.111,
    ),
    "graviton3": Expected(
        clock_mhz=2600,
        cache_bytes=(64 * KIB, 1 * MIB, 32 * MIB),
        sets=(256, 2048, 32768),
        hit_cycles=(4, 10, 68),
        memory_cycles=312,
        memory_ns=120.0,
        peak_gb_per_s=27.83,
        tlb_reach_kib=(160, 8192),
        tlb_miss_cycles=5,
        normalized_bandwidth=120 / 2.3,
    ),
    "pentium2-xeon-400": Expected(
        clock_mhz=400,
        cache_bytes=(16 * KIB, 512 * KIB),
        sets=(128, 4096),
        hit_cycles=(3, 10),
        memory_cycles=75,
        memory_ns=187.5,
        peak_gb_per_s=0.8,
        tlb_reach_kib=(256,),
        tlb_miss_cycles=20,
        normalized_bandwidth=75 / 16,
    ),
    "ultrasparc-iii": Expected(
        clock_mhz=300,
        cache_bytes=(16 * KIB, 512 * KIB),
        sets=(512, 8192),
        hit_cycles=(2, 9),
        memory_cycles=68,
        memory_ns=226.7,
        peak_gb_per_s=0.598,
        tlb_reach_kib=(512,),
        tlb_miss_cycles=40,
        normalized_bandwidth=68 / 32.1,
    ),
    "alpha-21164": Expected(
        clock_mhz=400,
        cache_bytes=(8 * KIB, 96 * KIB, 4 * MIB),
        sets=(256, 512, 65536),
        hit_cycles=(2, 12, 38),
        memory_cycles=150,
        memory_ns=375.0,
        peak_gb_per_s=1.0,
        tlb_reach_kib=(512,),
        tlb_miss_cycles=40,
        normalized_bandwidth=150 / 25.6,
    ),
    "powerpc-601-75": Expected(
        clock_mhz=75,
        cache_bytes=(32 * KIB, 1 * MIB),
        sets=(64, 16384),
        hit_cycles=(2, 9),
        memory_cycles=40,
        memory_ns=533.3,
        peak_gb_per_s=0.4,
        tlb_reach_kib=(1024,),
        tlb_miss_cycles=30,
        normalized_bandwidth=40 / 12,
    ),
    "pentium4-2400": Expected(
        clock_mhz=2400,
        cache_bytes=(8 * KIB, 512 * KIB),
        sets=(32, 1024),
        hit_cycles=(2, 18),
        memory_cycles=300,
        memory_ns=125.0,
        peak_gb_per_s=3.2,
        tlb_reach_kib=(256,),
        tlb_miss_cycles=30,
        normalized_bandwidth=300 / 48,
    ),
    "pentium4-xeon-1700": Expected(
        clock_mhz=1700,
        cache_bytes=(8 * KIB, 256 * KIB),
        sets=(32, 512),
        hit_cycles=(2, 18),
        memory_cycles=213,
        memory_ns=125.3,
        peak_gb_per_s=3.2,
        tlb_reach_kib=(256,),
        tlb_miss_cycles=30,
        normalized_bandwidth=213 / 34,
    ),
}


SIMULATED_DRAM = ("zen4-ddr4", "zen4-hbm2")
"""zen4-server before DRAMs of its own: tests/test_dram.py and the ini files' tests know their numbers."""


@pytest.mark.parametrize("name", SIMULATED_DRAM)
def test_only_the_dram_differs_from_the_server(name: str) -> None:
    ours, server = load_machine(name).native(), load_machine("zen4-server").native()
    assert {key: ours[key] for key in ours if key not in ("name", "memory")} == {
        key: server[key] for key in server if key not in ("name", "memory")
    }


def test_every_machine_file_is_expected_here() -> None:
    assert machine_names() == sorted([*EXPECTED, *SIMULATED_DRAM, "zen4-cxl"])


def test_every_machine_file_is_in_the_table_of_the_documents() -> None:
    rows = [line for line in (ROOT / "docs/machines.md").read_text().splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == machine_names()


@pytest.mark.parametrize("name", EXPECTED)
def test_caches_have_the_capacity_that_their_geometry_makes(name: str) -> None:
    caches = load_machine(name).native()["caches"]
    expected = EXPECTED[name]
    assert tuple(cache["size_bytes"] for cache in caches) == expected.cache_bytes
    made = tuple(sets * cache["ways"] * cache["line_bytes"] for sets, cache in zip(expected.sets, caches, strict=True))
    assert made == expected.cache_bytes
    assert tuple(load_machine(name).derived()["sets"].values()) == expected.sets


@pytest.mark.parametrize("name", EXPECTED)
def test_latencies_and_bandwidth_are_those_of_the_data_sheet(name: str) -> None:
    machine, expected = load_machine(name), EXPECTED[name]
    spec, derived = machine.native(), machine.derived()
    assert spec["clock_hz"] == expected.clock_mhz * 10**6
    assert tuple(cache["latency_cycles"] for cache in spec["caches"]) == expected.hit_cycles
    assert spec["memory"]["latency_cycles"] == expected.memory_cycles
    cycle_ns = 1e9 / spec["clock_hz"]
    assert spec["memory"]["latency_cycles"] * cycle_ns == pytest.approx(expected.memory_ns, abs=cycle_ns / 2)
    assert derived["peak_bandwidth_bytes_per_second"] == pytest.approx(expected.peak_gb_per_s * 1e9, rel=1e-3)
    assert derived["normalized_bandwidth"] == pytest.approx(expected.normalized_bandwidth, rel=2e-3)


@pytest.mark.parametrize("name", ["zen4-server", "graviton3", "xeon-silver-4110"])
def test_bandwidth_of_memory_has_a_clock_of_its_own(tmp_path: Path, name: str) -> None:
    """A core of twice the clock takes its lines in whole cycles again, so that there is room for rounding."""
    file = tmp_path / "fast.yaml"
    clock = 2 * EXPECTED[name].clock_mhz
    text = f"schema_version: 1\nextends: {name}\ndescription: faster\nclock_hz: {clock}MHz\nsources: {{clock_hz: what if it were}}\n"
    file.write_text(text)
    peak = load_machine(str(file)).derived()["peak_bandwidth_bytes_per_second"] / 1e9
    assert peak == pytest.approx(EXPECTED[name].peak_gb_per_s, rel=0.34)


@pytest.mark.parametrize("name", EXPECTED)
def test_tlb_reaches_as_far_as_its_entries_say(name: str) -> None:
    machine, expected = load_machine(name), EXPECTED[name]
    reach = tuple(size // KIB for size in machine.derived()["tlb_reach_bytes"])
    assert reach == expected.tlb_reach_kib
    assert machine.native()["dtlb"]["walk_latency_cycles"] == expected.tlb_miss_cycles


@pytest.mark.parametrize("name", EXPECTED)
def test_every_number_says_where_it_comes_from(name: str) -> None:
    sources = load_machine(name).sources
    vague = {path for path, text in sources.items() if len(text) < 10 or text == "see sources"}
    assert not vague
    for path in ("clock_hz", "core.issue_width", "caches.0.mshrs", "dtlb.walk_latency_cycles", "memory.interval_cycles"):
        assert path in sources


def test_the_two_machines_of_the_thesis_have_its_bandwidth_ratios() -> None:
    """Thesis section 2.4.2: T_next follows from 6.4 GB/s, the clock and the line."""
    simulator = load_machine("thesis-simulator").derived()
    assert simulator["peak_bandwidth_bytes_per_second"] == 6.4e9
    assert simulator["normalized_bandwidth"] == pytest.approx(16.7, abs=0.05)
    assert load_machine("itanium2-900").derived()["normalized_bandwidth"] == pytest.approx(7.9, abs=0.05)


def test_the_benchmarks_run_on_the_thesis_simulator() -> None:
    copy = Path(__file__).parents[1] / "benches/src/thesis-simulator.json"
    assert json.loads(copy.read_text()) == load_machine("thesis-simulator").native()
