"""`RULES`: parameters that not every run depends on, and which runs do.

Kernels that run on machines declare theirs, where one other parameter decides. What several decide together, or a storage, stands here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from memwalk.analysis.experiments.beside import BESIDE, MACHINE, SHARES
from memwalk.analysis.experiments.parameters import Parameter, are_met, in_words, kernels
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.storage import STORAGE
from memwalk.analysis.storage_workloads import processing_kernels
from memwalk.analysis.storage_workloads.together import PROGRAMS, TOGETHER
from memwalk.analysis.storage_workloads.traffic import Traffic
from memwalk.simcore.storage.queues import FCFS
from memwalk.simcore.yaml_source import Route
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, DEFAULT_SCATTERING

_PROCESSING = processing_kernels()


@dataclass(frozen=True)
class Rule:
    """A parameter, and the runs that depend on it."""

    path: str
    """Dotted path; ``*`` is any step, and what is below it belongs to it."""
    is_for: str
    """What it is for, in words."""
    applies: Callable[[Run], bool]
    kernel: str = ""
    """The kernel whose parameter it is; empty for those of machines and storage."""
    neutral: tuple[object, ...] = field(default=(), hash=False)
    """Values that may be written anywhere: they say what holds anyway. A map is no part of a hash."""
    is_needed: bool = False
    """Whether the map that it is in cannot be without it: then it may stand there when the whole map is written."""

    def concerns(self, route: Route) -> bool:
        """Whether it is about what stands at a route."""
        steps = self.path.split(".")
        return len(route) >= len(steps) and all(step in ("*", str(at)) for step, at in zip(steps, route, strict=False))

    def holds(self, run: Run) -> bool:
        """Whether the run depends on the parameter, or the rule is not about the run."""
        return self.kernel not in ("", run.kernel) or self.applies(run)


def _disks(run: Run) -> set[tuple[int, ...]]:
    """Return the sets of disks on which programs that run side by side lie, for those that name theirs."""
    return {tuple(program["disks"]) for program in run.programs.values() if "disks" in program}


def _have_all_disks(run: Run) -> bool:
    """Whether each disk of the storage is one of some program."""
    named = _disks(run)
    return not named or {disk for disks in named for disk in disks} == set(range(run.storage["disks"]))


def _processes(run: Run) -> bool:
    """Whether a processor's work is simulated: that of somebody's trace is, too."""
    if run.kernel == TOGETHER:
        return any(program["kernel"] in _PROCESSING for program in run.programs.values())
    return not run.kernel or run.kernel in kernels() or run.kernel in _PROCESSING


def _has_huge_pages(run: Run) -> bool:
    return bool(run.machine.get("dtlb", {}).get("huge_pages", "none") != "none")


def _scans_by_position(run: Run, kernel: str) -> bool:
    """Whether values of DSM that are read by position are another matter than those read in step."""
    return run.workload["reconstruction"] != "position" or (kernel in _PROCESSING and bool(run.machine))


def _calls(run: Run) -> bool:
    if not run.kernel:
        return run.calls
    return any(one not in kernels() or kernels()[one].calls_dbms for one in (run.kernel, *run.processing_beside()))


def _has_stripes(run: Run) -> bool:
    """Whether it matters where stripe units end: on one disk they follow each other, for those who do not ask the volume for its rows."""
    return run.storage.get("volume") == "striped" and (run.storage.get("disks", 1) > 1 or any(map(_asks_for_rows, run.each())))


def _asks_for_rows(run: Run) -> bool:
    return run.traffic().asks_for_rows


def _is_written(run: Run) -> bool:
    """Whether anything may be written to storage; of runs that ask for nothing there is a rule of its own."""
    return any(one.traffic().writes for one in run.each()) or not _takes_time(run)


def _is_read(run: Run) -> bool:
    """Say the same of what is read."""
    return any(one.traffic().reads for one in run.each()) or not _takes_time(run)


def _has_kept(run: Run, segments: str) -> bool:
    """Whether a disk's buffer has segments of a kind."""
    return bool(run.storage["facts"][segments])


