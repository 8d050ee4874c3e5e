"""The built-in engine: Python's only door to the Rust simulator (`memwalk.simcore._native`).

Machines, workloads and statistics are plain dicts here, as they are stored. On the other side they are objects: machines and workloads that
have been checked, and the statistics of one run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from memwalk.simcore import _native
from memwalk.simcore._native import NOT_BEGUN, SpecError
from memwalk.simcore.addresses import Addresses, as_addresses, read_npy
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.pages import PageRun
from memwalk.simcore.storage.program_pages import ProgramPages
from memwalk.simcore.storage.timed_pages import TimedPages

__all__ = [
    "INSTRUCTIONS_PER_ACCESS",
    "NOT_BEGUN",
    "ShortageError",
    "Side",
    "SideBySide",
    "Source",
    "SpecError",
    "Statistics",
    "build_index",
    "build_info",
    "byte_usage",
    "check_index",
    "check_machine",
    "check_workload",
    "classify",
    "count",
    "dram_facts",
    "estimate_memory",
    "estimate_work",
    "event_times",
    "export_files",
    "export_formats",
    "export_tpch",
    "export_trace",
    "free_memory",
    "gem5_period_ticks",
    "host_processor",
    "import_formats",
    "import_trace",
    "index_info",
    "instructions",
    "list_workloads",
    "machine_schema",
    "miss_curve",
    "page_formats",
    "page_requests",
    "page_shares",
    "record",
    "replay",
    "replay_cores",
    "replay_runs",
    "replay_sampled",
    "run_native",
    "run_native_branches",
    "run_native_laps",
    "sampled_curve",
    "scan_lines",
    "simulate",
    "simulate_on",
    "threads",
    "trace_check",
    "trace_head",
    "trace_info",
    "traffic",
    "warmed_up",
]

Statistics = dict[str, Any]
"""The statistics tree of one run, as the simulator gives it (see docs/architecture.md)."""

INSTRUCTIONS_PER_ACCESS = _native.INSTRUCTIONS_PER_ACCESS
"""Least and most instructions for each access that ``import_trace`` assumes."""

Progress = Callable[[int], None] | None

Source = Path | npt.NDArray[np.generic]
"""Where accesses come from: a trace file, a ``.npy`` file of byte addresses, or an array of them."""


class ShortageError(UserError):
    """A machine, a workload or a trace for which there is no memory; ``path`` is what to change: ``machine.caches.0.size_bytes``."""

    def __init__(self, path: str, message: str) -> None:
        """Take the path and what is wrong; both go through a pipe."""
        super().__init__(path, message)
        self.path = path
        self.message = message

    def __str__(self) -> str:
        """Tell both, for who does not know where it was written."""
        return f"{self.path}: {self.message}"


_Taken = ParamSpec("_Taken")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Side:
    """A workload beside others on the cores of one machine, in one run."""

    start_cycle: int = 0
    runs: int | None = 1
    """How often it runs, which may be never; None: as long as one goes on that is told how often. Only its first run warms up."""


class SideBySide:
    """Workloads that are ready to run on the cores of one machine, together or one while the others stand still.

    They share what the machine's cores share, know nothing of each other, and lie apart in memory. Each thread has a core.
    """

    def __init__(
        self,
        machine: dict[str, Any],
        workloads: Sequence[dict[str, Any]],
        *,
        stored: bool,
        progress: Progress = None,
        building: Progress = None,
    ) -> None:
        """Build what they run on, and find how long warm-ups are that are ``auto``: as long as alone. Raises as `simulate_on`.

        Their pages will come from storage, if they are ``stored``.
        """
        native = [_native.Workload(one) for one in workloads]
        self._ready = _guarded(_native.SideBySide, _native.Machine(machine), native, stored, progress, building)

    def run(
        self,
        sides: Sequence[Side],
        progress: Progress = None,
        observe: Mapping[str, Any] | None = None,
        storage: ProgramPages | None = None,
    ) -> list[tuple[Statistics, int]]:
        """Run them: the statistics of each, and how often it ran.

        Statistics of one that ran several times are of all its runs. The first is observed, as `simulate_on` has it; the inside of a DRAM
        is that of all. Pages come from ``storage``, as `simulate` says. Raises as `simulate_on`.
        """
        plans = [{"start_cycle": one.start_cycle, "runs": one.runs} for one in sides]
        runs = _guarded(self._ready.run, plans, dict(observe or {}), progress, storage)
        return [(statistics.as_dict(), times) for statistics, times in runs]


def simulate(  # noqa: PLR0917 (as `_native.simulate`)
    machine: dict[str, Any],
    workload: dict[str, Any],
    progress: Progress = None,
    building: Progress = None,
    observe: Mapping[str, Any] | None = None,
    storage: TimedPages | None = None,
) -> Statistics:
    """Run a workload live on a machine: `simulate_on` with one.

    Pages that it asks for come from ``storage``: a core that reads one stops until it is there. ``slots.storage`` are the slots in
    which it was stopped, and ``pages`` says what was asked for and what the core waited for.
    """
    return _simulated([machine], workload, progress, building, observe, storage)[0]


def simulate_on(
    machines: Sequence[dict[str, Any]],
    workload: dict[str, Any],
    progress: Progress = None,
    building: Progress = None,
    observe: Mapping[str, Any] | None = None,
) -> list[Statistics]:
    """Run a workload live on machines, all fed by one run of the kernel; returns the statistics of each.

    A kernel of several threads runs once for each machine, a thread on each core: its statistics are of all cores together (counts and
    slots are sums, cycles those of the slowest core), with each core's in ``cores``.
    ``building`` hears the steps of building what it runs on, before ``progress`` hears of events.

    ``observe`` asks for more from the same pass. ``bytes: True`` adds ``byte_usage``, how much of what each site fetches into the last
    cache is used: its name ``cache``, ``line_bytes``, and ``rows`` with ``phase``, ``site``, ``lines``, ``fetched_bytes`` and
    ``used_bytes``. ``counts: True`` adds ``counts`` (as of `count`). ``curve: [lines, ...]`` adds ``curve`` with ``accesses`` and the
    ``misses`` of fully associative caches of so many lines of the last cache.

    If the workload says ``warm_up: auto``, its outcome has ``warm_up_operations`` (what that came to) and ``warm_up_steady``
    (whether misses were steady after them; if not, the search was given up).
    Raises SpecError if either cannot be, UserError if the machine refuses what the workload does (a call that its DBMS profile
    lacks) or there is too little memory, KeyboardInterrupt on Ctrl-C.
    """
    return _simulated(machines, workload, progress, building, observe, None)


def _simulated(  # noqa: PLR0917 (as `_native.simulate`)
    machines: Sequence[dict[str, Any]],
    workload: dict[str, Any],
    progress: Progress,
    building: Progress,
    observe: Mapping[str, Any] | None,
    storage: TimedPages | None,
) -> list[Statistics]:
    specs = [_native.Machine(one) for one in machines]
    runs = _guarded(_native.simulate, specs, _native.Workload(workload), dict(observe or {}), progress, building, storage)
    return [run.as_dict() for run in runs]


def warmed_up(workload: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
    """Return the workload with its warm-up as a number of operations: what ``auto`` is on the machine.

    A workload without a warm-up stays as it is. Raises as `simulate`.
    """
    length = _guarded(_native.warm_up, _native.Workload(workload), _native.Machine(machine))
    return workload if length is None else workload | {"warm_up": length["operations"]}


def record(workload: dict[str, Any], path: Path, progress: Progress = None, building: Progress = None) -> Statistics:
    """Run a workload into a trace file at ``path``; returns what the file holds. ``building`` as in `simulate`.

    Raises SpecError if its warm-up is ``auto``, which depends on the machine: see `warmed_up`.
    """
    return _guarded(_native.record, _native.Workload(workload), str(path), progress, building)


def page_requests(workload: dict[str, Any]) -> list[PageRun]:
    """Run a workload of one thread on no machine; returns the runs of pages that it asks for, in order."""
    return _guarded(_native.page_requests, _native.Workload(workload))


def replay(path: Path, machine: dict[str, Any], progress: Progress = None) -> Statistics:
    """Run a trace file on a machine: the same statistics as simulating its workload live."""
    return _guarded(_native.replay, str(path), _native.Machine(machine), progress).as_dict()


def replay_runs(
    path: Path,
    machine: dict[str, Any],
    dependences: Sequence[str],
    *,
    sites: bool = False,
    window: dict[str, dict[str, int]] | None = None,
    progress: Progress = None,
) -> list[Statistics]:
    """Run a trace file, or a part of it, once for each of ``dependences``, in one pass; returns the statistics of each.

    They are ``recorded`` (what the trace says), ``none`` or ``chain`` (each instruction waits for the load before it). ``window``
    has ``from``, ``until`` and ``warm_up`` (runs first and is not counted), each ``{"events": n}``, ``{"instructions": n}`` or
    ``{"phase": number}``. With ``sites``, statistics have the ``breakdown`` by ``site`` in place of ``segment`` as ``sites``.
    Of a part, ``workload`` is empty: the trace says what all of it computed, and in how many operations, but not where one begins.
    Raises UserError if the trace has no such part.
    """
    plan = {"dependences": list(dependences), "sites": sites, "window": window or {}}
    runs = [run.as_dict() for run in _guarded(_native.replay_runs, str(path), _native.Machine(machine), plan, progress)]
    return [run | {"workload": {}} for run in runs] if window else runs


def event_times(
    path: Path, machine: dict[str, Any], first: int, count: int, progress: Progress = None
) -> dict[str, npt.NDArray[np.uint64]]:
    """Replay a trace up to the end of ``count`` events behind the first ``first``; returns when its instructions among those got on.

    Columns are equally long arrays: ``event`` (number in the window), ``is_access``, ``is_store``, ``address``, ``instructions`` (its own
    and the plain ones before it), ``dep``, ``chain``, ``site``, and cycles: ``dispatched``, ``ready`` (its operand is there), ``issued``,
    ``walk_began`` (the latest page walk), ``translated``, ``complete``, ``arrived`` (its line is there); ``graduated_slot`` is cycles
    times the width. ``level`` served the line, ``walks`` are page walks so far, ``mispredicted`` is 0 or 1. Empty on an in-order core.
    """
    return _guarded(_native.event_times, str(path), _native.Machine(machine), first, count, progress)


def replay_sampled(path: Path, machine: dict[str, Any], plan: dict[str, int] | None = None, progress: Progress = None) -> Statistics:
    """Run samples of a trace file of one thread on a machine (SMARTS).

    ``plan`` has ``unit``, ``warmup`` and ``period``, in instructions; without one, about ten thousand units are measured.
    Returns ``estimate`` (cycles with their confidence interval) and ``statistics``. Raises SpecError for a plan that cannot be.
    """
    estimate, statistics = _guarded(_native.replay_sampled, str(path), _native.Machine(machine), plan, progress)
    return {"estimate": estimate, "statistics": statistics.as_dict()}


def replay_cores(paths: Sequence[Path], machine: dict[str, Any], progress: Progress = None, *, shared_addresses: bool) -> Statistics:
    """Run trace files on the cores of a machine.

    A file of several threads runs each of them on a core. With ``shared_addresses`` all files are threads of one program; otherwise equal
    addresses of two files are different places. Returns statistics as `simulate_on` for several threads.
    """
    files = [str(path) for path in paths]
    return _guarded(_native.replay_cores, files, _native.Machine(machine), shared_addresses, progress).as_dict()


def run_native(
    workload: dict[str, Any], repetitions: int, evict_bytes: int, progress: Progress = None, building: Progress = None
) -> Statistics:
    """Run a workload on this processor, ``repetitions`` times after an unmeasured one.

    ``evict_bytes`` is how much is read to empty its caches. Returns ``times_ns`` (nanoseconds of each repetition),
    ``clock_ns`` and ``intervals`` (what reading the clock takes, and how often it was read), ``prefetches`` (whether
    they were instructions), and the kernel's outcome ``workload``. ``progress`` hears the operations begun, ``building`` as in `simulate`.
    """
    return _guarded(_native.run_native, _native.Workload(workload), _options(repetitions, evict_bytes), progress, building)


def run_native_laps(chain: dict[str, Any], laps: int, repetitions: int, progress: Progress = None) -> Statistics:
    """Follow a pointer chain ``laps`` times through warm caches; ``times_ns`` is of all laps, else as `run_native`."""
    return _native.run_native_laps(chain, laps, _options(repetitions, 0), progress)


def run_native_branches(words: int, repetitions: int) -> Statistics:
    """Time a branch on each bit of ``words`` words of 64 bits: nanoseconds per bit of each repetition, ``random_ns`` and ``ordered_ns``.

    At random bits every other branch is mispredicted, at ordered ones hardly any.
    """
    return _native.run_native_branches(words, repetitions)


def host_processor() -> dict[str, Any]:
    """Return what CPUID says: ``vendor``, ``brand``, ``family``, ``model``, ``virtual_machine``, ``dtlb``, ``caches``.

    All of it is empty on processors without CPUID. ``clock_hz`` is measured: what the core runs at now.
    """
    return _native.host_processor()


def _options(repetitions: int, evict_bytes: int) -> dict[str, int]:
    return {"repetitions": repetitions, "evict_bytes": evict_bytes}


def count(source: Source, machine: dict[str, Any], progress: Progress = None) -> Statistics:
    """Count the hits, misses and write-backs of a machine's caches, without time and in less of it than `replay` takes.

    A bare address reads one byte. Raises SpecError if the machine cannot be or has caches that counts mode does not know.
    """
    return _guarded(_native.count, _accesses(source), _native.Machine(machine), progress)


def byte_usage(trace: Path, machine: dict[str, Any], progress: Progress = None) -> dict[str, Any]:
    """Tell how much of what each site of a trace fetches is used.

    Lines are those of the machine's last cache, under LRU; used is what anybody touches before the line leaves. Returns what `simulate_on`
    has as ``byte_usage``.
    """
    return _guarded(_native.replay_byte_usage, str(trace), _native.Machine(machine), progress)


def page_formats() -> dict[str, dict[str, int]]:
    """Return what page formats keep per record, in bytes: ``{"nsm": {"tag_bytes", "slot_bytes"}}``."""
    return _native.page_formats()


def page_shares(average_bytes: float, fixed: int, variable: int, page_bytes: int, header_bytes: int) -> dict[str, dict[str, float]]:
    """Return what records of average length take of pages, by format: ``nsm`` and ``pax``.

    A record has ``fixed`` and ``variable`` attributes of fixed and of variable length, which take ``average_bytes`` together. For each
    format ``record_bytes`` (with what is kept for the record), ``page_bytes`` (kept once, behind the header) and ``records`` of a page.
    """
    return _native.page_shares(average_bytes, fixed, variable, page_bytes, header_bytes)


def scan_lines(workload: dict[str, Any], line_bytes: int) -> dict[str, float]:
    """Return the cache lines per record that the scan of a ``table`` workload touches, a closed form of its page format.

    ``header``, ``slots`` and ``values``: lines touched for these first. Records are tested and not selected, or, in a store for
    reading without column abstraction, read. Raises SpecError for another workload.
    """
    return _native.scan_lines(_native.Workload(workload), line_bytes)


def miss_curve(source: Source, line_bytes: int, sets: int = 1, progress: Progress = None) -> npt.NDArray[np.uint64]:
    """Count the misses of every capacity under LRU in one pass, exactly.

    Element ``c`` is for ``c`` lines, fully associative, or for ``c`` ways of each of ``sets`` sets; the first is the number
    of accesses, the last that of every larger capacity. Raises SpecError for a line or sets that cannot be.
    """
    return _guarded(_native.miss_curve, _accesses(source), line_bytes, sets, progress)


def sampled_curve(
    source: Source,
    line_bytes: int,
    capacities: Sequence[int],
    *,
    rate: float | None = None,
    lines: int | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Estimate misses from a sample of the lines (SHARDS): a share of them (``rate``), or so many at most (``lines``); of one of both.

    Returns ``accesses``, ``sampled`` accesses, the ``rate`` at the end, and for each capacity (lines, fully associative)
    ``misses`` and ``standard_errors``, which are None for those that the sample is too small for. Raises UserError unless one of
    ``rate`` and ``lines`` is given.
    """
    if (rate is None) == (lines is None):
        raise UserError(f"rate={rate}, lines={lines}: give one of them, the share of the lines in the sample or their number")
    return _guarded(_native.sampled_curve, _accesses(source), line_bytes, rate, lines, list(capacities), progress)


