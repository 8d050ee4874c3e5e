"""What the user sets and no run depends on is refused by name; what some row depends on is not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from files import EXPERIMENT, MACHINE, memwalk, write_experiment
from pydantic import TypeAdapter
from small_experiments import CHASE, NEXT, SCAN, experiment, rows

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.resolve import ADAPTER
from memwalk.analysis.experiments.rules import RULES
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.storage import StorageSetting
from memwalk.analysis.storage_workloads import list_kernels, processing_kernels
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.machine_schema import MachineFile
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.disk import DiskFile
from memwalk.simcore.storage.ssd import SsdFile
from memwalk.simcore.storage.system import System

POINT = "kernel: table, operation: point, layout: nsm, records: 1000"
STORE = "kernel: table, operation: scan, layout: super-row, records: 1000"
PROBE = "kernel: hash-probe, build_tuples: 1000, probe_tuples: 1000, interleaving: %s"
ARRAY = "kernel: pointer-array, lines: 100, distance_lines: %d"
PENALTY = "machine.core.mispredict_penalty_cycles"
COUNTERS = "machine.core.branch_predictor.counters"
HISTORY = "machine.core.branch_predictor.history_bits"
Q6 = "kernel: tpch, query: q6, layout: nsm, scale_factor: 0.001"
Q14 = Q6.replace("q6", "q14")
LOAD = Q6.replace("q6", "load")
JUMPS = (
    "kernel: index, keys: 100, operations: 1, tree: {kind: b+, prefetch: true, jump_pointers: internal, distance_nodes: 5}, operation: %s"
)
STREAM = "[{kind: stream, streams: 8, degree: %d, distance_lines: 4}]"
STREAMS = "machine.caches.L1.prefetchers.0.distance_lines"
DEGREE = STREAMS.replace("distance_lines", "degree")
SPACE = "kernel: layout-space, layout: nsm, table: r, data: {kind: uniform, records: 2000}"
RECORDS = SPACE.replace("layout-space", "layout-point")
MOVES = "kernel: disk-index, keys: 1000, operations: 1, upward_moves: through-buffer, operation: %s"
INDEX = "kernel: disk-index, operation: scan, structure: array, keys: 1000, operations: 1, range: 500, pool_frames: 32"
STRINGS = "kernel: string-index, operation: search, structure: %s, keys: 1000, operations: 10"
SMALL = "machine: ./small.yaml\n"
CORE = (
    "{kind: in-order, issue_width: 2, integer_units: 1, memory_ports: 1, branch_units: 1, multiply_latency_cycles: 4cycles, "
    "divide_latency_cycles: 9cycles, mispredict_penalty_cycles: 5cycles, branch_predictor: {kind: perfect}, store_buffer_entries: 4}"
)
WALKED = "{levels: 1, entry_bytes: 8B, walk_cache_entries: 4, first_cache: L2}"
REQUESTS = "kernel: requests, count: 10"
CLOTHO = "kernel: clotho-scan, layout: nsm, records: 1000"
TPCH_POSITION = "kernel: clotho-tpch, layout: dsm, scale_factor: 0.01, query: q6, reconstruction: position"
JOIN = "kernel: hash-join, algorithm: grace, build_tuples: 1000, probe_tuples: 1000"
POSITION = "kernel: clotho-scan, layout: dsm, records: 1000, reconstruction: position"
ATLAS = "storage: {device: atlas-10k%s}\n"
SPANNING = "kernel: requests, count: 10, blocks: 1000"
DISK = ", parameters: {%s}"
EXCHANGE = "machine.core.exchange={further_cycles: 1cycle, alone: true}"
WRITES = SPANNING + ", write_share: 1"
READ_HIT = "storage.parameters.overhead.read_hit={after_read: 1ms, after_write: 1ms}"
STRIPES = ", volume: striped, stripe_blocks: 64"


def on_storage(workload: str, storage: str) -> str:
    return experiment(workload, storage).replace(SMALL, "")


@pytest.mark.parametrize(
    ("text", "sets", "refused"),
    [
        (EXPERIMENT, ("machine.cores=8",), "machine.cores"),
        (EXPERIMENT, ("machine.cores=[1, 8]",), "machine.cores"),
        (EXPERIMENT, ("machine.caches.L2.shared=true",), "machine.caches.L2.shared"),
        (EXPERIMENT, ("machine.caches.1.shared=false",), "machine.caches.1.shared"),
        (
            EXPERIMENT,
            ("machine.instruction_cache={size_bytes: 4KiB, line_bytes: 64B, ways: 2, replacement: lru}",),
            "machine.instruction_cache",
        ),
        (EXPERIMENT, ("dbms=shore-pentium2", "machine.clock_hz=400MHz"), "dbms"),
        (EXPERIMENT + ATLAS % "", (), "storage"),
        (EXPERIMENT, ("storage=atlas-10k",), "storage"),
        (EXPERIMENT.replace("machine:", "dbms: shore-pentium4\nmachine:"), (), "dbms"),
        (experiment(SCAN, ATLAS % ", depth: 8"), (), "storage.depth"),
        (experiment(SCAN, ATLAS % ", step: write"), (), "storage.step"),
        (experiment(SCAN, ATLAS % ", stripe_blocks: 64"), (), "storage.stripe_blocks"),
        (experiment(SCAN, ATLAS % ", queue: sptf"), (), "storage.queue"),
        (experiment(SCAN, ATLAS % ", disks: 2, volume: striped, stripe_blocks: 3, queue: sptf"), (), "storage.queue"),
        (experiment(Q14, ATLAS % ", queue: sptf"), (), "storage.queue"),
        (experiment(Q14, ATLAS % ", write_batch: 4"), (), "storage.write_batch"),
        (experiment(JOIN + ", output: stored", ATLAS % ", read_pages: 4"), (), "storage.read_pages"),
        (experiment(Q14, ATLAS % (DISK % "write_settle: 1ms")), (), "storage.parameters.write_settle"),
        (on_storage(CLOTHO, ATLAS % (DISK % "write_segments: 1")), (), "storage.parameters.write_segments"),
        (on_storage(RECORDS, ATLAS % (DISK % "write_segments: 1")), (), "storage.parameters.write_segments"),
        (experiment(JOIN + ", output: stored", ATLAS % (DISK % "read_ahead_blocks: 0")), (), "storage.parameters.read_ahead_blocks"),
        (on_storage(SPANNING + ", write_share: 1", ATLAS % (DISK % "leaves_read_ahead: true")), (), "storage.parameters.leaves_read_ahead"),
        (
            on_storage(SPANNING, ATLAS % (DISK % "read_ahead_blocks: 0, leaves_read_ahead: true")),
            (),
            "storage.parameters.leaves_read_ahead",
        ),
        (on_storage(SPANNING, ATLAS % ", disks: 2, volume: striped, stripe_blocks: 8, queue: sptf"), (), "storage.queue"),
        (on_storage("kernel: interleaved-read", ATLAS % ", disks: 3, volume: striped, queue: c-look"), (), "storage.queue"),
        (on_storage(SPANNING + ", span_blocks: 5000", ATLAS % STRIPES), (), "storage.stripe_blocks"),
        (on_storage("kernel: interleaved-read", ATLAS % STRIPES), (), "storage.stripe_blocks"),
        (experiment(SCAN, ATLAS % STRIPES), (), "storage.stripe_blocks"),
        (experiment(SCAN, ATLAS % ", prefetchers: 4"), (), "storage.prefetchers"),
        (experiment(SCAN, ATLAS % ", write_batch: 4"), (), "storage.write_batch"),
        (experiment(INDEX, ATLAS % ", write_batch: 4"), (), "storage.write_batch"),
        (experiment(INDEX, ATLAS % ", prefetchers: 4"), (), "storage.prefetchers"),
        (experiment(SCAN + ", point_queries: 5"), (), "workload.point_queries"),
        (experiment(SCAN + ", prefetch_bytes: 1MiB"), (), "workload.prefetch_bytes"),
        (experiment(POINT + ", predicates: 2"), (), "workload.predicates"),
        (experiment(POINT + ", first_predicate: 2"), (), "workload.first_predicate"),
        (experiment(POINT, "grid: {workload.selectivity: [0.1, 0.5]}\n"), (), "workload.selectivity"),
        (experiment(POINT + ", aggregate: false"), (), "workload.aggregate"),
        (experiment(STORE + ", aggregate: false"), (), "workload.aggregate"),
        (experiment(STORE, "variants: {a: {workload.selectivity: 0.5}, b: {}}\n"), (), "workload.selectivity"),
        (experiment(Q6 + ", threshold: 0.5"), (), "workload.threshold"),
        (experiment(Q6 + ", heap_bytes: 1MiB"), (), "workload.heap_bytes"),
        (experiment(CHASE + ", pages: 9"), (), "workload.pages"),
        (experiment(SCAN + ", reconstruction: index"), (), "workload.reconstruction"),
        (experiment(SCAN + ", abstraction: []"), (), "workload.abstraction"),
        (experiment(SCAN, "variants: {a: {workload.level_attributes: []}, b: {}}\n"), (), "workload.level_attributes"),
        (experiment(REQUESTS, ATLAS % "" + "grid: {machine: [zen4-server, alpha-21164]}\n").replace(SMALL, ""), (), "machine"),
        (experiment(REQUESTS, ATLAS % "").replace(SMALL, ""), ("machine=zen4-server",), "machine"),
        (experiment(REQUESTS, ATLAS % ""), (), "machine"),
        (experiment(f"kernel: together, programs: {{a: {{{REQUESTS}}}, b: {{{REQUESTS}}}}}", ATLAS % ""), (), "machine"),
        (
            experiment(CLOTHO, ATLAS % "" + f"variants: {{a: {{workload: {{{REQUESTS}}}, machine.clock_hz: 1GHz}}, b: {{}}}}\n"),
            (),
            "machine.clock_hz",
        ),
        (experiment(SCAN), ("machine.core.exchange={further_cycles: 5cycles, alone: true}",), "machine.core.exchange"),
        (
            experiment("kernel: parallel-join, algorithm: radix, build_tuples: 100, probe_tuples: 100, threads: 2").replace(
                "./small.yaml", "zen4-server"
            ),
            ("machine.coherence.protocol=mesi",),
            "machine.coherence.protocol",
        ),
        (experiment(CHASE), ("machine.core.multiply_latency_cycles=9cycles",), "machine.core.multiply_latency_cycles"),
        (experiment(Q14), ("machine.core.divide_latency_cycles=9cycles",), "machine.core.divide_latency_cycles"),
        (experiment(LOAD), ("machine.core.multiply_latency_cycles=9cycles",), "machine.core.multiply_latency_cycles"),
        (experiment(JOIN), ("machine.core.multiply_latency_cycles=9cycles",), "machine.core.multiply_latency_cycles"),
        (
            experiment(JOIN.replace("grace", "sort-merge")),
            ("machine.core.divide_latency_cycles=9cycles",),
            "machine.core.divide_latency_cycles",
        ),
        (experiment(CHASE), ("machine.core.store_buffer_entries=1",), "machine.core.store_buffer_entries"),
        (experiment(CHASE), ("machine.caches.L1.write_allocate=false",), "machine.caches.L1.write_allocate"),
        (experiment(CHASE), ("machine.memory.write_backs_use_bus=false",), "machine.memory.write_backs_use_bus"),
        (on_storage(WRITES, ATLAS % ""), ("storage.parameters.segments=4",), "storage.parameters.segments"),
        (experiment(POSITION, ATLAS % "" + "dbms: shore-pentium2\n"), (EXCHANGE,), "machine.core.exchange"),
        (experiment(Q6, ATLAS % "" + f"dbms: compiled\nbeside: {{scan: {{{CLOTHO}}}}}\n"), (EXCHANGE,), "machine.core.exchange"),
        (on_storage(WRITES, ATLAS % ""), (READ_HIT,), "storage.parameters.overhead.read_hit"),
        (on_storage(SPANNING, ATLAS % ""), (READ_HIT.replace("read_hit", "write_miss"),), "storage.parameters.overhead.write_miss"),
        (on_storage(SPACE, "storage: nvme-ssd\n"), ("storage.parameters.page_read=9us",), "storage.parameters.page_read"),
        (on_storage(SPACE, "storage: nvme-ssd\n"), ("storage.parameters.dies=2",), "storage.parameters.dies"),
        (on_storage(SPACE, "storage: {device: nvme-ssd, volume: striped}\n"), (), "storage.volume"),
        (on_storage(SPACE, "storage: {device: nvme-ssd, queue: sptf}\n"), (), "storage.queue"),
        (on_storage(SPACE, "storage: {device: cheetah-36es, parameters: {write_settle: 1ms}}\n"), (), "storage.parameters"),
        (EXPERIMENT, ("machine.core.store_buffer_entries=1",), "machine.core.store_buffer_entries"),
        (experiment(JUMPS % "search"), (), "workload.tree.distance_nodes"),
        (experiment(MOVES % "insert, structure: slotted"), (), "workload.upward_moves"),
        (experiment(MOVES % "delete, structure: array"), (), "workload.upward_moves"),
        (experiment(MOVES % "delete, structure: micro-index, subarray_lines: 4"), (), "workload.upward_moves"),
        (
            experiment(MOVES.replace("upward_moves: through-buffer", "copy_call: 9") % "delete, structure: slotted"),
            (),
            "workload.copy_call",
        ),
        (experiment(JOIN + ", false_positives: 0.1"), (), "workload.false_positives"),
        (experiment(JOIN + ", matched_keys: all"), (), "workload.matched_keys"),
        (experiment(JOIN.replace("grace", "inspector") + ", matched_keys: all, match_share: 0"), (), "workload.matched_keys"),
        (
            experiment(SCAN, "variants: {a: {machine.core.branch_predictor: {kind: perfect}}}\n"),
            ("machine.core.mispredict_penalty_cycles=9cycles",),
            "machine.core.mispredict_penalty_cycles",
        ),
        (experiment(CHASE), (f"{PENALTY}=9cycles",), PENALTY),
        (experiment(CHASE), (f"{COUNTERS}=512",), COUNTERS),
        (experiment(CHASE), (f"{HISTORY}=1",), HISTORY),
        (experiment(ARRAY % 0), (f"{PENALTY}=9cycles",), PENALTY),
        (experiment(PROBE % "one-by-one, keys: dense, bucket_tuples: 1"), (f"{PENALTY}=9cycles",), PENALTY),
        (
            experiment(CHASE),
            (f"machine.dtlb.page_table={WALKED}", "machine.dtlb.page_table.walk_cache_entries=9"),
            "machine.dtlb.page_table.walk_cache_entries",
        ),
        (experiment(CLOTHO + ", seed: 2", ATLAS % ""), (), "workload.seed"),
        (experiment(POSITION, ATLAS % "").replace(SMALL, ""), (), "workload.reconstruction"),
        (on_storage(POSITION.replace("scan", "insert"), ATLAS % ""), (), "workload.reconstruction"),
        (experiment(TPCH_POSITION, ATLAS % "").replace(SMALL, ""), (), "workload.reconstruction"),
        (
            experiment("kernel: clotho-tpch, layout: nsm, query: q6, sample_scale_factor: 0.01", ATLAS % "").replace(SMALL, ""),
            (),
            "workload.sample_scale_factor",
        ),
        (
            experiment(
                "kernel: layout-update, layout: nsm, table: r, data: {kind: uniform, records: 2000}, operation: lookup, read_first: true",
                ATLAS % "",
            ).replace(SMALL, ""),
            (),
            "workload.read_first",
        ),
        (experiment(CHASE).replace("./small.yaml", "zen4-server"), ("machine.dtlb.huge_page_bytes=1GiB",), "machine.dtlb.huge_page_bytes"),
        (
            experiment(CHASE, "grid: {machine.dtlb.levels.0.huge_entries: [1, 32]}\n").replace("./small.yaml", "zen4-server"),
            (),
            "machine.dtlb.levels.0.huge_entries",
        ),
        (
            experiment(CHASE, "variants: {a: {machine.dtlb.levels.0.huge_ways: 2}}\n").replace("./small.yaml", "xeon-silver-4110"),
            (),
            "machine.dtlb.levels.0.huge_ways",
        ),
    ],
)
def test_what_has_no_effect_is_refused_by_name_and_place(tmp_path: Path, text: str, sets: tuple[str, ...], refused: str) -> None:
    with pytest.raises(UserError, match="has no effect on this run: it is for") as error:
        rows(tmp_path, text, *sets)
    for line in str(error.value).splitlines():
        assert f": {refused} has no effect" in line
        assert line.startswith("--set" if sets else str(tmp_path))


FLASH = "storage: {device: nvme-ssd, parameters: {%s}}\n"
PROGRAMMING = ("page_program: 3ms", "write_buffer: 1MiB", "erase: 9ms", "erase_pages: 8")
READING = (
    on_storage(SPANNING, FLASH),
    on_storage(SPANNING + ", write_share: 0", FLASH),
    on_storage("kernel: interleaved-read", FLASH),
    on_storage(CLOTHO, FLASH),
    on_storage(CLOTHO.replace("scan", "point"), FLASH),
    on_storage(TPCH_POSITION.replace("position", "merge"), FLASH),
    on_storage(f"kernel: together, programs: {{a: {{{REQUESTS}}}, b: {{{CLOTHO}}}}}", FLASH),
    experiment(SCAN, FLASH),
    experiment(Q14, FLASH),
    experiment(JOIN + ", pages_asked_ahead: 8", FLASH),
)
UPDATES = "kernel: layout-update, layout: nsm, table: r, data: {kind: uniform, records: 2000}, operation: %s"
WRITING = (
    on_storage(SPANNING + ", write_share: 1", FLASH),
    on_storage(CLOTHO.replace("scan", "insert"), FLASH),
    on_storage(UPDATES % "insert", FLASH),
    experiment(JOIN + ", output: stored", FLASH),
)
BOTH = (
    on_storage(SPANNING + ", write_share: 0.5", FLASH),
    on_storage(UPDATES % "modify, read_first: true", FLASH),
    on_storage(f"kernel: together, programs: {{a: {{{REQUESTS}}}, b: {{{REQUESTS}, write_share: 1}}}}", FLASH),
    experiment(INDEX.replace("scan", "insert").replace(", range: 500", ""), FLASH),
    experiment(Q14.replace("q14", "rs"), FLASH),
    experiment(LOAD, FLASH),
)


@pytest.mark.parametrize(
    ("text", "parameter"),
    [(one, parameter) for one in READING for parameter in PROGRAMMING] + [(one, "page_read: 9us") for one in WRITING],
)
def test_flash_that_only_reads_does_not_program_and_the_other_way_round(tmp_path: Path, text: str, parameter: str) -> None:
    refused = f"storage.parameters.{parameter.partition(':')[0]} has no effect on this run: it is for"
    with pytest.raises(UserError, match=refused):
        rows(tmp_path, text % parameter)


@pytest.mark.parametrize("text", BOTH)
def test_flash_that_reads_and_writes_does_all_that_it_can(tmp_path: Path, text: str) -> None:
    assert rows(tmp_path, text % ", ".join(("page_read: 9us", *PROGRAMMING)))


@pytest.mark.parametrize(("text", "parameter"), [(one, PROGRAMMING[0]) for one in WRITING] + [(one, "page_read: 9us") for one in READING])
def test_flash_does_what_it_is_asked_for(tmp_path: Path, text: str, parameter: str) -> None:
    assert rows(tmp_path, text % parameter)


PREFETCHING = "kernel: index, operation: search, keys: 1000, operations: 9, tree: {kind: b+, node_lines: 4, prefetch: %s}"


def test_of_requests_that_come_one_at_a_time_flash_takes_one(tmp_path: Path) -> None:
    for text in (on_storage(SPANNING, FLASH), experiment(SCAN, FLASH)):
        with pytest.raises(UserError, match=r"storage\.parameters\.queue_depth has no effect on this run: it is for requests that wait"):
            rows(tmp_path, text % "queue_depth: 4")
    assert rows(tmp_path, on_storage(SPANNING + ", in_flight: 2", FLASH) % "queue_depth: 4")


@pytest.mark.parametrize(
    "workload",
    [
        PREFETCHING % "false",
        CHASE,
        ARRAY % 0,
        PROBE % "one-by-one",
        JOIN,
        "kernel: parallel-join, algorithm: radix, build_tuples: 100, probe_tuples: 100",
        SCAN,
        Q6,
        INDEX,
        INDEX.replace("array", "slotted"),
        STRINGS % "slotted",
        STRINGS % "prefix-array, prefix_bytes: 4",
    ],
)
def test_prefetches_that_no_workload_makes_miss_no_tlb(tmp_path: Path, workload: str) -> None:
    with pytest.raises(UserError, match=r"machine\.dtlb\.prefetch_on_miss has no effect on this run: it is for workloads that prefetch"):
        rows(tmp_path, experiment(workload), "machine.dtlb.prefetch_on_miss=drop")


@pytest.mark.parametrize(
    "workload",
    [
        PREFETCHING % "true",
        ARRAY % 1,
        PROBE % "amac",
        JOIN.replace("grace", "simple"),
        INDEX.replace("array", "micro-index, subarray_lines: 1"),
        STRINGS % "in-page-tree, node_lines: 4",
    ],
)
def test_those_that_some_may_make_do(tmp_path: Path, workload: str) -> None:
    assert rows(tmp_path, experiment(workload), "machine.dtlb.prefetch_on_miss=drop")


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (EXPERIMENT, ("machine.cores=1",)),
        (EXPERIMENT, ("machine.instruction_cache=null", "storage=null")),
        (experiment(SCAN, ATLAS % ", disks: 2, volume: striped, stripe_blocks: 64, bus: 160MB/s"), ()),
        (experiment(SCAN, ATLAS % ", disks: 2, volume: striped, stripe_blocks: 64, bus: 160MB/s"), ("storage=null",)),
        (on_storage(SPANNING + ", in_flight: 2", ATLAS % ", disks: 2, volume: striped, stripe_blocks: 8, queue: sptf"), ()),
        (on_storage(SPANNING, (ATLAS % ", disks: 2, volume: atropos, queue: sptf").replace("atlas-10k", "cheetah-36es")), ()),
        (on_storage(SPANNING, ATLAS % STRIPES), ()),
        (on_storage(CLOTHO, ATLAS % STRIPES), ()),
        (on_storage(f"kernel: together, programs: {{a: {{{REQUESTS}}}, b: {{{CLOTHO}}}}}", ATLAS % STRIPES), ()),
        (experiment(SCAN.replace("scan", "update"), ATLAS % ", queue: sptf"), ()),
        (experiment(LOAD, ATLAS % ", queue: sptf, write_batch: 4"), ()),
        (experiment(SCAN, ATLAS % ", bus: 160MB/s"), ()),
        (experiment(LOAD, ATLAS % (DISK % "write_settle: 1ms, write_segments: 1")), ()),
        (on_storage(CLOTHO + ", changes: true", ATLAS % (DISK % "write_settle: 1ms, write_segments: 1")), ()),
        (on_storage(CLOTHO.replace("scan", "point") + ", operation: update", ATLAS % (DISK % "write_settle: 1ms")), ()),
        (on_storage(RECORDS + ", operation: update", ATLAS % (DISK % "write_settle: 1ms")), ()),
        (on_storage(CLOTHO, ATLAS % (DISK % "read_ahead_blocks: 0")), ()),
        (on_storage(SPANNING, ATLAS % (DISK % "leaves_read_ahead: true")), ()),
        (on_storage(CLOTHO, ATLAS.replace("atlas-10k", "cheetah-36es") % (", disks: 2, volume: atropos" + DISK % "write_settle: 1ms")), ()),
        (experiment(JOIN + ", pages_asked_ahead: 8", ATLAS % ", queue: sptf, read_pages: 4, prefetchers: 2"), ()),
        (experiment(INDEX + ", distance_pages: 8", ATLAS % ", prefetchers: 4"), ()),
        (experiment(INDEX + ", distance_pages: 8", ATLAS % ", queue: sptf"), ()),
        (experiment(INDEX.replace("frames: 32", "frames: 64") + ", threads: 4", ATLAS % ", queue: sptf"), ("machine.cores=4",)),
        (experiment(SCAN, (ATLAS % ", volume: atropos, depth: 8, step: write").replace("atlas-10k", "cheetah-36es")), ()),
        (experiment(SCAN + ", predicates: 2, first_predicate: 2, selectivity: 0.5, aggregate: false"), ()),
        (experiment(POINT + ", point_queries: 5"), ()),
        (experiment(STORE + ", prefetch_bytes: 1MiB").replace("super-row", "super-column"), ()),
        (experiment(Q6.replace("nsm", "pax") + ", threshold: 0.5"), ()),
        (experiment(Q6.replace("q6", "q14") + ", heap_bytes: 1MiB"), ()),
        (experiment(Q14), ("machine.core.multiply_latency_cycles=9cycles",)),
        (experiment(JUMPS % "scan, range: 9"), ()),
        (experiment(JOIN), (f"machine.caches.L1.prefetchers={STREAM % 2}", f"{STREAMS}=8", "machine.caches.L1.write_policy=write-through")),
        (experiment(JOIN), (f"machine.caches.L1.prefetchers={STREAM % 1}", f"{DEGREE}=2", f"{STREAMS.replace('L1', '0')}=2")),
        (experiment(JOIN), (f"machine.caches.L1.prefetchers=[{NEXT}]", f"{DEGREE}=2")),
        (on_storage(SPACE, "storage: {device: nvme-ssd, parameters: {}}\n"), ()),
        (on_storage(WRITES, ATLAS % ""), (READ_HIT.replace("read_hit", "write_hit"),)),
        (on_storage(SPANNING, ATLAS % ""), (READ_HIT, "storage.parameters.segments=4")),
        (experiment(PROBE % "one-by-one, results: stored"), ("machine.core.store_buffer_entries=1",)),
        (
            experiment(CHASE, f"beside: {{join: {{{JOIN}, shares: machine}}}}\n"),
            ("machine.cores=2", "machine.core.divide_latency_cycles=9cycles"),
        ),
        (experiment(MOVES % "delete, structure: slotted"), ()),
        (experiment(MOVES % "insert, structure: micro-index, subarray_lines: 4"), ()),
        (experiment(MOVES.replace("moves: through-buffer", "moves: through-buffer, copy_call: 9") % "delete, structure: slotted"), ()),
        (experiment(MOVES.replace("upward_moves: through-buffer", "copy_call: 9") % "delete, structure: array"), ()),
        (experiment(JOIN + ", false_positives: 0.1, matched_keys: all, match_share: 0.5"), ()),
        (experiment(JOIN.replace("grace", "inspector") + ", false_positives: 0.1"), ()),
        (
            experiment(SCAN, "variants: {a: {machine.core.branch_predictor: {kind: perfect}}}\n").replace(
                "machine:", "dbms: shore-pentium2\nmachine:"
            ),
            ("machine.core.mispredict_penalty_cycles=9cycles",),
        ),
        (experiment(ARRAY % 1), (f"{PENALTY}=9cycles", f"{COUNTERS}=512", f"{HISTORY}=1")),
        (experiment(CHASE), ("machine.core.branch_predictor={kind: perfect}",)),
        (experiment(CHASE, f"beside: {{other: {{{CHASE}, shares: machine}}}}\n"), ("machine.cores=2", f"{PENALTY}=9cycles")),
        (experiment(CHASE), (f"machine.core={CORE}", f"machine.dtlb.page_table={WALKED}")),
        (experiment(CHASE.replace("cold", "warm") + ", pages: 9"), ()),
        (experiment(SCAN.replace("nsm", "dsm") + ", reconstruction: merge"), ()),
        (experiment(STORE + ", abstraction: [10, 100], level_attributes: [4, 4]"), ()),
        (on_storage(REQUESTS, ATLAS % ""), ()),
        (experiment(CLOTHO, ATLAS % "" + f"variants: {{a: {{workload: {{{REQUESTS}}}}}, b: {{}}}}\n"), ()),
        (experiment(CLOTHO, ATLAS % ""), ("machine.clock_hz=2GHz",)),
        (experiment(POSITION, ATLAS % ""), ()),
        (experiment(POSITION.replace("scan", "point").replace("position", "index"), ATLAS % "").replace(SMALL, ""), ()),
        (
            experiment("kernel: parallel-join, algorithm: radix, build_tuples: 100, probe_tuples: 100"),
            ("machine.core.exchange={further_cycles: 5cycles, alone: true}",),
        ),
        (
            experiment("kernel: disk-index, operation: insert, structure: array, keys: 100, operations: 9, latching: optimistic"),
            ("machine.core.exchange={further_cycles: 5cycles, alone: true}",),
        ),
        (experiment(f"kernel: together, programs: {{a: {{{REQUESTS}}}, b: {{{CLOTHO}}}}}", ATLAS % ""), ()),
        (
            experiment(CHASE, "grid: {machine.dtlb.huge_pages: [none, all], machine.dtlb.huge_page_bytes: [2MiB, 1GiB]}\n").replace(
                "./small.yaml", "zen4-server"
            ),
            (),
        ),
    ],
)
def test_what_has_an_effect_is_not(tmp_path: Path, text: str, sets: tuple[str, ...]) -> None:
    assert rows(tmp_path, text, *sets)


def test_one_row_that_depends_on_a_value_is_enough(tmp_path: Path) -> None:
    both = "variants: {scan: {workload.operation: scan}, point: {workload.operation: point}}\n"
    text = experiment(SCAN + ", selectivity: 0.5, point_queries: 5", both)
    assert len(rows(tmp_path, text)) == 2
    with pytest.raises(UserError, match="selectivity has no effect"):
        rows(tmp_path, text, "workload.operation=point")


def test_a_machine_file_may_have_cores(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, EXPERIMENT, MACHINE.replace("core:\n", "cores: 8\ncore:\n", 1))
    assert expand(load_experiment(path))[0].point.machine["cores"] == 8


def test_a_recorded_trace_has_the_instructions_of_its_workload(tmp_path: Path) -> None:
    write_experiment(tmp_path, experiment(CHASE))
    memwalk("trace", "record", "experiment.yaml", "-o", "t.parquet", cwd=tmp_path)
    done = memwalk("replay", "t.parquet", "--machine", "./small.yaml", "--set", f"{PENALTY}=9cycles", cwd=tmp_path)
    assert f"{PENALTY} has no effect on this run" in done.stderr


def test_a_replay_of_one_trace_has_one_thread(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    record = "trace record experiment.yaml --scale quick --variant B+ --set workload.seed=1 -o t.parquet"
    done = memwalk(*record.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    replay = "replay t.parquet --machine ./small.yaml --json --set machine.cores=8"
    done = memwalk(*replay.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "memwalk: error: --set machine.cores=8: machine.cores has no effect on this run: " + (
        "it is for runs of several threads, and this one has one thread; remove it\n"
    )
    done = memwalk(*replay.replace("t.parquet", "t.parquet t.parquet").split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["cores"]) == 2


def test_every_rule_is_about_a_parameter_that_exists() -> None:
    known = {"machine": json.dumps(MachineFile.model_json_schema()), "storage": json.dumps(TypeAdapter(StorageSetting).json_schema())}
    known["storage"] += "".join(
        json.dumps(one.model_json_schema()) for one in (DiskFile, SsdFile)
    )  # what is below parameters is the device's
    known["workload"] = json.dumps(ADAPTER.json_schema())
    for rule in RULES:
        root, _, path = rule.path.partition(".")
        if path:
            assert f'"{path.rpartition(".")[2]}":' in known[root], rule.path
        assert not rule.kernel or f'"const": "{rule.kernel}"' in known["workload"], rule.kernel


TINY = {"layout": "nsm", "records": 2000}
PLACED = {"layout": "nsm", "data": {"kind": "uniform", "records": 2000}}
USERS = {"layout": "nsm", "warehouses": 1, "users": 1, "pool": "8MiB", "page_access": "100us", "fill_transactions": 5}
QUERY = {"query": "q6", "scale_factor": 0.002, "sample_scale_factor": 0.002}
ON_STORAGE: dict[str, dict[str, Any]] = {
    "requests": {"count": 10},
    "interleaved-read": {"pages": 10},
    "layout-point": {"table": "r", "records": 5, **PLACED},
    "layout-scan": {"query": "1", **PLACED},
    "layout-space": {"table": "r", **PLACED},
    "layout-update": {"table": "r", "operation": "insert", **PLACED},
    "super-block": {"data": PLACED["data"]},
    "clotho-column": {"groups": 5},
    "clotho-insert": {"layout": "nsm", "records": 2000},
    "clotho-point": {"warm_up": 2, "queries": 2, "pool": "1MiB", **TINY},
    "clotho-scan": TINY,
    "clotho-tpch": {"layout": "nsm", **QUERY},
    "tpcc": {"warm_up": "100ms", "measured": "5s", **USERS},
    "compound": {"warm_up": "100ms", "measured": "3s", **USERS, **QUERY},
    "together": {"programs": {"a": {"kernel": "requests", "count": 5}, "b": {"kernel": "requests", "count": 5}}},
}
"""A small workload of each kernel on storage."""


@pytest.mark.parametrize("name", [name for name, _ in list_kernels()])
def test_kernels_on_storage_that_a_machine_is_for_are_those_whose_results_it_changes(name: str) -> None:
    kernel = ADAPTER.validate_python({"kernel": name} | ON_STORAGE[name])
    disks = System(load_device("cheetah-36es"), disks=2, volume="atropos")
    machine = load_machine("pentium2-xeon-400", dbms="shore-pentium2").native()
    differ = kernel.run(disks) != kernel.run(replace(disks, machine=machine))
    assert differ == (name in processing_kernels())
