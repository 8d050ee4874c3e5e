"""The machine file as pydantic models: the keys of ``simcore/src/spec.rs``, with units and sources."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from memwalk.simcore.dbms_schema import Dbms
from memwalk.simcore.dram import DramConfig
from memwalk.simcore.section import Section
from memwalk.simcore.units import Bytes, Bytes32, Count32, Cycles32, Hertz, PositiveCount32
from memwalk.simcore.yaml_source import Route


class Gshare(Section):
    """Two-bit counters indexed by site exclusive-or global history."""

    kind: Literal["gshare"]
    history_bits: Count32
    counters: PositiveCount32


class Bimodal(Section):
    """Two-bit counters indexed by site."""

    kind: Literal["bimodal"]
    counters: PositiveCount32


class Perfect(Section):
    """Never wrong."""

    kind: Literal["perfect"]


class Core(Section):
    """The processor pipeline."""

    kind: Literal["out-of-order", "in-order"]
    issue_width: PositiveCount32
    reorder_buffer: PositiveCount32 | None = None
    integer_units: PositiveCount32
    memory_ports: PositiveCount32
    branch_units: PositiveCount32
    multiply_latency_cycles: Cycles32
    divide_latency_cycles: Cycles32
    mispredict_penalty_cycles: Cycles32
    branch_predictor: Annotated[Gshare | Bimodal | Perfect, Field(discriminator="kind")]
    store_buffer_entries: Count32


Replacement = Literal["lru", "tree-plru", "nru", "fifo", "random", "srrip"]
"""Which line of a set makes room; docs/machine-features.md says what each does."""


class NextLine(Section):
    """A miss, and the first use of a prefetched line, fetch the lines right behind."""

    kind: Literal["next-line"]
    degree: PositiveCount32


class Stride(Section):
    """Constant strides, found by instruction site."""

    kind: Literal["stride"]
    table_entries: PositiveCount32
    degree: PositiveCount32


class Stream(Section):
    """Two misses in one direction start a stream that runs ahead of its use."""

    kind: Literal["stream"]
    streams: PositiveCount32
    degree: PositiveCount32
    distance_lines: PositiveCount32


Prefetcher = Annotated[NextLine | Stride | Stream, Field(discriminator="kind")]


class Cache(Section):
    """One level of data cache. Keys left out take the simulator's defaults."""

    name: str
    size_bytes: Bytes
    line_bytes: Bytes
    ways: PositiveCount32
    latency_cycles: Cycles32
    replacement: Replacement
    mshrs: PositiveCount32 | None = None
    inclusion: Literal["non-inclusive", "inclusive", "exclusive"] | None = Field(None, description="Default: non-inclusive")
    write_policy: Literal["write-back", "write-through"] | None = Field(None, description="Default: write-back")
    write_allocate: StrictBool | None = Field(None, description="Default: true")
    prefetchers: list[Prefetcher] | None = Field(None, description="Hardware prefetchers into this level; default: none")
    shared: StrictBool | None = Field(None, description="Whether all cores share the level and those behind it; default: false")


class InstructionCache(Section):
    """First-level instruction cache; its misses go to the second data cache."""

    size_bytes: Bytes
    line_bytes: Bytes
    ways: PositiveCount32
    replacement: Replacement
    next_line_prefetch: StrictBool | None = Field(
        None, description="Whether code is prefetched a line ahead, if the second level holds it; default: false"
    )


class TlbLevel(Section):
    """One level of the data TLB."""

    entries: PositiveCount32
    ways: PositiveCount32 | None = Field(None, description="Entries of a set; default: all, which is full associativity")
    huge_entries: Count32 | None = Field(None, description="Entries that only huge pages have; default: they share `entries`")
    huge_ways: PositiveCount32 | None = Field(None, description="Entries of a set of `huge_entries`; default: all")
    latency_cycles: Cycles32


class PageTable(Section):
    """A radix page table that walks read through the caches, besides the walk's fixed latency."""

    levels: PositiveCount32 = Field(description="Reads of a walk to the smallest pages; a walk to larger ones ends earlier")
    entry_bytes: Bytes32
    node_bytes: Bytes | None = Field(None, description="Size of a node, and of the smallest pages of the table; default: page_bytes")
    walk_cache_entries: Count32
    first_cache: str = Field(description="Name of the cache that the walker reads first")


class Tlb(Section):
    """Data TLB."""

    page_bytes: Bytes
    huge_page_bytes: Bytes | None = Field(None, description="Size of a huge page; default: there are none")
    huge_pages: Literal["none", "all"] | list[str] | None = Field(
        None, description="What lies in huge pages: none, all, or names of segments, with * for any text; default: none"
    )
    levels: list[TlbLevel]
    walk_latency_cycles: Cycles32
    page_table: PageTable | None = Field(None, description="Default: walks take walk_latency_cycles and read no cache")
    walker: Literal["blocking", "parallel"]
    prefetch_on_miss: Literal["walk", "drop"]


class FixedMemory(Section):
    """Every line takes the same time, and the bus starts one line per interval."""

    model: Literal["fixed"]
    latency_cycles: Cycles32
    interval_cycles: Cycles32
    write_backs_use_bus: StrictBool


class Dramsim3Memory(Section):
    """Banks, rows and buses, simulated by DRAMSim3."""

    model: Literal["dramsim3"]
    config: DramConfig = Field(description="An ini file for DRAMSim3: one of ours, or one beside the machine file")
    path_latency_cycles: Cycles32
    write_backs: StrictBool


class MachineFile(Section):
    """A machine file. Every number in it needs a source."""

    schema_version: Literal[1] = Field(exclude=True)
    description: str = Field("", exclude=True)
    extends: str | None = Field(None, exclude=True, description="A machine that this one is laid over")
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    clock_hz: Hertz
    cores: PositiveCount32 | None = Field(None, description="Cores, each running a trace of its own; default: 1")
    core: Core
    caches: list[Cache]
    instruction_cache: InstructionCache | None = Field(None, description="Default: none, and no instruction fetches")
    dtlb: Tlb
    memory: Annotated[FixedMemory | Dramsim3Memory, Field(discriminator="model")]
    dbms: Dbms | None = Field(None, description="The host DBMS, mostly a file of its own (--dbms); default: none, and no calls")

    def native(self) -> dict[str, Any]:
        """Return the machine as the simulator takes it: plain integers, no sources, nothing absent."""
        return self.model_dump(exclude_none=True)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of machine files. One that extends another may leave anything out but has no other keys."""
    whole = MachineFile.model_json_schema()
    definitions = whole.pop("$defs")
    part = {"properties": dict.fromkeys(whole["properties"], True), "additionalProperties": False}
    return {"$defs": definitions, "title": whole["title"], "if": {"required": ["extends"]}, "then": part, "else": whole}


def numbers(data: Any, route: Route = ()) -> Iterator[Route]:
    """Yield the route of every number in a native machine."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from numbers(value, (*route, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from numbers(value, (*route, index))
    elif isinstance(data, int) and not isinstance(data, bool):
        yield route
