"""The machine file of this processor: what the system and CPUID say, what was measured, and what had to be assumed."""

import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memwalk.simcore.detect.cores import CPUINFO, CoreModel, assumed_core
from memwalk.simcore.detect.geometry import representable
from memwalk.simcore.detect.measure import (
    RUNS,
    Measured,
    Memory,
    Notice,
    cache_latencies,
    memory_interval,
    memory_latency,
    misprediction,
    tlb_latencies,
)
from memwalk.simcore.detect.sysfs import CPU, HostCache, highest_clock_hz, huge_pages, read_caches
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, load_machine
from memwalk.simcore.memories import first_memory
from memwalk.simcore.units import to_cycles

_MEGAHERTZ = 10**6


@dataclass(frozen=True)
class Host:
    """What can be known without measuring."""

    processor: dict[str, Any]
    caches: tuple[HostCache, ...]
    clock_hz: int
    clock_source: str
    tlb_entries: tuple[int, ...]
    tlb_sources: tuple[str, ...]
    core: CoreModel
    page_bytes: int
    notes: tuple[str, ...]

    def memory(self) -> Memory:
        """Return what measurements depend on."""
        sizes = tuple(cache.size_bytes for cache in self.caches)
        return Memory(self.page_bytes, self.caches[0].line_bytes, sizes, self.tlb_entries)


@dataclass(frozen=True)
class Timings:
    """What was measured."""

    caches: list[Measured]
    tlb: list[Measured]
    """What a miss in each level adds; the last is the page walk."""
    latency: Measured
    interval: Measured
    misprediction: Measured
    date: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


def known_caches(account: dict[str, Any], cpu: Path = CPU) -> tuple[list[HostCache], list[str]]:
    """List the caches of a core, nearest first, and what could not be read, as `read_caches`; those of CPUID if the system lists none.

    ``account`` is what `native.host_processor` gives.
    """
    caches, notes = read_caches(cpu)
    return caches or [HostCache(**one, shared_by="", source="CPUID leaf 4 or 8000001Dh") for one in account["caches"]], notes


def look(processor: dict[str, Any] | None = None, cpu: Path = CPU, cpuinfo: Path = CPUINFO) -> Host:
    """Ask system and processor. Raises UserError if neither knows a cache; everything else has a stand-in and a note.

    ``processor`` is what `native.host_processor` gives; tests give their own, and their own folders.
    """
    account = processor or native.host_processor()
    caches, notes = known_caches(account, cpu)
    if not caches:
        raise UserError(f"no caches found in {cpu / 'cache'} nor by CPUID; write a machine file by hand (docs/machines.md)")
    core = assumed_core(account, cpuinfo)
    entries, sources = _tlb(account, load_machine(core.machine))
    clock, clock_source = _clock(account, cpu)
    notes += [f"TLB entries unknown: {source}" for source in sources if source.startswith("assumed")]
    notes += _doubts(account, core)
    return Host(account, tuple(caches), clock, clock_source, entries, sources, core, os.sysconf("SC_PAGE_SIZE"), tuple(notes))


def measure(host: Host, notice: Notice) -> Timings:
    """Measure what the machine file needs; ``notice`` hears what is measured next."""
    memory = host.memory()
    return Timings(
        caches=cache_latencies(memory, notice),
        tlb=tlb_latencies(memory, notice),
        latency=memory_latency(memory, notice),
        interval=memory_interval(memory, notice),
        misprediction=misprediction(notice),
    )


def machine_file(host: Host, timings: Timings) -> dict[str, Any]:
    """Write host and timings down as a machine file: plain data, to be dumped as YAML."""
    model = load_machine(host.core.machine)
    line = host.caches[0].line_bytes
    caches = _caches(host, timings, model)
    nearest = to_cycles(caches[-1]["latency_cycles"], host.clock_hz)
    latency = _at_least(nearest + 1, timings.latency, host.clock_hz)
    interval = _at_least(1, timings.interval, host.clock_hz)
    walk = _at_least(1, timings.tlb[-1], host.clock_hz)
    brand = host.processor["brand"] or platform.processor() or platform.machine()
    tlb = [{"entries": count, "latency_cycles": "0cycles"} for count in host.tlb_entries]
    for level, source in zip(tlb, host.tlb_sources, strict=True):
        level["source"] = source
    tlb[0]["sources"] = {"latency_cycles": "by definition: the first level overlaps the L1 access"}
    for level, measured in zip(tlb[1:], timings.tlb, strict=False):
        added = _at_least(1, measured, host.clock_hz)
        level |= {"latency_cycles": added.written, "sources": {"latency_cycles": _source(measured, timings) + added.raised}}
    assumed = f"assumed: as in {model.name}"
    writes = _writes(model, max(timings.interval.ns, 1e9 / host.clock_hz))
    walkers = {key: value for key, value in model.plain["dtlb"].items() if key in ("walker", "walkers", "prefetch_on_miss")}
    return {
        "schema_version": 1,
        "description": f"{brand}, one core, as `memwalk machine detect` found it on {timings.date}",
        "source": f"memwalk machine detect, {timings.date}",
        "clock_hz": f"{round(host.clock_hz / _MEGAHERTZ)}MHz",
        "sources": {"clock_hz": host.clock_source},
        "core": _core(host, timings, model),
        "caches": caches,
        "dtlb": {
            "page_bytes": f"{host.page_bytes}B",
            "levels": tlb,
            "walk_latency_cycles": walk.written,
            **walkers,
            "sources": {
                "page_bytes": "sysconf(_SC_PAGE_SIZE)",
                "walk_latency_cycles": _source(timings.tlb[-1], timings) + walk.raised,
                **dict.fromkeys(walkers, assumed),
            },
        },
        "memory": {
            "model": "fixed",
            "latency_cycles": latency.written,
            "interval_cycles": interval.written,
            **writes,
            "sources": {
                "latency_cycles": _source(timings.latency, timings) + latency.raised,
                "interval_cycles": f"{_source(timings.interval, timings)}; {line / timings.interval.ns:.1f} GB/s{interval.raised}",
                **dict.fromkeys(writes, assumed),
            },
        },
    }