def _has_segments(run: Run) -> bool:
    """Whether a disk's buffer has segments, for reads or for writes."""
    facts = run.storage["facts"]
    return bool(facts["segments"] or facts["write_segments"])


def _takes_time(run: Run) -> bool:
    """Whether storage is asked for anything: kernels that only place data count pages, whatever these lie on."""
    return run.kernel in kernels() or any(one.traffic().reads or one.traffic().writes for one in run.each())


def _keeps_what_others_read(run: Run) -> bool:
    """Whether a shared cache has lines that others have, which is where coherence protocols differ."""
    return not any(cache.get("shared") and cache.get("inclusion") == "exclusive" for cache in run.machine.get("caches", ()))


def _mispredicts(run: Run) -> bool:
    """Whether a branch may be predicted wrongly: a DBMS's profile says itself how often."""
    predictor = run.machine.get("core", {}).get("branch_predictor", {})
    return predictor.get("kind") != "perfect" or "dbms" in run.machine


def _has_branches(run: Run) -> bool:
    """Whether it matters how wrong predictions come about and what they cost: the one at a program's end holds up others at most."""
    return run.has("branches") or bool(run.beside)


def _walks_remember(run: Run) -> bool:
    """Whether walks have entries that may be remembered: those of all levels but the last."""
    return (run.machine.get("dtlb", {}).get("page_table") or {}).get("levels") != 1


def _lets_pass(run: Run) -> bool:
    """Whether filters of a join may let a key pass that is not there: in no relation, or not in a sub-partition."""
    return bool(run.workload["match_share"] < 1 or run.workload["algorithm"] in ("inspector", "choosing-inspector"))


def _calls_memcpy(run: Run) -> bool:
    """Whether an index in pages does so: slots behind one that is deleted move upwards, and nothing else moves."""
    workload = run.workload
    deletes_slots = (workload["operation"], workload["structure"]) == ("delete", "slotted")
    return not deletes_slots or bool(workload["upward_moves"] == "through-buffer")


def _moves_upwards(run: Run) -> bool:
    """Whether an index in pages moves what it keeps towards higher addresses: slots lie behind entries, and what is deleted leaves them."""
    if run.workload["structure"] == "slotted":
        return bool(run.workload["operation"] == "delete")
    return run.workload["operation"] in ("insert", "scan-and-insert")


def _is_stored(run: Run) -> bool:
    return bool(run.workload["pages_asked_ahead"] > 0 or run.workload["output"] == "stored")


def _of_machines(run: Run) -> Iterator[Traffic]:
    """List what kernels of machines ask for: the run's own, and those beside it."""
    return (one.traffic() for one in run.each() if one.kernel in kernels())


def _declared() -> Iterator[Rule]:
    """List what kernels declare of their parameters."""
    for kernel in kernels().values():
        yield from (_rule(kernel.name, one) for one in kernel.parameters if one.effect)


def _rule(kernel: str, one: Parameter) -> Rule:
    return Rule(f"workload.{one.name}", in_words(one.effect), lambda run: are_met(one.effect, run.workload), kernel)


_STORING = "runs with `storage`"
_THREADS = "runs of several threads, and this one has one thread"
_CALLING = f"kernels that call a DBMS, such as {' and '.join(name for name, kernel in kernels().items() if kernel.calls_dbms)}"
_ASKING = f"kernels that ask for pages, such as {' and '.join(name for name, kernel in kernels().items() if kernel.asks_for_pages)}"
_HUGE = "runs with something in huge pages: machine.dtlb.huge_pages"