def classify(source: Source, machine: dict[str, Any], cache: int, progress: Progress = None) -> dict[str, Any]:
    """Tell why cache number ``cache`` of a machine misses, as if it had no others.

    Returns its ``name`` and ``rows``, one per segment: ``accesses``, ``compulsory``, ``capacity`` and ``conflict`` misses, and
    hits ``spared``, which full associativity would have missed.
    """
    return _guarded(_native.classify, _accesses(source), _native.Machine(machine), cache, progress)


def trace_info(path: Path) -> dict[str, Any]:
    """Return the description that a trace file carries."""
    return _guarded(_native.trace_info, str(path))


def trace_head(path: Path, count: int) -> list[dict[str, Any]]:
    """Return the first ``count`` events of a trace file, one dict each, with its ``thread`` if there are several."""
    return _guarded(_native.trace_head, str(path), count)


def trace_check(path: Path, progress: Progress = None) -> dict[str, Any]:
    """Read a whole trace file and returns its totals. Raises UserError at the first damage found."""
    return _guarded(_native.trace_check, str(path), progress)


def import_trace(files: Sequence[str], path: Path, options: dict[str, Any], progress: Progress = None) -> dict[str, Any]:
    """Read another tool's trace (``-`` is standard input), or one of each thread of a program, into a trace file at ``path``.

    Returns what was read and lost.

    ``options`` are ``format``, ``instructions``, ``instructions_per_access``, ``blocks``, ``pattern``, ``column`` and ``segments``; see
    `traces/src/import/mod.rs`.
    """
    return _guarded(_native.import_trace, list(files), str(path), options, progress)


