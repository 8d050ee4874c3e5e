"""The engine counts what a textbook cache counts: any trace, any geometry, either pipeline."""

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.textbook_cache import FLUSH, LOAD, MARK, PREFETCH, PREFETCH_NTA, STORE, TextbookMachine

from memwalk.simcore import _native
from memwalk.simcore.machine import load_machine, machine_names
from memwalk.simcore.memories import first_memory

Events = list[tuple[int, int, int]]
"""Kind, address, size in bytes."""

SEGMENTS = {"low": (600, 900), "mid": (1500, 100), "high": (2**40 + 100, 300)}
"""First address and size of some segments; events touch them, what lies between, and what lies far away."""
LAYOUT = {
    "segments": [{"name": name, "base": base, "size_bytes": size} for name, (base, size) in SEGMENTS.items()],
    "sites": ["site"],
    "phases": ["run"],
}
TOP = 2**64


def machines() -> st.SearchStrategy[dict[str, Any]]:
    """Small machines: one to three levels of growing lines, so that a short trace already evicts from all of them."""

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        line_bytes = 8
        caches: list[dict[str, Any]] = []
        for level in range(draw(st.integers(1, 3))):
            line_bytes *= draw(st.sampled_from([1, 2, 4])) if level else 1
            ways, sets = draw(st.integers(1, 4)), draw(st.integers(1, 8))
            caches.append(
                {
                    "name": f"L{level + 1}",
                    "size_bytes": ways * sets * line_bytes,
                    "line_bytes": line_bytes,
                    "ways": ways,
                    "latency_cycles": 1 + 4 * level,
                    "replacement": "lru",
                }
            )
        caches[0]["mshrs"] = draw(st.integers(1, 4))
        in_order = draw(st.booleans())
        core: dict[str, Any] = {
            "kind": "in-order" if in_order else "out-of-order",
            "issue_width": draw(st.integers(1, 4)),
            "integer_units": 2,
            "memory_ports": draw(st.integers(1, 2)),
            "branch_units": 1,
            "multiply_latency_cycles": 4,
            "divide_latency_cycles": 50,
            "mispredict_penalty_cycles": 10,
            "branch_predictor": {"kind": "perfect"},
            "store_buffer_entries": draw(st.integers(1, 4)),
        }
        if not in_order:
            core["reorder_buffer"] = draw(st.integers(4, 32))
        huge = draw(st.sampled_from([None, "none", "all", ["low"], ["*i*"], ["low", "high"]]))
        levels = []
        for level in range(draw(st.integers(1, 2))):
            ways, sets = draw(st.integers(1, 3)), draw(st.integers(1, 3))
            levels.append({"entries": ways * sets, "latency_cycles": 2 * level} | draw(st.sampled_from([{}, {"ways": ways}])))
            own = draw(st.sampled_from([None, 0, 1, 2, 3]))
            if huge is not None and own is not None:
                levels[-1] |= {"huge_entries": own} | ({"huge_ways": 1} if own == 3 else {})
        dtlb = {
            # The longest line has 128 bytes.
            "page_bytes": draw(st.sampled_from([128, 256])),
            **({} if huge is None else {"huge_pages": huge, "huge_page_bytes": draw(st.sampled_from([512, 1024]))}),
            "levels": levels,
            "walk_latency_cycles": 30,
            "walker": draw(st.sampled_from(["blocking", "parallel"])),
            "prefetch_on_miss": draw(st.sampled_from(["walk", "drop"])),
        }
        memory = {
            "model": "fixed",
            "latency_cycles": 100,
            "interval_cycles": draw(st.integers(1, 15)),
            "write_backs_use_bus": draw(st.booleans()),
        }
        return {"name": "drawn", "clock_hz": 10**9, "core": core, "caches": caches, "dtlb": dtlb, "memory": memory}

    return build()


ADDRESSES = st.one_of(st.integers(0, 2047), st.integers(2**40, 2**40 + 511), st.integers(TOP - 256, TOP - 1))
ACCESSES = st.tuples(st.sampled_from([LOAD, LOAD, STORE]), ADDRESSES, st.integers(1, 80))
PREFETCHES = st.tuples(st.sampled_from([PREFETCH, PREFETCH_NTA]), ADDRESSES, st.integers(1, 80))
MARKERS = st.tuples(st.sampled_from([FLUSH, MARK]), st.just(0), st.just(0))
TRACES = st.lists(st.one_of(ACCESSES, ACCESSES, ACCESSES, PREFETCHES, MARKERS), max_size=200)


def engine_counts(machine: dict[str, Any], events: Events) -> dict[str, Any]:
    """Replays the events on the engine and keeps what does not depend on time."""
    columns = {
        "kind": [kind for kind, _, _ in events],
        "address": [address for _, address, _ in events],
        "size": [size for _, _, size in events],
        **{column: [0] * len(events) for column in ("instructions", "dep", "chain", "site")},
        "words": [1] * len(events),
    }
    run = _native.replay_events(_native.Machine(machine), LAYOUT, columns).as_dict()
    return {
        "caches": [(c["accesses"], c["hits"] + c["merges"], c["misses"], c["write_backs"]) for c in run["caches"]],
        "dtlb": (run["dtlb"]["accesses"], *run["dtlb"]["hits"], run["dtlb"]["walks"]),
        "prefetches": (run["prefetches"]["issued"], run["prefetches"]["useless"], run["prefetches"]["dropped"]),
        "bus": (run["bus"]["fills"], run["bus"]["write_backs"]),
    }


