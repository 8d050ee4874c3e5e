"""The gem5 script of a machine: a core that replays an elastic trace, classic caches, and a memory of fixed latency."""

from pathlib import Path
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.memories import only_memory

_CROSSBAR_CYCLES = 1
"""What a crossbar adds to an answer; requests pass at once. With 0, the crossbar's queue would send the answer a tick after the
clock edge, and the cache above would wait for the next edge."""
_RESPONSE_CYCLES = 1
"""What a cache adds to a line on its way up; with 0, likewise."""
_QUEUE = 4096
"""Entries of the queues that memwalk does not limit: targets of a miss, write-backs on their way."""
_CACHES = {"replacement": "lru", "inclusion": "non-inclusive", "write_policy": "write-back", "write_allocate": True}
"""What a level of the script is, where a machine's could be something else."""
_PROGRESS_INSTRUCTIONS = 1_000_000
"""Instructions between two lines of progress."""

_HEAD = '''\
"""gem5 script of the machine {name}: replays an elastic trace on classic caches. Written by memwalk."""

import m5
from m5.objects import (
    AddrRange,
    Cache,
    L2XBar,
    LRURP,
    Root,
    SimpleMemory,
    SnoopFilter,
    SrcClockDomain,
    System,
    SystemXBar,
    TraceCPU,
    VoltageDomain,
)
from m5.params import MaxAddr

everywhere = AddrRange(0, MaxAddr)
system = System(mem_mode="timing", cache_line_size={line_bytes}, mem_ranges=[everywhere])
system.clk_domain = SrcClockDomain(clock="{period}ps", voltage_domain=VoltageDomain())
system.cpu = TraceCPU(
    dataTraceFile={data!r},
    instTraceFile={fetches!r},
    sizeROB={reorder_buffer},
    sizeLoadBuffer={reorder_buffer},
    sizeStoreBuffer={store_buffer},
    progressMsgInterval={progress},
)
'''

_CACHE = """
# {name}; cycles from load to use, all levels before it included: {latency_cycles}.
system.{attribute} = Cache(
    size="{size_bytes}B",
    assoc={ways},
    tag_latency={own_cycles},
    data_latency={own_cycles},
    response_latency={response},
    mshrs={mshrs},
    tgts_per_mshr={queue},
    write_buffers={queue},
    replacement_policy=LRURP(),
)
"""

_CROSSBAR = """
system.{attribute} = {kind}(
    width={line_bytes},
    frontend_latency=0,
    forward_latency=0,
    response_latency={crossbar},
    snoop_response_latency=0,
    snoop_filter=SnoopFilter(lookup_latency=0),
)
"""

_FETCHES = """
# memwalk has no instruction cache: one that holds the loop of fetches that TraceCPU asks for.
system.icache = Cache(
    size="32KiB",
    assoc=8,
    tag_latency=1,
    data_latency=1,
    response_latency={response},
    mshrs=4,
    tgts_per_mshr={queue},
    is_read_only=True,
)
system.cpu.icache_port = system.icache.cpu_side
system.cpu.dcache_port = system.cache0.cpu_side
"""

_MEMORY = """
system.memory = SimpleMemory(range=everywhere, null=True, latency="{latency}ps", bandwidth="{bandwidth}B/s")
system.memory.port = system.membus.mem_side_ports
system.system_port = system.membus.cpu_side_ports

root = Root(full_system=False, system=system)
m5.instantiate()
print("memwalk: end:", m5.simulate().getCause())
"""


