"""Machine files: found by name, laid over each other, overridden, checked, and handed to Rust as plain data."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memwalk.simcore.config_files import ConfigNotFoundError, find_config, names_in
from memwalk.simcore.dbms import PART, read_dbms
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine_schema import MachineFile, numbers
from memwalk.simcore.memories import first_memory
from memwalk.simcore.paths import configs
from memwalk.simcore.units import to_hertz
from memwalk.simcore.validation import nearest, validate
from memwalk.simcore.yaml_source import Route, Sourced, dotted, load, lookup

_ABOUT = ("source", "sources", "description", "schema_version", "extends", "name")
"""Keys of a machine file that say something about it; never inherited through ``extends``."""

_IN_WORDS = ("source", "sources", "description")
"""Those of them that may stand behind an override, beside numbers: nobody computes with them."""


@dataclass(frozen=True)
class Setting:
    """One override: the value that shall stand at ``route``, and where the user wrote it."""

    route: Route
    value: Sourced


@dataclass(frozen=True)
class MachineLayers:
    """A machine file as read, with the files it extends before it, the most basic first, and the DBMS profile over it."""

    file: Path
    layers: tuple[Sourced, ...]
    dbms: Sourced | None = None

    def with_dbms(self, name_or_path: str, folder: Path | None = None) -> "MachineLayers":
        """Return the same with a DBMS profile: a name of ours, or a path relative to ``folder``."""
        return replace(self, dbms=read_dbms(name_or_path, folder))

    def joined(self, overrides: Iterable[Setting] = ()) -> Sourced:
        """Lay the layers over each other, and overrides over them."""
        source = self.layers[0]
        for layer in self.layers[1:]:
            source = source.without(_ABOUT).merged(layer)
        if self.dbms is not None:
            source = source.replaced((PART,), self.dbms.below((PART,)))
        for setting in overrides:
            source = source.replaced(setting.route, setting.value)
        return source


@dataclass(frozen=True)
class Machine:
    """A checked machine. ``file`` is where it was read from, ``plain`` what the simulator takes: cycles, bytes and hertz as integers."""

    name: str
    file: Path
    description: str
    plain: dict[str, Any] = field(repr=False)
    source: Sourced = field(repr=False)
    sources: dict[str, str] = field(repr=False)
    """Where each number comes from, by its dotted path."""

    def native(self) -> dict[str, Any]:
        """Return the machine as `memwalk.simcore.engines.native` takes it: a copy of `plain`, to be changed."""
        return copy.deepcopy(self.plain)

    def conversions(self) -> list[str]:
        """States every latency that was written as a time and the cycles it became at this clock."""
        plain, clock = self.plain, self.plain["clock_hz"]
        stated = []
        for route in numbers(plain):
            written = self.source.get(route)
            if str(route[-1]).endswith("_cycles") and not str(written).rstrip().endswith(("cycle", "cycles")):
                stated.append(f"{dotted(route)}: {written} at {clock} Hz is {lookup(plain, dotted(route))} cycles")
        return stated

    def lack_of_cores(self, threads: int) -> str | None:
        """Say that the machine has fewer cores than that, each of which runs a thread, and what helps; None if it has enough."""
        cores = self.plain.get("cores", 1)
        if threads <= cores:
            return None
        remedy = f"set machine.cores: {threads}, or take fewer threads"
        return f"{threads} threads need as many cores, but machine {self.name} has {cores}; {remedy}"

    def derived(self) -> dict[str, Any]:
        """Return what follows from the numbers; memory is the first of several.

        ``sets`` (per cache), ``tlb_reach_bytes`` (per level, in pages of ``page_bytes``; ``huge_tlb_reach_bytes`` on machines
        with huge pages), ``peak_bandwidth_bytes_per_second`` of memory, and
        ``normalized_bandwidth``, the lines that can be fetched in the time of one miss: B = T1 / T_next (thesis 2.2.1).
        """
        caches, dtlb = self.plain["caches"], self.plain["dtlb"]
        full, bandwidth = self._memory()
        return {
            "sets": {cache["name"]: cache["size_bytes"] // (cache["line_bytes"] * cache["ways"]) for cache in caches},
            "tlb_reach_bytes": [level["entries"] * dtlb["page_bytes"] for level in dtlb["levels"]],
            **self._huge_reach(),
            "peak_bandwidth_bytes_per_second": bandwidth,
            "normalized_bandwidth": full * bandwidth / caches[-1]["line_bytes"],
        }

    def _huge_reach(self) -> dict[str, list[int]]:
        """Return what the TLB's levels reach in huge pages, if the machine has such."""
        dtlb = self.plain["dtlb"]
        if "huge_page_bytes" not in dtlb:
            return {}
        entries = [level.get("huge_entries", level["entries"]) for level in dtlb["levels"]]
        return {"huge_tlb_reach_bytes": [number * dtlb["huge_page_bytes"] for number in entries]}

    def _memory(self) -> tuple[float, float]:
        """Return the seconds that a miss takes when nothing else goes on, and the bytes that can come per second."""
        clock, memory = self.plain["clock_hz"], first_memory(self.plain)
        if memory["model"] == "fixed":
            line_bytes = self.plain["caches"][-1]["line_bytes"]
            return memory["latency_cycles"] / clock, line_bytes * clock / memory["interval_cycles"]
        facts = native.dram_facts(self.plain)
        return memory["path_latency_cycles"] / clock + facts["unloaded_latency_ps"] * 1e-12, facts["peak_bandwidth_bytes_per_second"]