def import_formats() -> list[dict[str, Any]]:
    """Return the formats that can be imported: ``name``, ``title``, ``grammar``, ``unit``, options it ``takes`` and what is ``lost``."""
    return _native.import_formats()


def export_trace(
    path: Path, format_: str, output: Path, machine: dict[str, Any] | None = None, progress: Progress = None
) -> dict[str, Any]:
    """Write a trace file in another simulator's format; returns what was written, left out and lost.

    ``format_`` is a name of ``export_formats``. Lines and times are the machine's.
    """
    on = None if machine is None else _native.Machine(machine)
    return _guarded(_native.export_trace, str(path), format_, str(output), on, progress)


def export_files(format_: str, output: Path) -> list[Path]:
    """Return every file that ``export_trace`` writes in a format under a name, the main one last."""
    return [Path(file) for file in _native.export_files(format_, str(output))]


def export_formats() -> list[dict[str, Any]]:
    """Return the formats of ``export_trace``: ``name``, ``needs_machine``, and the phrases of what is ``lost`` of any trace."""
    return _native.export_formats()


def gem5_period_ticks(clock_hz: int) -> int:
    """Return the period of a clock in gem5's ticks (picoseconds), as exported traces have it. Raises SpecError for 0."""
    return _native.gem5_period_ticks(clock_hz)


