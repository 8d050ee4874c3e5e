"""`--set` where a machine is all there is to set, and options that name a machine and what belongs to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from memwalk.analysis.experiments.effect import refuse_without_effect
from memwalk.analysis.experiments.layers import wholes_first
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.settings import parse_sets
from memwalk.simcore.config_files import from_here
from memwalk.simcore.dbms import PART
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting, load_machine
from memwalk.simcore.yaml_source import Place, Sourced


def machine_settings(texts: Sequence[str]) -> list[Setting]:
    """Read ``--set machine.a.b=value`` options as settings of a machine, wholes before parts, in whatever order they are written.

    Raises UserError for a path that is not below machine, and for one that is set twice.
    """
    return [_below_machine(setting) for setting in wholes_first(parse_sets(texts))]


def machine_of_cores(machine: str, texts: Sequence[str], cores: int) -> dict[str, Any]:
    """Read a native machine, with ``--set`` options, for advice on so many cores. Raises UserError for a setting without effect there."""
    settings = machine_settings(texts)
    if any(setting.route == ("cores",) for setting in settings):
        raise UserError("--set machine.cores: the number of cores is --cores here")
    loaded = load_machine(machine, settings).native()
    refuse_without_effect(parse_sets(texts), Run(machine=loaded, threads=cores))
    return loaded


def named_by_options(machine: str | None = None, dbms: str | None = None) -> list[Setting]:
    """Override what an experiment names by ``--machine`` and ``--dbms``; a path is relative to where the user is, not to the experiment."""
    return [_named(part, name) for part, name in (("machine", machine), (PART, dbms)) if name is not None]


def one_core(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return a native machine with one core, and without what only several have."""
    return {name: value for name, value in machine.items() if name not in ("cores", "coherence")}


def with_cores(machine: Mapping[str, Any], cores: int) -> dict[str, Any]:
    """Return a native machine with so many cores, whose caches know of each other as its file says."""
    return {**machine, "cores": cores} if cores > 1 else one_core(machine)


def _named(part: str, name: str) -> Setting:
    return Setting((part,), Sourced.uniform(from_here(name), Place(f"--{part} {name}")))


def _below_machine(setting: Setting) -> Setting:
    if setting.route[0] != "machine" or len(setting.route) == 1:
        raise setting.value.error((), "paths below machine only, such as machine.memory.latency_cycles")
    return Setting(setting.route[1:], setting.value)
