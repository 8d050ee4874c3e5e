"""Detection: fake system folders give the machine they describe, and the present computer gives one that loads."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from files import invoke, memwalk, write_experiment

from memwalk.analysis import native as on_this_computer
from memwalk.simcore.detect import measure
from memwalk.simcore.detect.cores import DEFAULT, assumed_core
from memwalk.simcore.detect.geometry import Geometry, representable
from memwalk.simcore.detect.host import Timings, look, machine_file
from memwalk.simcore.detect.measure import Measured
from memwalk.simcore.detect.sysfs import HostCache, highest_clock_hz, huge_pages, read_caches
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, load_machine

KIB, MIB = 2**10, 2**20

INTEL = [
    ("Data", 1, "48K", 12, "0,32"),
    ("Instruction", 1, "32K", 8, "0,32"),
    ("Unified", 2, "1280K", 20, "0,32"),
    ("Unified", 3, "36608K", 11, "0-63"),
]
"""An Ice Lake server with a split first level and a last one whose sets are no power of two."""
AMD = [("Data", 1, "32K", 8, "0"), ("Instruction", 1, "32K", 8, "0"), ("Unified", 2, "1024K", 8, "0"), ("Unified", 3, "32768K", 16, "0-7")]

PROCESSOR: dict[str, Any] = {
    "vendor": "AuthenticAMD",
    "brand": "AMD EPYC 9654",
    "family": 25,
    "model": 17,
    "virtual_machine": False,
    "dtlb": [{"entries": 72, "leaf": "80000005h"}, {"entries": 3072, "leaf": "80000006h"}],
    "caches": [],
    "clock_hz": 3.7e9,
}
SILENT = PROCESSOR | {"vendor": "", "brand": "", "family": 0, "model": 0, "dtlb": [], "clock_hz": 2e9}
"""A processor without CPUID."""


def write_caches(cpu: Path, caches: list[tuple[str, int, str, int, str]]) -> Path:
    for number, (kind, level, size, ways, shared) in enumerate(caches):
        folder = cpu / "cache" / f"index{number}"
        folder.mkdir(parents=True)
        texts = {"type": kind, "level": level, "size": size, "ways_of_associativity": ways, "shared_cpu_list": shared}
        for name, text in (texts | {"coherency_line_size": 64}).items():
            (folder / name).write_text(f"{text}\n")
    return cpu


def timings(caches: int, ns: tuple[float, ...] = (1.08, 3.8, 12.4)) -> Timings:
    def measured(median: float) -> Measured:
        return Measured(median, median / 2, 2 * median, "pointer chase over a test")

    return Timings(
        [measured(time) for time in ns[:caches]], [measured(2), measured(30)], measured(120), measured(4), measured(4.2), "2026-01-02"
    )


def load(folder: Path, file: dict[str, Any]) -> Machine:
    path = folder / "host.yaml"
    path.write_text(yaml.safe_dump(file))
    return load_machine(str(path))


def test_caches_are_those_that_hold_data(tmp_path: Path) -> None:
    caches, notes = read_caches(write_caches(tmp_path, INTEL))
    assert notes == []
    found = [(one.level, one.size_bytes, one.line_bytes, one.ways, one.shared_by) for one in caches]
    assert found == [(1, 48 * KIB, 64, 12, "0,32"), (2, 1280 * KIB, 64, 20, "0,32"), (3, 36608 * KIB, 64, 11, "0-63")]
    assert caches[2].source == str(tmp_path / "cache" / "index3")


def test_what_cannot_be_read_is_left_out_with_a_note(tmp_path: Path) -> None:
    write_caches(tmp_path, AMD)
    (tmp_path / "cache" / "index2" / "size").unlink()
    (tmp_path / "cache" / "index3" / "level").write_text("three\n")
    caches, notes = read_caches(tmp_path)
    assert [cache.level for cache in caches] == [1]
    assert notes == [
        f"{tmp_path}/cache/index2/size: No such file or directory; this cache is left out",
        f"{tmp_path}/cache/index3: no numbers where there should be; this cache is left out",
    ]
    assert read_caches(tmp_path / "absent") == ([], [f"{tmp_path}/absent/cache: no caches listed"])


def test_clock_and_huge_pages(tmp_path: Path) -> None:
    assert highest_clock_hz(tmp_path) is None
    (tmp_path / "cpufreq").mkdir()
    (tmp_path / "cpufreq" / "cpuinfo_max_freq").write_text("3700000\n")
    assert highest_clock_hz(tmp_path) == 3_700_000_000
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    assert huge_pages(tmp_path / "enabled") == "madvise"
    assert huge_pages(tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("size", "ways", "expected"),
    [
        (32 * MIB, 16, 32 * MIB),
        # 53248 and 24576 sets: no power of two.
        (36608 * KIB, 11, 36608 * KIB),
        (24 * MIB, 16, 24 * MIB),
        # 48725.3 sets: a virtual machine's share of a cache.
        (36608 * KIB - 64 * KIB, 12, 48725 * 12 * 64),
        (64, 16, 16 * 64),
    ],
)
def test_sets_become_a_whole_number(size: int, ways: int, expected: int) -> None:
    found = representable(size, 64, ways)
    assert (found.size_bytes, found.ways) == (expected, ways)
    assert bool(found.change) == (size != expected)


def test_unknown_ways_are_assumed() -> None:
    assert representable(8 * MIB, 64, 0) == Geometry(8 * MIB, 16, "ways unknown, 16 assumed")


def test_a_host_becomes_a_machine_that_loads(tmp_path: Path) -> None:
    host = look(PROCESSOR, write_caches(tmp_path / "cpu", AMD))
    machine = load(tmp_path, machine_file(host, timings(3)))
    native = machine.native()
    assert [(one["name"], one["size_bytes"], one["ways"], one["latency_cycles"]) for one in native["caches"]] == [
        ("L1", 32 * KIB, 8, 4),
        ("L2", MIB, 8, 14),
        ("L3", 32 * MIB, 16, 46),
    ]
    assert native["clock_hz"] == 3_700_000_000
    assert native["dtlb"]["levels"] == [{"entries": 72, "latency_cycles": 0}, {"entries": 3072, "latency_cycles": 7}]
    assert (native["dtlb"]["walk_latency_cycles"], native["memory"]["latency_cycles"], native["memory"]["interval_cycles"]) == (
        111,
        444,
        pytest.approx(4.0 * 3.7, abs=1e-3),
    )
    model = load_machine("zen4-server").native()
    assert (native["dtlb"]["walker"], native["dtlb"]["walkers"]) == (model["dtlb"]["walker"], model["dtlb"]["walkers"])
    # The way of writes is as much slower than that of reads.
    assert native["memory"]["write_interval_cycles"] == pytest.approx(2 * 4.0 * 3.7, rel=1e-2)
    # 4.2 ns at 3.7 GHz; the rest of the core cannot be measured.
    assert native["core"] == load_machine("zen4-server").native()["core"] | {"mispredict_penalty_cycles": 16}
    sources = machine.sources
    assert sources["caches.2.size_bytes"] == f"{tmp_path}/cpu/cache/index3; shared by cores 0-7"
    assert sources["memory.latency_cycles"] == (
        "measured by pointer chase over a test on 2026-01-02; median of 15, range 60.00 to 240.00 ns"
    )
    assert sources["core.reorder_buffer"].startswith("assumed: the core of zen4-server (CPUID family 25 model 17 is Zen 4)")


def test_any_number_of_sets_is_kept_and_rounded_sizes_are_said(tmp_path: Path) -> None:
    exact = load(tmp_path, machine_file(look(PROCESSOR, write_caches(tmp_path / "cpu", INTEL)), timings(3)))
    last = exact.native()["caches"][2]
    assert (last["size_bytes"], last["ways"], exact.derived()["sets"]["L3"]) == (36608 * KIB, 11, 53248)
    assert "rounded" not in exact.sources["caches.2.size_bytes"]
    odd = [*INTEL[:3], ("Unified", 3, "36700K", 12, "0-63")]
    source = load(tmp_path, machine_file(look(PROCESSOR, write_caches(tmp_path / "odd", odd)), timings(3))).sources["caches.2.size_bytes"]
    assert "rounded from 37580800 bytes, which are no whole number of sets of 12 ways" in source


def test_what_a_busy_computer_measures_as_nothing_is_raised_to_a_cycle(tmp_path: Path) -> None:
    def measured(ns: float) -> Measured:
        return Measured(ns, 0.0, ns, "pointer chase over a test")

    host = look(PROCESSOR, write_caches(tmp_path / "cpu", AMD))
    for ns in (0.1, 0.0):
        short = Timings([measured(ns)] * 3, [measured(ns)] * 2, measured(ns), measured(0.1), measured(ns), "2026-01-02")
        machine = load(tmp_path, machine_file(host, short))
        native = machine.native()
        assert [cache["latency_cycles"] for cache in native["caches"]] == [1, 2, 3]
        assert [level["latency_cycles"] for level in native["dtlb"]["levels"]] == [0, 1]
        assert (native["dtlb"]["walk_latency_cycles"], native["memory"]["latency_cycles"], native["memory"]["interval_cycles"]) == (1, 4, 1)
        assert native["core"]["mispredict_penalty_cycles"] == 1
        sources = machine.sources
        for place in ("caches.0.latency_cycles", "dtlb.levels.1.latency_cycles", "dtlb.walk_latency_cycles", "memory.interval_cycles"):
            assert sources[place].endswith("raised to 1 cycle, the least there can be"), place


def test_a_missing_level_and_noisy_latencies_still_load(tmp_path: Path) -> None:
    host = look(PROCESSOR, write_caches(tmp_path / "cpu", AMD[:3]))
    machine = load(tmp_path, machine_file(host, timings(2, (1.0, 0.9))))
    latencies = [cache["latency_cycles"] for cache in machine.native()["caches"]]
    assert latencies == [4, 5]
    assert "raised to 5 cycles, the least there can be" in machine.sources["caches.1.latency_cycles"]


def test_without_cpuid_everything_else_has_a_stand_in(tmp_path: Path) -> None:
    cpu = write_caches(tmp_path / "cpu", AMD)
    (cpu / "cpufreq").mkdir()
    (cpu / "cpufreq" / "cpuinfo_max_freq").write_text("2600000\n")
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n")
    host = look(SILENT, cpu, cpuinfo)
    assert host.core.machine == "graviton3"
    assert host.clock_hz == 2_600_000_000
    assert any(note.startswith("TLB entries unknown: assumed: as in graviton3") for note in host.notes)
    load(tmp_path, machine_file(host, timings(3)))


def test_caches_may_come_from_cpuid_and_none_is_a_mistake(tmp_path: Path) -> None:
    told = [{"level": 1, "size_bytes": 32 * KIB, "line_bytes": 64, "ways": 8}]
    assert look(PROCESSOR | {"caches": told}, tmp_path).caches == (HostCache(1, 32 * KIB, 64, 8, "", "CPUID leaf 4 or 8000001Dh"),)
    with pytest.raises(UserError, match="write a machine file by hand"):
        look(PROCESSOR, tmp_path)


def test_an_unknown_core_is_stood_in_for(tmp_path: Path) -> None:
    core = assumed_core(PROCESSOR | {"vendor": "GenuineIntel", "family": 6, "model": 106}, tmp_path / "absent")
    assert core.machine == DEFAULT
    assert "CPUID GenuineIntel family 6 model 106" in core.reason


def test_this_computer_is_detected_and_simulated_beside_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number is measured once, which takes a second; medians of fifteen are for those who use them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "_ORDERS", 1)
    monkeypatch.setattr(measure, "_REPETITIONS", 1)
    done = invoke("machine", "detect", "-o", "host.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    machine = json.loads(done.stdout)["machine"]
    latencies = [cache["latency_cycles"] for cache in machine["caches"]]
    assert latencies[0] < machine["memory"]["latency_cycles"]
    again = invoke("machine", "detect", "-o", "host.yaml")
    assert (again.exit_code, "left alone" in again.stderr) == (2, True)
    shown = invoke("machine", "show", "./host.yaml")
    assert "measured by pointer chase" in shown.stdout

    write_experiment(tmp_path)
    # Caches of servers take seconds to empty; test_native_varies_what_is_set_in_the_machine does.
    monkeypatch.setattr(on_this_computer, "eviction_bytes", lambda: MIB)
    arguments = ("native", "experiment.yaml", "--machine", "./host.yaml", "--set", "workload.seed=1", "--repetitions", "2")
    done = invoke(*arguments, "--baseline", "p8B+", "-o", "out", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["machine"]["name"] == "host"
    rows = answer["rows"]
    assert [(row["variant"], row["parameters"]["workload.keys"]) for row in rows] == [
        ("B+", 1000),
        ("B+", 2000),
        ("p8B+", 1000),
        ("p8B+", 2000),
    ]
    for row, base in zip(rows, rows[2:] * 2, strict=True):
        assert row["min_ns"] <= row["median_ns"] <= row["max_ns"]
        assert row["speedup"] == pytest.approx(base["median_ns"] / row["median_ns"])
        assert row["simulated_speedup"] == pytest.approx(base["simulated_ns"] / row["simulated_ns"])
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"native.parquet", "results.parquet", "manifest.json"}


def test_native_varies_what_is_set_in_the_machine(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    native = ("native", "experiment.yaml", "--machine", "./small.yaml", "--repetitions", "1", "--json", "--variant", "B+")
    latency = "machine.memory.latency_cycles"
    done = memwalk(
        *native, "--set", f"{latency}=[100cycles,400cycles]", "--set", "workload.keys=1000", "--set", "workload.seed=1", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["parameters"][latency] for row in rows] == [100, 400]
    assert rows[0]["simulated_ns"] < rows[1]["simulated_ns"]
    for named in ("thesis-simulator", "[thesis-simulator, zen4-server]"):
        done = memwalk(*native, "--set", f"machine={named}", cwd=tmp_path)
        assert done.returncode == 2
        assert f"--set machine={named}: the simulated machine is that of --machine" in done.stderr


def test_native_names_a_wrong_baseline_or_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_experiment(tmp_path)
    monkeypatch.chdir(tmp_path)
    for option in ("--baseline", "--variant"):
        for machine in (("--machine", "./small.yaml"), ()):
            done = invoke("native", "experiment.yaml", *machine, option, "q8")
            assert done.exit_code == 2
            assert done.stderr == f"memwalk: error: {option} q8: no such variant; there are B+, p8B+\n", "nothing was detected before"