def _writes(model: Machine, interval_ns: float) -> dict[str, Any]:
    """Have lines written as the model does: by the bus, or by a way as many times slower than the bus, which was measured."""
    memory = first_memory(model.plain)
    written = {"write_backs_use_bus": memory["write_backs_use_bus"]}
    if "write_interval_cycles" in memory:
        slower = memory["write_interval_cycles"] / memory["interval_cycles"]
        written["write_interval_cycles"] = f"{interval_ns * slower:.2f}ns"
    return written


def _core(host: Host, timings: Timings, model: Machine) -> dict[str, Any]:
    penalty = _at_least(1, timings.misprediction, host.clock_hz)
    return _with_units(model.plain["core"]) | {
        "mispredict_penalty_cycles": f"{penalty.cycles}cycles",
        "source": f"assumed: the core of {model.name} ({host.core.reason}); its machine file has the sources",
        "sources": {"mispredict_penalty_cycles": _source(timings.misprediction, timings) + penalty.raised},
    }


def _with_units(plain: dict[str, Any]) -> dict[str, Any]:
    """Write a part of a machine as its file has it."""
    written = {name: f"{value}cycles" if name.endswith("_cycles") else value for name, value in plain.items()}
    return {name: _with_units(value) if isinstance(value, dict) else value for name, value in written.items()}


def _caches(host: Host, timings: Timings, model: Machine) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    before = 0
    for number, (cache, measured) in enumerate(zip(host.caches, timings.caches, strict=True)):
        geometry = representable(cache.size_bytes, cache.line_bytes, cache.ways)
        latency = _at_least(before + 1, measured, host.clock_hz)
        before = latency.cycles
        shared = f"shared by cores {cache.shared_by}" if "-" in cache.shared_by or "," in cache.shared_by else ""
        level: dict[str, Any] = {
            "name": f"L{cache.level}",
            "size_bytes": f"{geometry.size_bytes}B",
            "line_bytes": f"{cache.line_bytes}B",
            "ways": geometry.ways,
            "latency_cycles": latency.written,
            "replacement": "lru",
            "source": "; ".join(filter(None, (cache.source, geometry.change, shared))),
            "sources": {
                "latency_cycles": _source(measured, timings) + latency.raised,
                "replacement": "assumed: modelling choice, see docs/fidelity.md#caches",
            },
        }
        if number == 0:
            level["mshrs"] = model.plain["caches"][0]["mshrs"]
            level["sources"]["mshrs"] = f"assumed: as in {model.name}"
        written.append(level)
    return written


def _tlb(account: dict[str, Any], model: Machine) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if account["dtlb"]:
        levels = account["dtlb"]
        return tuple(one["entries"] for one in levels), tuple(f"CPUID leaf {one['leaf']}, pages of 4 KiB" for one in levels)
    entries = tuple(level["entries"] for level in model.plain["dtlb"]["levels"])
    return entries, (f"assumed: as in {model.name}",) * len(entries)


def _clock(account: dict[str, Any], cpu: Path) -> tuple[int, str]:
    """Take the measured clock where its measurement is right, since it is the one that measured times belong to."""
    highest = highest_clock_hz(cpu)
    said = f"; {cpu}/cpufreq/cpuinfo_max_freq says {highest / _MEGAHERTZ:.0f} MHz" if highest else ""
    if account["vendor"] or highest is None:
        return round(account["clock_hz"]), f"measured by a loop of dependent one-cycle instructions{said}"
    return highest, f"{cpu}/cpufreq/cpuinfo_max_freq"


def _doubts(account: dict[str, Any], core: CoreModel) -> list[str]:
    notes = []
    if not account["vendor"]:
        notes.append(f"no CPUID on {platform.machine()}: clock, TLB entries and core need a look")
    if account["virtual_machine"]:
        notes.append("this is a virtual machine: sizes are what it says, latencies include its page tables and its neighbours")
    if huge_pages() == "always":
        notes.append("memory gets huge pages here: the page walk was measured with them; write `never` to transparent_hugepage/enabled")
    if "stands in" in core.reason:
        notes.append(f"{core.reason}: give width, reorder buffer and units of your core for better results")
    return notes


@dataclass(frozen=True)
class _Latency:
    """A measured time as the machine file has it."""

    written: str
    cycles: int
    raised: str = ""
    """What its source says of it, if it is not what was measured."""


def _at_least(least: int, measured: Measured, clock_hz: int) -> _Latency:
    """Write a measured time down, or ``least`` cycles where a busy computer measured less than these."""
    try:
        cycles = to_cycles(_time(measured), clock_hz)
    except ValueError:
        # It rounds to nothing, which is a mistake in a user's file, and here a computer with other work.
        cycles = 0
    if cycles >= least:
        return _Latency(_time(measured), cycles)
    return _Latency(f"{least}cycles", least, f"; raised to {least} {'cycle' if least == 1 else 'cycles'}, the least there can be")


def _time(measured: Measured) -> str:
    return f"{measured.ns:.2f}ns"


def _source(measured: Measured, timings: Timings) -> str:
    return f"measured by {measured.how} on {timings.date}; median of {RUNS}, range {measured.least:.2f} to {measured.most:.2f} ns"
