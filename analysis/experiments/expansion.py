"""From an experiment to its rows: variants x grid x repetitions, each checked before anything runs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memwalk.analysis.experiments.beside import ResolvedBeside, check_beside, check_caches, resolve_beside
from memwalk.analysis.experiments.canonical import digest
from memwalk.analysis.experiments.effect import Effects
from memwalk.analysis.experiments.equal_values import refuse_equal_values
from memwalk.analysis.experiments.layers import not_taken_away
from memwalk.analysis.experiments.machines import Machines
from memwalk.analysis.experiments.points import Point, Row, parameters_of
from memwalk.analysis.experiments.resolve import Resolved, resolve_workload
from memwalk.analysis.experiments.rules import unmet_need_of_storage
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment
from memwalk.analysis.experiments.settings import Plan, plan
from memwalk.analysis.experiments.storage import Systems, parameter_paths
from memwalk.analysis.storage_workloads import Checked
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.dbms import PART
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, Setting
from memwalk.simcore.storage.system import System
from memwalk.simcore.yaml_source import Sourced


def expand(
    experiment: Experiment,
    scale: str = FULL_SCALE,
    overrides: Sequence[Setting] = (),
    heard: Callable[[int, int], None] | None = None,
    machine: Setting | None = None,
) -> list[Row]:
    """List an experiment's rows: variants x grid x repetitions, the last path fastest. ``heard`` is told how many of how many there are.

    Values are laid on in this order: base, scale, variant, grid, repetitions, overrides (``--set``); of what varies, wholes before parts.
    ``machine`` takes the place of the experiment's machine, with all that varies in it but by overrides.
    Every machine and workload is checked here, before anything runs, and what is set without effect on any row is refused. Raises
    UserError with the place of each mistake.
    """
    expansion = _Expansion(experiment, plan(experiment, scale, overrides, machine))
    rows = []
    for number in range(expansion.count):
        rows.append(expansion.row(number))
        if heard is not None:
            heard(len(rows), expansion.count)
    expansion.effects.check()
    refuse_equal_values(rows, expansion.plan.axes)
    return rows


def count_rows(experiment: Experiment, scale: str = FULL_SCALE, overrides: Sequence[Setting] = ()) -> int:
    """Say how many rows `expand` would list, at once. Raises UserError as `expand` does, but not for single rows."""
    return _Expansion(experiment, plan(experiment, scale, overrides)).count


def sample_rows(experiment: Experiment, scale: str, overrides: Sequence[Setting], most: int) -> list[Row]:
    """List some of an experiment's rows, at equal distances. What has an effect on none of them may have one on others: it is not refused.

    Raises UserError with the place of each mistake in these rows.
    """
    expansion = _Expansion(experiment, plan(experiment, scale, overrides))
    taken = min(most, expansion.count)
    return [expansion.row(number * expansion.count // taken) for number in range(taken)]


class _Expansion:
    """Resolves the rows of one experiment."""

    def __init__(self, experiment: Experiment, settled: Plan) -> None:
        self.experiment = experiment
        self.start = experiment.source.spot(()).value
        self.plan = settled
        self.bundles = list(settled.variants.items()) or [("", ())]
        self.machine_routes = settled.machine_routes()
        self.machines = Machines(experiment.source, experiment.folder)
        self.effects = Effects(self.start.file)
        source = experiment.source
        self.named = [Setting((part,), source.below((part,))) for part in ("machine", PART) if part in source.data]
        self.systems = Systems(experiment.folder, parameter_paths(settled.everything()))

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.bundles) * math.prod(len(axis) for axis in self.plan.axes)

    def row(self, number: int) -> Row:
        """Resolve the row of a number, counted from 0; values of the last axis vary fastest."""
        choice: list[Setting] = []
        for axis in reversed(self.plan.axes):
            number, place = divmod(number, len(axis))
            choice.append(axis[place])
        variant, bundle = self.bundles[number]
        return self._resolved(variant, self.plan.layers(bundle, choice[::-1]))

    def _resolved(self, variant: str, layers: Sequence[Sequence[Setting]]) -> Row:
        settings = [setting for layer in layers for setting in layer]
        machine = self.machines.machine(settings)
        workload = resolve_workload(settings, self.start, self.experiment.folder)
        system = self.systems.system(settings, None if machine is None else machine.native())
        run = _run(workload, machine, system)
        beside = None
        if workload.kernel is None:
            stored = system is not None and unmet_need_of_storage(run) is None
            beside = resolve_beside(settings, self.start, self.experiment.folder, stored=stored)
        if beside is not None:
            sides = (workload, *beside.workloads.values())
            each = [one.threads for one in sides]
            share_machine = beside.neighbours.share_machine
            if share_machine:
                check_caches(workload.values, workload.source)
            else:
                _check_asking(beside, run)
            if system is not None:
                check_beside(beside, system)
            run = replace(
                run,
                beside=beside.neighbours.native(),
                threads=sum(each) if share_machine else max(each),
                instructions=frozenset[str]().union(*(one.instructions or () for one in sides)),
            )
        self.effects.see(not_taken_away((self.named, *layers)), run)
        observe = self.experiment.body.observe
        if workload.kernel is None:
            if machine is None:
                raise self._missing("machine", workload.values)
            if beside is not None and beside.neighbours.share_machine:
                _check_cores(run.threads, machine, beside.source)
            for one in (workload, *(() if beside is None else beside.workloads.values())):
                _check_cores(one.threads, machine, one.source)
            neighbours = None if beside is None else beside.neighbours
            point = Point.on_machine(machine.native(), workload.values, observe, system=system, neighbours=neighbours)
        elif system is None:
            raise self._missing("storage", workload.values)
        elif observe:
            raise self.experiment.source.error(("observe",), "only what runs on a machine is observed; this workload runs on storage")
        else:
            self._check_room(workload, system)
            point = Point.on_storage(workload.kernel, system)
        parameters, written = parameters_of(point, self.machine_routes), None if machine is None else machine.source
        beside_source = None if beside is None else beside.source
        return Row(self.experiment.name, variant, parameters, point, self._asked(settings), workload.source, written, beside_source)

    def _check_room(self, workload: Resolved, system: System) -> None:
        """Raise UserError, where the workload says so, for what the system has no room for."""
        try:
            if isinstance(workload.kernel, Checked):
                workload.kernel.check(system)
        except MisfitError as error:
            raise workload.source.error((*error.within, error.parameter), str(error)) from None
        except UserError as error:
            raise workload.source.error((), str(error)) from None

    def _asked(self, settings: Sequence[Setting]) -> str:
        named = {part: self.experiment.source.data.get(part) for part in ("machine", PART, "observe")}
        return digest([named, [[setting.route, setting.value.data] for setting in settings]])

    def _missing(self, part: str, workload: dict[str, Any]) -> UserError:
        return self.experiment.source.error((), f"`{part}` is missing; a workload of kernel {workload['kernel']} runs on one", at_key=True)


def _run(workload: Resolved, machine: Machine | None, system: System | None) -> Run:
    on, storage = ({} if part is None else part.native() for part in (machine, system))
    return Run(workload.values, on, storage, threads=workload.threads, instructions=workload.instructions)


def _check_asking(beside: ResolvedBeside, run: Run) -> None:
    """Raise UserError for workloads of machines beside a run that ask its storage for nothing."""
    for name, one in beside.workloads.items():
        if (unmet := unmet_need_of_storage(replace(run, workload=one.values, threads=one.threads))) is not None:
            raise one.source.error((), f"{name}: it asks `storage` for nothing, which is for {unmet}; remove it")


def _check_cores(threads: int, machine: Machine, source: Sourced) -> None:
    """Raise UserError, which blames ``source``, for more threads than the machine has cores."""
    if (lack := machine.lack_of_cores(threads)) is not None:
        raise source.error((), lack)