def gem5_script(machine: dict[str, Any], data: Path, fetches: Path) -> str:
    """Write the script for a machine (as the simulator takes it) and the two files of an elastic trace.

    Raises UserError for a machine that gem5's TraceCPU and classic caches cannot be.
    """
    _check(machine)
    caches, core, memory = machine["caches"], machine["core"], only_memory(machine, "the gem5 engine")
    period = native.gem5_period_ticks(machine["clock_hz"])
    line_bytes = caches[0]["line_bytes"]
    common = {"line_bytes": line_bytes, "queue": _QUEUE, "response": _RESPONSE_CYCLES, "crossbar": _CROSSBAR_CYCLES}
    text = _HEAD.format(
        name=machine["name"],
        period=period,
        data=str(data),
        fetches=str(fetches),
        reorder_buffer=core["reorder_buffer"],
        store_buffer=core["store_buffer_entries"],
        progress=_PROGRESS_INSTRUCTIONS,
        **common,
    )
    above = 0
    for level, cache in enumerate(caches):
        own = _own_cycles(cache["latency_cycles"], above)
        mshrs = caches[0]["mshrs"]
        text += _CACHE.format(**(cache | common | {"attribute": f"cache{level}", "own_cycles": own, "mshrs": mshrs}))
        above = cache["latency_cycles"]
    text += _FETCHES.format(**common)
    for level in range(1, len(caches)):
        text += _CROSSBAR.format(attribute=f"bus{level}", kind="L2XBar", **common)
        text += f"system.bus{level}.mem_side_ports = system.cache{level}.cpu_side\n"
    text += _CROSSBAR.format(attribute="membus", kind="SystemXBar", **common)
    buses = [f"bus{level}" for level in range(1, len(caches))] + ["membus"]
    uppers = [f"cache{level}" for level in range(len(caches))]
    for upper, bus in [("icache", buses[0]), *zip(uppers, buses, strict=True)]:
        text += f"system.{upper}.mem_side = system.{bus}.cpu_side_ports\n"
    text += _MEMORY.format(
        latency=_own_cycles(memory["latency_cycles"], above) * period,
        bandwidth=_bandwidth(memory["interval_cycles"] * period, line_bytes),
    )
    return text


def _own_cycles(latency_cycles: int, above: int) -> int:
    """Return what is left for a level itself of its load-to-use latency."""
    way = _CROSSBAR_CYCLES + _RESPONSE_CYCLES if above else 0
    return latency_cycles - above - way


def _bandwidth(interval: int, line_bytes: int) -> int:
    """Return the bytes per second of a line every ``interval`` picoseconds; gem5 counts in whole picoseconds per byte."""
    return 10**12 // max(round(interval / line_bytes), 1)


def _check(machine: dict[str, Any]) -> None:
    name, caches = machine["name"], machine["caches"]
    lines = sorted({cache["line_bytes"] for cache in caches})
    if machine["core"]["kind"] != "out-of-order":
        raise UserError(f"machine {name}: core.kind is {machine['core']['kind']}; gem5's TraceCPU is an out-of-order core")
    if len(lines) > 1:
        raise UserError(f"machine {name}: cache lines of {lines[0]} and {lines[-1]} bytes; gem5's classic caches have one line size")
    memory = only_memory(machine, "the gem5 engine")
    if memory["model"] != "fixed":
        raise UserError(f"machine {name}: memory.model is {memory['model']}; the gem5 engine takes `fixed`")
    if not memory["write_backs_use_bus"]:
        raise UserError(f"machine {name}: memory.write_backs_use_bus is false; gem5's memory has one bandwidth for fills and write-backs")
    _check_latencies(name, {cache["name"]: cache["latency_cycles"] for cache in caches} | {"memory": memory["latency_cycles"]})
    for cache in caches:
        for key, taken in _CACHES.items():
            found = cache.get(key, taken)
            if found != taken:
                what = f"{key} {found}; the gem5 engine takes `{taken}`".lower()
                raise UserError(f"machine {name}: cache {cache['name']} has {what}")
        sets = cache["size_bytes"] // (cache["ways"] * cache["line_bytes"])
        if sets & (sets - 1):
            raise UserError(f"machine {name}: cache {cache['name']} has {sets} sets; gem5's caches have a power of two")
        if cache.get("prefetchers"):
            raise UserError(f"machine {name}: cache {cache['name']} has hardware prefetchers; the gem5 engine has none")
    if machine.get("interference"):
        raise UserError(f"machine {name}: interference empties its caches; nobody disturbs gem5's")


def _check_latencies(name: str, latencies: dict[str, int]) -> None:
    """Raise UserError if a level has less than a cycle for itself; ``latencies`` are from load to use, by level."""
    above = 0
    for level, cycles in latencies.items():
        if _own_cycles(cycles, above) < 1:
            least = cycles + 1 - _own_cycles(cycles, above)
            what = f"{level} has latency_cycles {cycles}; gem5's takes {least} at least, behind a level of {above}"
            raise UserError(f"machine {name}: {what}")
        above = cycles