def machines_folder() -> Path:
    """Return the folder of the machines that come with memwalk."""
    return configs() / "machines"


def machine_names() -> list[str]:
    """List the machines that come with memwalk, by name."""
    return names_in(machines_folder())


def find_machine(name_or_path: str, folder: Path | None = None) -> Path:
    """Find a machine file: a name of ours, or a path (with ``/`` or ``.yaml``), relative to ``folder``.

    Raises ConfigNotFoundError naming the nearest machine if there is none.
    """
    return find_config("machine", name_or_path, machines_folder(), folder)


def load_machine(name_or_path: str, overrides: Iterable[Setting] = (), folder: Path | None = None, dbms: str | None = None) -> Machine:
    """Read a machine file, lays it over the one it extends and the DBMS profile over it, applies the overrides and checks.

    Raises UserError, one line per mistake, for a file that cannot be read, an unknown key, a wrong unit, a number
    without a source, or a geometry that cannot be.
    """
    layers = read_machine(name_or_path, folder)
    return build_machine(layers if dbms is None else layers.with_dbms(dbms, folder), overrides)


def read_machine(name_or_path: str, folder: Path | None = None) -> MachineLayers:
    """Read a machine file and those it extends, without looking at what they say."""
    file = find_machine(name_or_path, folder)
    return MachineLayers(file, tuple(_layers(file, ())))


def is_in_words(route: Route) -> bool:
    """Tell whether what stands at a route in a machine only says what the machine is, or where its numbers come from."""
    return any(step in _IN_WORDS for step in route)


def build_machine(read: MachineLayers, overrides: Iterable[Setting] = ()) -> Machine:
    """Lays the layers over each other, applies the overrides and checks the result; errors as in `load_machine`."""
    name, settings = read.file.stem, tuple(overrides)
    source = read.joined(settings)
    _check_overrides(settings, source)
    try:
        plain = _plain(source)
    except UserError as error:
        raise _unlike_files(error, read, settings) or error from None
    if plain["name"] not in ("", name):
        raise source.error(("name",), f"name `{plain['name']}` is not the file's name; write `{name}` or leave it out")
    plain["name"] = name
    sources = _number_sources(plain, source, read.layers if read.dbms is None else (*read.layers, read.dbms))
    try:
        native.check_machine(plain)
    except native.SpecError as error:
        raise _misfit(error, read, settings) or spec_error(error, source) from None
    return Machine(name, read.file, source.data.get("description", ""), plain, source, sources)