def textbook_counts(machine: dict[str, Any], events: Events) -> dict[str, Any]:
    """Runs the events on the textbook's machine."""
    named = machine["dtlb"].get("huge_pages")
    # Of the names above, `*i*` is that of two.
    huge = ["mid", "high"] if named == ["*i*"] else named if isinstance(named, list) else []
    oracle = TextbookMachine(machine, [(SEGMENTS[name][0], sum(SEGMENTS[name]) - 1) for name in huge])
    oracle.run(events)
    translations = sum(level.hits for level in oracle.tlb) + oracle.walks
    last = oracle.caches[-1]
    return {
        "caches": [(c.accesses, c.found, c.misses, c.write_backs) for c in oracle.caches],
        "dtlb": (translations, *(level.hits for level in oracle.tlb), oracle.walks),
        "prefetches": (oracle.prefetches, oracle.useless_prefetches, oracle.dropped_prefetches),
        "bus": (last.misses, oracle.written_lines),
    }


def tiny_machine(**dtlb: Any) -> dict[str, Any]:
    """The thesis's core over two direct-mapped sets of 16-byte lines, then two ways of 32-byte lines; two pages of 64 bytes."""
    machine = load_machine("thesis-simulator").native()
    first, second, _ = machine["caches"]
    first |= {"size_bytes": 32, "line_bytes": 16, "ways": 1}
    second |= {"size_bytes": 64, "line_bytes": 32, "ways": 2}
    machine["caches"] = [first, second]
    machine["dtlb"] |= {"page_bytes": 64, "levels": [{"entries": 2, "latency_cycles": 0}], **dtlb}
    return machine


def test_the_textbook_agrees_with_a_hand_computed_example() -> None:
    events = [
        (LOAD, 0, 4),  # misses both: L1 set 0 holds line 0, L2 holds line 0
        (STORE, 12, 8),  # spans L1 lines 0 (found) and 1 (misses, but the 32 bytes of L2 line 0 hold it); both dirty
        (LOAD, 32, 4),  # misses both; L1 line 0 makes room and is written to L2 line 0, which is used last now, before line 1
        (LOAD, 64, 4),  # misses both; L2 line 1 makes room, clean
        (PREFETCH, 64, 4),  # there already: useless
        (LOAD, 0, 4),  # misses L1; L2 line 0 is still there
        (LOAD, 96, 4),  # misses both; L2 line 2 makes room, clean
        (LOAD, 128, 4),  # misses both; L2 line 0 makes room, dirty; page 2 is the third page
    ]
    counts = textbook_counts(tiny_machine(), events)
    assert counts["caches"] == [(9, 2, 7, 1), (7, 2, 5, 1)]
    assert counts["dtlb"] == (8, 5, 3)
    assert counts["prefetches"] == (1, 1, 0)
    assert counts["bus"] == (5, 1)


@settings(max_examples=400)
@given(machines(), TRACES)
@example(tiny_machine(), [(STORE, TOP - 1, 80), (LOAD, TOP - 17, 80)])
@example(tiny_machine(prefetch_on_miss="drop"), [(PREFETCH, 0, 4), (LOAD, 0, 4), (PREFETCH, 16, 4)])
def test_counts_are_the_textbooks(machine: dict[str, Any], events: Events) -> None:
    assert engine_counts(machine, events) == textbook_counts(machine, events)


def as_the_textbook_knows_it(machine: dict[str, Any]) -> dict[str, Any]:
    """Return the machine with LRU, fills on every miss, write-back, no prefetchers, fixed walks and memory: simcore/tests judge the rest.

    Before a simulated DRAM accesses come in the order of time, which the textbook does not know.
    """
    for cache in machine["caches"]:
        cache["replacement"] = "lru"
        for key in ("inclusion", "prefetchers", "write_policy", "write_allocate"):
            cache.pop(key, None)
    machine["dtlb"].pop("page_table", None)
    fixed = load_machine("zen4-server").native() if first_memory(machine)["model"] == "dramsim3" else machine
    machine["memory"] = first_memory(fixed)
    return machine


@pytest.mark.parametrize("name", machine_names())
def test_counts_are_the_textbooks_on_our_machines(name: str) -> None:
    """Ten thousand events that overflow the first two levels and the first TLB level of each machine."""
    machine = as_the_textbook_knows_it(load_machine(name).native())
    draw = random.Random(2005)
    kinds = [LOAD, LOAD, LOAD, STORE, PREFETCH]
    events = [(draw.choice(kinds), draw.randrange(4 * 2**20) // 4 * 4, draw.choice([4, 8, 64, 200])) for _ in range(10_000)]
    counts = engine_counts(machine, events)
    assert counts == textbook_counts(machine, events)
    assert counts["caches"][1][3] > 0, "the trace must write back from the second level to show anything"