def check_machine(machine: dict[str, Any]) -> None:
    """Raise SpecError if the machine's geometry cannot be."""
    _native.Machine(machine)


def check_workload(workload: dict[str, Any]) -> None:
    """Raise SpecError if the workload cannot be."""
    _native.Workload(workload)


def dram_facts(machine: dict[str, Any]) -> dict[str, int]:
    """Return capacity, bandwidth and times of a machine's DRAM; empty for a memory of fixed latency."""
    return _native.Machine(machine).dram_facts()


def estimate_work(workload: dict[str, Any]) -> dict[str, int]:
    """Estimate the work of a workload before it runs: steps of ``building``, ``events``, and ``calls`` of the host DBMS among them."""
    return _native.Workload(workload).work()


def estimate_memory(workload: dict[str, Any]) -> dict[str, int]:
    """Estimate the bytes of memory of a workload before it runs: for ``building``, for ``running``, and the largest ``piece`` of them."""
    return _native.Workload(workload).memory()


def threads(workload: dict[str, Any]) -> int:
    """Return how many threads a workload has; each takes a core."""
    return _native.Workload(workload).threads


def instructions(workload: dict[str, Any]) -> frozenset[str]:
    """Return the kinds of instructions that a workload has, of those that others do without: ``stores``, ``prefetches`` and so on."""
    kinds: dict[str, bool] = _native.Workload(workload).instructions()
    return frozenset(kind for kind, has in kinds.items() if has)