def _check_overrides(overrides: Iterable[Setting], source: Sourced) -> None:
    """Raise UserError for overrides of what is read before them, and for sources of numbers that the machine does not have."""
    for one in overrides:
        if one.route == ("extends",):
            raise one.value.error((), "extends: stands in machine files, which are read before anything is set; name another machine")
    places = {spot.value for one in overrides for spot in one.value.spots.values()}
    _check_source_keys(source, [route for route, spot in source.spots.items() if spot.value in places])


def _plain(source: Sourced) -> dict[str, Any]:
    """Check single values of a machine and give it in the simulator's units."""
    first: Route = ("memory", 0) if isinstance(source.data.get("memory"), list) else ("memory",)
    checked = validate(MachineFile, source, {"clock_hz": _clock(source), "memory_folder": _folder(source, (*first, "config"))})
    return checked.model_dump(exclude_none=True)


def _misfit(error: native.SpecError, read: MachineLayers, overrides: Sequence[Setting]) -> UserError | None:
    """Blame an override, the last one without which the mistake would not be, for what a file says rightly; None if none is to blame.

    Then a file that extends others is blamed in the same way for what these say.
    """
    route, message = _parts(error)
    place = read.joined(overrides).spot(route).value
    if any(place == spot.value for one in overrides for spot in one.value.spots.values()):
        return None
    misfit = f"does not fit {dotted(route) or 'the machine'} at {place}: {message}"
    for number, one in reversed(list(enumerate(overrides))):
        if _refusal(read, (*overrides[:number], *overrides[number + 1 :])) != error.args:
            return one.value.error((), f"{dotted(one.route)} {misfit}")
    found = _culprit_in_layers(error, read, overrides, place.file)
    if found is None:
        return None
    layer, culprit = found
    return layer.error(culprit, f"{dotted(culprit)} {misfit}{_remedy_by_null(read, overrides, route, layer)}")


def _culprit_in_layers(
    error: native.SpecError, read: MachineLayers, overrides: Sequence[Setting], said_in: str
) -> tuple[Sourced, Route] | None:
    """Find the value without which a mistake that stands in one file would not be, in a file that extends it."""
    files = [layer.spot(()).value.file for layer in read.layers]
    if said_in not in files:
        return None
    for number in reversed(range(files.index(said_in) + 1, len(files))):
        layer = read.layers[number]
        for leaf in layer.leaves():
            if leaf[0] in _ABOUT or is_in_words(leaf):
                continue
            others = replace(read, layers=(*read.layers[:number], layer.removed(leaf), *read.layers[number + 1 :]))
            if _refusal(others, overrides) not in (None, error.args):
                return layer, leaf
    return None


def _remedy_by_null(read: MachineLayers, overrides: Sequence[Setting], route: Route, layer: Sourced) -> str:
    """Say how a file that extends another takes away what does not fit, if the machine can do without."""
    away = (*overrides, Setting(route, Sourced.uniform(None, layer.spot(()).value)))
    can_do_without = bool(route) and _refusal(read, away) == ()
    return f" (`{dotted(route)}: null` leaves it out)" if can_do_without else ""


def _unlike_files(error: UserError, read: MachineLayers, overrides: Sequence[Setting]) -> UserError | None:
    """Name the override, the last one without which files say nothing wrong, with which a key of theirs cannot stand; None if none is."""
    for number, one in reversed(list(enumerate(overrides))):
        place = one.value.spot(()).value
        lines = str(error).splitlines()
        if any(line.startswith(f"{place}:") for line in lines):
            return None
        try:
            _plain(read.joined((*overrides[:number], *overrides[number + 1 :])))
        except UserError:
            continue
        remedy = f"set {dotted(one.route[:-1])} as a whole" if len(one.route) > 1 else "set what it needs, too"
        return UserError("\n".join(f"{place}: {dotted(one.route)} does not fit {line}; {remedy}" for line in lines))
    return None


def _refusal(read: MachineLayers, overrides: Sequence[Setting]) -> tuple[Any, ...] | None:
    """Say what the simulator has against a machine; nothing if it takes it, and None if it never sees it, as a value is wrong by itself."""
    try:
        native.check_machine(_plain(read.joined(overrides)))
    except native.SpecError as error:
        return error.args
    except UserError:
        return None
    return ()


