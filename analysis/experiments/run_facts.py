"""`Run`: what is known of a run before it begins, which rules on parameters look at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.storage_workloads import processing_kernels, traffic_of
from memwalk.analysis.storage_workloads.program_mix import KERNEL
from memwalk.analysis.storage_workloads.together import PROGRAMS
from memwalk.analysis.storage_workloads.traffic import Traffic
from memwalk.simcore.engines import native
from memwalk.simcore.yaml_source import Route

_PROCESSING = processing_kernels()


@dataclass(frozen=True)
class Run:
    """What rules look at."""

    workload: Mapping[str, Any] = field(default_factory=dict)
    """The resolved workload; empty for somebody's trace, of which nothing is known."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    """The resolved machine; empty if there is none."""
    storage: Mapping[str, Any] = field(default_factory=dict)
    """The resolved storage; empty if there is none."""
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Workloads beside the run's own, by name; none for most, and where it asks storage for nothing."""
    threads: int = 1
    calls: bool = True
    """Whether somebody's trace calls a DBMS."""
    instructions: frozenset[str] | None = None
    """Kinds of instructions that kernels on its machine have, of those that others do without; None if nobody says."""
    is_timed: bool = True
    """Whether time passes: it does not where a trace is only counted."""
    route: Route = ()
    """Where the setting stands that a rule is asked about: in which of several prefetchers, for example."""

    @property
    def kernel(self) -> str:
        """The kernel's name; empty for somebody's trace."""
        return str(self.workload.get("kernel", ""))

    @property
    def programs(self) -> Mapping[str, Mapping[str, Any]]:
        """The workloads that run side by side, by name; none if there is one workload."""
        found: Mapping[str, Mapping[str, Any]] = self.workload.get(PROGRAMS, {})
        return found

    def program(self, name: str) -> "Run":
        """Return one of those, or of those beside it, as a run: the run itself for no name, a run of nothing for one that is not there."""
        return replace(self, workload=(self.programs or self.beside).get(name, {})) if name else self

    def has(self, kind: str) -> bool:
        """Whether its machine may run instructions of a kind."""
        sampled = kind != "exchanges"  # one core works on what programs on storage read
        if self.instructions is None:
            return sampled or not self.kernel or self.kernel in kernels()
        return kind in self.instructions or (sampled and any(one in _PROCESSING for one in self.processing_beside()))

    def one_request_at_a_time(self) -> bool:
        """Whether no request ever waits for another: a core that reads stops, and what it writes goes on beside that.

        On these volumes a request has one part for each disk at most.
        """
        asked, threads = self.traffic(), self.workload.get("threads", 1)
        reads = self.kernel in kernels() and threads == 1 and not asked.writes and not asked.asks_ahead
        alone = reads or self.kernel == "interleaved-read" or self.workload.get("in_flight") == 1
        return alone and self.storage.get("volume") in ("single", "striped") and not any(one.asks_for_pages() for one in self.each_beside())

    def traffic(self) -> Traffic:
        """Say what its own workload asks storage for."""
        kernel = kernels().get(self.kernel)
        if kernel is None:
            return traffic_of(self.workload)
        # Of a neighbour it is said, too, when it begins.
        own = {KERNEL: kernel.name, **{one.name: self.workload[one.name] for one in kernel.parameters if one.name in self.workload}}
        return Traffic(**native.traffic(own), asks_for_rows=False)

    def each(self) -> Iterator["Run"]:
        """List all that asks for something as runs: the run itself, or those that run side by side, and those beside it."""
        yield from map(self.program, self.programs or ("",))
        yield from self.each_beside()

    def each_beside(self) -> Iterator["Run"]:
        """List those beside the run's own as runs."""
        return map(self.program, self.beside)

    def asks_for_pages(self) -> bool:
        """Whether its own workload is of a kernel that asks storage for pages, as all do that run on storage."""
        return self.kernel not in kernels() or kernels()[self.kernel].asks_for_pages

    def processing_beside(self) -> Iterator[str]:
        """List the kernels beside its own of which a processor's work is simulated."""
        names = (str(program["kernel"]) for program in self.beside.values())
        return (name for name in names if name in kernels() or name in _PROCESSING)