RULES = (
    Rule("machine", f"workloads of a machine, and of those on storage {', '.join(_PROCESSING)}", _processes),
    *(
        Rule(f"machine.{path}", "replays in time, and --mode counts has none", lambda run: run.is_timed)
        for path in (
            "clock_hz",
            "core",
            "caches.*.latency_cycles",
            "caches.*.mshrs",
            "dtlb.levels.*.latency_cycles",
            "dtlb.walk_latency_cycles",
            "dtlb.walker",
            "dtlb.walkers",
            "memory",
        )
    ),
    Rule("machine.cores", _THREADS, lambda run: run.threads > 1, neutral=(1,)),
    Rule("machine.coherence", _THREADS, lambda run: run.threads > 1, neutral=(None,)),
    # Neither value is neutral: machine files share a cache or not, and one thread has all of it either way.
    Rule("machine.caches.*.shared", _THREADS, lambda run: run.threads > 1),
    Rule("machine.coherence.protocol", "caches that share a level which is not exclusive", _keeps_what_others_read),
    Rule(
        "machine.core.exchange",
        "workloads that read and write at once, as threads that share data do",
        lambda run: run.has("exchanges"),
        neutral=(None,),
    ),
    Rule("machine.core.multiply_latency_cycles", "workloads that multiply", lambda run: run.has("multiplies"), is_needed=True),
    Rule("machine.core.divide_latency_cycles", "workloads that divide", lambda run: run.has("divides"), is_needed=True),
    *(
        Rule(f"machine.{path}", "workloads that store", lambda run: run.has("stores"), is_needed=True)
        for path in (
            "core.store_buffer_entries",
            "caches.*.write_policy",
            "caches.*.write_allocate",
            "memory.write_backs_use_bus",
            "memory.write_interval_cycles",
            "memory.write_backs",
        )
    ),
    Rule(
        "machine.core.mispredict_penalty_cycles",
        "branches that may be predicted wrongly, and branch_predictor is perfect",
        _mispredicts,
        is_needed=True,
    ),
    *(
        Rule(f"machine.core.{name}", "workloads whose branches do not all go one way up to their end", _has_branches, is_needed=True)
        for name in ("mispredict_penalty_cycles", "branch_predictor.history_bits", "branch_predictor.counters")
    ),
    Rule("machine.dtlb.page_table.walk_cache_entries", "page tables of several levels", _walks_remember, is_needed=True),
    Rule(
        "machine.dtlb.prefetch_on_miss",
        "workloads that prefetch, such as index with tree.prefetch: true",
        lambda run: run.has("prefetches"),
        is_needed=True,
    ),
    Rule(
        "machine.instruction_cache",
        "programs whose code is fetched: kernels that call a DBMS, with `dbms`",
        lambda run: not run.kernel or (_calls(run) and "dbms" in run.machine),
        neutral=(None,),
    ),
    Rule("machine.dtlb.huge_page_bytes", _HUGE, _has_huge_pages, neutral=(None,)),
    Rule("machine.dtlb.levels.*.huge_entries", _HUGE, _has_huge_pages, neutral=(None,)),
    Rule("machine.dtlb.levels.*.huge_ways", _HUGE, _has_huge_pages, neutral=(None,)),
    Rule("machine.dbms", _CALLING, _calls, neutral=(None,)),
    Rule("dbms", _CALLING, _calls, neutral=(None,)),
    Rule(STORAGE, _ASKING, lambda run: run.asks_for_pages(), neutral=(None,)),
    *(
        Rule(
            STORAGE,
            "a pool of fewer frames than pages: pool_frames",
            lambda run: run.workload["pool_frames"] > 0,
            kernel,
            neutral=(None,),
        )
        for kernel in ("disk-index", "string-index")
    ),
    *(
        rule
        for kernel in ("hash-join", "hash-partition")
        for rule in (
            Rule(STORAGE, "relations on storage: pages_asked_ahead, or output: stored", _is_stored, kernel, neutral=(None,)),
            Rule("workload.pages_asked_ahead", _STORING, lambda run: bool(run.storage), kernel, neutral=(0,)),
            Rule("workload.output", _STORING, lambda run: bool(run.storage), kernel, neutral=("fresh", "reused")),
        )
    ),
    *(
        Rule("workload.index_pages", _STORING, lambda run: bool(run.storage), kernel, neutral=("in-memory",))
        for kernel in ("table", "tpch")
    ),
    Rule(
        BESIDE,
        f"runs of a machine that ask `storage` for pages, where `{BESIDE}` is not null, or have neighbours with `shares: machine`",
        lambda run: bool(run.beside),
        neutral=(None, {}),
    ),
    Rule(f"{STORAGE}.read_pages", f"{_ASKING}, and read some", lambda run: any(one.reads for one in _of_machines(run)), neutral=(1,)),
    Rule(
        f"{STORAGE}.write_batch",
        "kernels that write pages, and this one only reads",
        lambda run: any(one.writes for one in _of_machines(run)),
        neutral=(None,),
    ),
    Rule(f"{STORAGE}.cpu_per_page", _ASKING, lambda run: run.kernel in kernels(), neutral=(0,)),
    Rule(
        f"{STORAGE}.prefetchers",
        "runs that ask for pages ahead: distance_pages, or pages_asked_ahead",
        lambda run: any(one.asks_ahead for one in _of_machines(run)),
        neutral=(None,),
    ),
    Rule(
        f"{STORAGE}.stripe_blocks",
        "volume: striped, with several disks or a workload that reads row by row, or lies on all of the volume",
        _has_stripes,
    ),
    *(
        Rule(f"{STORAGE}.{name}", "workloads that read or write, and this one only counts pages", _takes_time, neutral=neutral)
        for name, neutral in (("disks", (1,)), ("volume", ("single",)), ("queue", (FCFS,)), ("bus", (None,)), ("parameters", ({},)))
    ),
    Rule(f"{STORAGE}.depth", "volume: atropos", lambda run: run.storage.get("volume") == "atropos"),
    Rule(f"{STORAGE}.step", "volume: atropos", lambda run: run.storage.get("volume") == "atropos"),
    *(
        Rule(f"{STORAGE}.parameters.{name}", "flash that is written, and this run only reads", _is_written)
        for name in ("page_program", "write_buffer", "erase", "erase_pages")
    ),
    Rule(f"{STORAGE}.parameters.page_read", "flash that is read, and this run only writes", _is_read),
    Rule(f"{STORAGE}.parameters.write_segments", "disks that are written, and this run only reads", _is_written),
    Rule(
        f"{STORAGE}.parameters.write_settle",
        "disks that are written, and this run only reads; or volume: atropos",
        lambda run: run.storage.get("volume") == "atropos" or _is_written(run),
    ),
    *(
        Rule(f"{STORAGE}.parameters.{name}", "disks that are read, and this run only writes", _is_read)
        for name in ("segments", "read_ahead_blocks", "leaves_read_ahead")
    ),
    Rule(f"{STORAGE}.parameters.segment_blocks", "disks whose buffer has segments: segments or write_segments above 0", _has_segments),
    *(
        Rule(
            f"{STORAGE}.parameters.overhead.{command}",
            f"disks whose buffer may have the blocks: {segments} above 0",
            partial(_has_kept, segments=segments),
            is_needed=True,
        )
        for command, segments in (("read_hit", "segments"), ("write_hit", "write_segments"))
    ),
    Rule(
        f"{STORAGE}.parameters.leaves_read_ahead",
        "disks that read ahead: read_ahead_blocks above 0",
        lambda run: run.storage["facts"]["read_ahead_blocks"] > 0,
    ),
    *(
        Rule(f"{STORAGE}.parameters.overhead.{command}", is_for, applies, is_needed=True)
        for commands, is_for, applies in (
            (("read_hit", "read_miss"), "disks that are read, and this run only writes", _is_read),
            (("write_hit", "write_miss"), "disks that are written, and this run only reads", _is_written),
        )
        for command in commands
    ),
    *(
        Rule(
            path,
            "requests that wait for each other, and these come one at a time",
            lambda run: not run.one_request_at_a_time(),
            neutral=neutral,
        )
        for path, neutral in ((f"{STORAGE}.queue", (FCFS,)), (f"{STORAGE}.parameters.queue_depth", ()))
    ),
    Rule(
        "workload.copy_call",
        "calls of `memcpy`: deletions from slotted pages make some with upward_moves: through-buffer",
        _calls_memcpy,
        "disk-index",
    ),
    Rule(
        "workload.false_positives",
        "filters that let some pass: match_share less than 1, or algorithm: inspector or choosing-inspector",
        _lets_pass,
        "hash-join",
    ),
    Rule("workload.matched_keys", "match_share between 0 and 1", lambda run: 0 < run.workload["match_share"] < 1, "hash-join"),
    Rule(
        "workload.tree.distance_nodes",
        "scans, which alone prefetch leaves ahead",
        lambda run: run.workload["operation"] in ("scan", "scan-and-insert"),
        "index",
    ),
    Rule("workload.upward_moves", "deletions from slotted pages, and insertions into others", _moves_upwards, "disk-index"),
    *_declared(),
    Rule(f"{STORAGE}.disks", "disks that programs name, and these name fewer", _have_all_disks, TOGETHER),
    Rule(
        f"workload.{PROGRAMS}.*.disks", "programs of which some have other disks than the rest", lambda run: len(_disks(run)) > 1, TOGETHER
    ),
    Rule(
        "workload.seed",
        "random requests, or a share of writes that is neither 0 nor 1",
        lambda run: run.workload["pattern"] == "random" or 0 < run.workload["write_share"] < 1,
        "requests",
    ),
    Rule(
        "workload.columns", "operations that change or look up columns", lambda run: run.workload["operation"] != "insert", "layout-update"
    ),
    Rule(
        "workload.written",
        "insertions in layout mbsm",
        lambda run: run.workload["operation"] == "insert" and run.workload["layout"] == "mbsm",
        "layout-update",
    ),
    Rule("workload.split", "super-blocks whose `pages` are given", lambda run: "pages" in run.workload, "super-block"),
    *(
        Rule(f"workload.{name}", "operator: si-scan", lambda run: run.workload["operator"] == "si-scan", "clotho-scan")
        for name in ("in_flight", "seed")
    ),
    *(
        Rule("workload.sample_scale_factor", "runs with a `machine`, which processes it", lambda run: bool(run.machine), kernel)
        for kernel in ("clotho-tpch", "compound")
    ),
    *(
        Rule(
            "workload.scattering",
            "layout csm, with a `machine`, which copies",
            lambda run: bool(run.machine) and run.workload["layout"] == "csm",
            kernel,
            neutral=(DEFAULT_SCATTERING,),
        )
        for kernel in ("clotho-scan", "clotho-tpch", "compound")
    ),
    Rule(
        "workload.read_first",
        "operations that write, and may read before",
        lambda run: run.workload["operation"] != "lookup",
        "layout-update",
    ),
    *(
        Rule(
            "workload.reconstruction",
            "a processor that scans: kernel clotho-scan or clotho-tpch with a `machine`. Pages are read as with `merge`",
            partial(_scans_by_position, kernel=kernel),
            kernel,
            neutral=(DEFAULT_RECONSTRUCTION,),
        )
        for kernel in (*_PROCESSING, "clotho-point", "clotho-insert", "tpcc")
    ),
)
"""Parameters that not every run depends on."""


def unmet_need_of_storage(run: Run) -> str | None:
    """Say what storage is for that a run does not do which names one; None if it depends on it: in a sweep there may be both."""
    return next((rule.is_for for rule in RULES if rule.path == STORAGE and not rule.holds(run)), None)


def has_effect(rule: Rule, run: Run) -> bool:
    """Tell whether the run depends on a rule's parameter: on storage, too, if one depends on it that shares the machine."""
    if rule.path == STORAGE:
        sharing = (name for name, one in run.beside.items() if one.get(SHARES) == MACHINE)
        if any(unmet_need_of_storage(run.program(name)) is None for name in sharing):
            return True
    return rule.holds(run)