def spec_error(error: native.SpecError, source: Sourced) -> UserError:
    """Translate what Rust found wrong to the file and line where the user wrote it."""
    route, message = _parts(error)
    return source.error(route, source.named(route) + message)


def _parts(error: native.SpecError) -> tuple[Route, str]:
    """Return where in a machine a mistake is, and what it is."""
    path, message = error.args
    return tuple(int(step) if step.isdigit() else step for step in str(path).split(".") if step), str(message)


def _layers(file: Path, extended_by: tuple[Path, ...]) -> list[Sourced]:
    source = load(file)
    if not isinstance(source.data, dict):
        raise source.error((), "a machine file is a map of `key: value` lines")
    extends = source.data.get("extends")
    if extends is None:
        return [source]
    if not isinstance(extends, str):
        raise source.error(("extends",), "extends names one machine, as text")
    try:
        parent = find_machine(extends, file.parent)
    except ConfigNotFoundError as error:
        raise source.error(("extends",), str(error)) from None
    chain = (*extended_by, file.resolve())
    if parent.resolve() in chain:
        raise source.error(("extends",), f"`{extends}` extends this machine in turn; break the circle")
    return [*_layers(parent, chain), source]


def _clock(source: Sourced) -> int:
    """Return the clock, or any if it cannot be read: the validation of ``clock_hz`` says why, and that alone."""
    try:
        return to_hertz(source.data.get("clock_hz"))
    except ValueError:
        return 10**9


def _folder(source: Sourced, route: Route) -> Path:
    """Return the folder of the file that says what stands at ``route``; the current one for a command-line option."""
    file = Path(source.spot(route).value.file)
    return file.parent if file.is_file() else Path()


def _number_sources(plain: dict[str, Any], source: Sourced, layers: Iterable[Sourced]) -> dict[str, str]:
    """Find the source of every number in the layer that set it: an old source says nothing of a new value."""
    by_file = {layer.spot(()).value.file: layer for layer in layers}
    for layer in by_file.values():
        _check_source_keys(layer, layer.spots)
    found = {}
    for route in numbers(plain):
        place = source.spot(route).value
        setter = by_file.get(place.file)
        found[dotted(route)] = f"set at {place}" if setter is None else _source_in(setter, _route_in(setter, route, source))
    return found


def _route_in(layer: Sourced, route: Route, source: Sourced) -> Route:
    """Return the way to a number of ``source`` in the layer that set it, which may call items of lists by their names."""
    way: list[str | int] = []
    for depth, step in enumerate(route):
        if isinstance(step, int) and isinstance(items := layer.get(tuple(way)), dict):
            name = source.get(route[: depth + 1]).get("name")
            way.append(name if name in items else str(step))
        else:
            way.append(step)
    return tuple(way)


def _source_in(layer: Sourced, route: Route) -> str:
    """Take the text nearest to the number: ``sources`` before ``source``, inner sections before outer ones."""
    for depth in range(len(route) - 1, -1, -1):
        section = layer.get(route[:depth])
        if isinstance(section, dict):
            text = _named_sources(section).get(dotted(route[depth:])) or section.get("source")
            if text:
                return str(text)
    remedy = f"add `source: ...` to its section, or `sources: {{{route[-1]}: ...}}`"
    raise layer.error(route, f"{dotted(route)} has no source; {remedy}", at_key=True)


def _named_sources(section: dict[str, Any]) -> dict[str, Any]:
    named = section.get("sources")
    return named if isinstance(named, dict) else {}


def _check_source_keys(layer: Sourced, routes: Iterable[Route]) -> None:
    """Refuses, at some of its routes, a source for a number that its section does not give."""
    for route in routes:
        if route[-2:-1] == ("sources",):
            section = layer.get(route[:-2])
            if lookup(section, str(route[-1])) is None:
                known = [key for key in section if key not in _ABOUT]
                raise layer.error(route, f"sources: no `{route[-1]}` here; {nearest(str(route[-1]), known)}", at_key=True)
