"""What `memwalk replay` is asked for: traces, a machine, and how they are replayed, checked before anything runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import cached_property
from pathlib import Path

from memwalk.analysis.cli.replay_samples import SamplePlan
from memwalk.analysis.experiments.effect import refuse_without_effect
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.traces.facts import NPY, TraceFacts
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, Setting


class Engine(StrEnum):
    """Who replays the trace."""

    NATIVE = "native"
    GEM5 = "gem5"


class Dependences(StrEnum):
    """What the loads of a trace wait for."""

    NONE = "none"
    CHAIN = "chain"


class Mode(StrEnum):
    """What a replay finds out."""

    TIMING = "timing"
    COUNTS = "counts"


class Kind(Enum):
    """How traces are replayed: one in full, unless the user asks for one of the others."""

    IN_FULL = auto()
    COUNTS = auto()
    SAMPLES = auto()
    GEM5 = auto()
    CORES = auto()


@dataclass(frozen=True)
class ReplayRequest:
    """What is asked. Raises UserError for options that exclude each other, and for what has no effect."""

    traces: tuple[Path, ...]
    """Trace files, and arrays of addresses, which can be counted only."""
    machine: Machine
    machine_name: str
    """What the user called it."""
    settings: tuple[Setting, ...]
    """What the user set of it."""
    mode: Mode
    plan: SamplePlan | None
    engine: Engine
    dependences: Dependences | None
    places: Mapping[str, str]
    """Where the replay begins and ends, and its warm-up ends, as far as the user said."""
    out: Path | None
    gem5: Path | None
    gem5_folder: Path | None
    shared_addresses: bool

    def __post_init__(self) -> None:
        if self.is_timed and (arrays := [trace for trace in self.traces if trace.suffix == NPY]):
            raise UserError(f"{arrays[0]}: not a memwalk trace; --mode counts takes {NPY} of addresses, which have no time")
        refuse_without_effect(self.settings, self._run())
        if self.is_timed and self.plan is None and self.engine is Engine.NATIVE:
            self._refuse_lack_of_cores()
        if len(self._asked) > 1:
            raise UserError("--mode counts, --sample, --engine gem5 and several traces exclude each other; choose one")
        if self.shared_addresses and len(self.traces) == 1:
            raise UserError(
                "--shared-addresses: one trace shares its addresses with nobody; give those of the other threads, or leave it out"
            )
        self._refuse_idle()
        if self.kind is Kind.GEM5 and self.threads > 1:
            raise UserError(f"--engine gem5: {self.first} has {self.threads} threads, and gem5 gets one; leave --engine out")

    @property
    def first(self) -> Path:
        """The only trace, where there is one."""
        return self.traces[0]

    @property
    def is_timed(self) -> bool:
        """Whether time passes."""
        return self.mode is Mode.TIMING

    @cached_property
    def facts(self) -> list[TraceFacts]:
        """What trace files say of themselves, which arrays of addresses do not."""
        return [TraceFacts.of(trace) for trace in self.traces if trace.suffix != NPY]

    @property
    def imported(self) -> list[TraceFacts]:
        """The traces of other tools."""
        return [one for one in self.facts if one.imported]

    @property
    def threads(self) -> int:
        """Threads of all traces together, each of which takes a core."""
        return max(sum(one.threads for one in self.facts), 1)

    @property
    def events(self) -> int | None:
        """How many events there are to run, if the files say so."""
        return sum(one.events for one in self.facts) if len(self.facts) == len(self.traces) else None

    @property
    def kind(self) -> Kind:
        """How the traces are replayed."""
        return next(iter(self._asked), Kind.IN_FULL)

    @property
    def _asked(self) -> list[Kind]:
        """The kinds that the user asks for."""
        asked = {
            Kind.COUNTS: self.mode is Mode.COUNTS,
            Kind.SAMPLES: self.plan is not None,
            Kind.GEM5: self.engine is Engine.GEM5,
            Kind.CORES: len(self.traces) > 1,
        }
        return [kind for kind, is_asked in asked.items() if is_asked]

    def _refuse_lack_of_cores(self) -> None:
        lack = self.machine.lack_of_cores(self.threads)
        if lack is not None:
            raise UserError(f"--machine {self.machine_name}: {lack}")

    def _refuse_idle(self) -> None:
        """Raise UserError for options that the kind of replay does not use."""
        places = {f"--{name.replace('_', '-')}": place for name, place in self.places.items()}
        if self.kind is not Kind.IN_FULL:
            in_full = "only for one trace that is replayed in full; leave out --mode, --sample, --engine or traces"
            _refuse_given({"--dependences": self.dependences, **places, "--out": self.out}, in_full)
        if self.kind is not Kind.GEM5:
            _refuse_given({"--gem5": self.gem5, "--gem5-folder": self.gem5_folder}, "only with --engine gem5; add that, or leave this out")

    def _run(self) -> Run:
        """Return what is known of the run."""
        said = [one.instructions for one in self.facts]
        instructions = None if None in said else frozenset[str]().union(*(kinds for kinds in said if kinds is not None))
        calls = any(one.calls for one in self.facts)
        return Run(machine=self.machine.native(), threads=self.threads, calls=calls, instructions=instructions, is_timed=self.is_timed)


def _refuse_given(options: Mapping[str, object], reason: str) -> None:
    """Raise UserError for those of ``options`` that are given."""
    if idle := [option for option, value in options.items() if value is not None]:
        raise UserError(f"{', '.join(idle)}: {reason}")