def traffic(workload: dict[str, Any]) -> dict[str, bool]:
    """Tell what a workload asks storage for: whether it ``reads``, ``writes`` or ``asks_ahead``."""
    return _native.Workload(workload).traffic()


def free_memory() -> int:
    """Return the bytes of memory that this process may still take; more than any host has if the system does not say."""
    return _native.free_memory()


def machine_schema() -> dict[str, Any]:
    """Return what the simulator declares of machines, as JSON Schema: all its types are below ``$defs``."""
    return _native.Machine.schema()


def list_workloads() -> list[dict[str, Any]]:
    """Return the kernels that a workload can name.

    Each has ``name``, ``description``, what it asks others for (``calls_dbms``, ``asks_for_pages``), and ``schema`` and ``defaults`` of its
    parameters.
    """
    return _native.Workload.kernels()


def build_index(workload: dict[str, Any], path: Path, building: Progress = None) -> dict[str, Any]:
    """Build the index of a workload of kernel ``disk-index`` and write it into a page file at ``path``; returns what `index_info` does."""
    return _guarded(_native.build_index, _native.Workload(workload), str(path), building)


def index_info(path: Path) -> dict[str, Any]:
    """Return what a page file says of its index: ``parameters`` that it decides about, ``levels``, ``pages`` and so on.

    Raises UserError if it is no page file, or not whole; its pages are not looked at.
    """
    return _guarded(_native.index_info, str(path))


def check_index(path: Path, building: Progress = None) -> dict[str, Any]:
    """Read all of a page file and check every page; returns what `index_info` does. ``building`` hears of entries.

    Raises UserError with the first page that is wrong, and what is wrong with it.
    """
    return _guarded(_native.check_index, str(path), building)


def export_tpch(table: str, scale_factor: float, path: Path) -> None:
    """Write a generated table of TPC-H, such as ``lineitem``, as comma-separated text with a header."""
    _native.export_tpch(table, scale_factor, str(path))


def build_info() -> dict[str, Any]:
    """Return what is known of the native module.

    ``version``, ``commit``, ``profile`` (``release`` or ``debug``), ``dramsim3`` (whether it is built in) and ``target_features`` (the
    instruction sets that a processor must have).
    """
    return _native.build_info()


def _accesses(source: Source) -> str | Addresses | Iterator[Addresses]:
    """Open what the native module does not read itself."""
    match source:
        case Path():
            return read_npy(source) if source.suffix == ".npy" else str(source)
        case np.ndarray():
            return as_addresses(source)
    remedy = "give a NumPy array of uint64 byte addresses, or a pathlib.Path of a trace or of a .npy file"
    raise UserError(f"addresses: a {type(source).__name__}; {remedy}")


def _guarded(function: Callable[_Taken, _Result], *arguments: _Taken.args, **named: _Taken.kwargs) -> _Result:
    """Call the native module; what it finds wrong with a trace or a page file, or too large for memory, is the user's to mend."""
    try:
        return function(*arguments, **named)
    except (_native.TraceError, _native.PageFileError) as error:
        raise UserError(str(error)) from None
    except _native.MemoryShortageError as error:
        raise ShortageError(*error.args) from None
