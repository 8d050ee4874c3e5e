"""The storage that an experiment names: device, disks, volume and queue, checked and resolved to a system."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from memwalk.simcore.config_files import ConfigNotFoundError
from memwalk.simcore.machine import Setting
from memwalk.simcore.storage.device import MOST_DEVICES
from memwalk.simcore.storage.device_file import DeviceFile, device_of, find_device
from memwalk.simcore.storage.queues import FCFS, QueueKind
from memwalk.simcore.storage.system import STRIPE_BLOCKS, StepKind, System, VolumeKind
from memwalk.simcore.units import BytesPerSecond, Picoseconds, PositiveCount
from memwalk.simcore.validation import StrictModel, validate
from memwalk.simcore.yaml_source import Sourced, dotted, load, lookup

STORAGE = "storage"
"""The key of an experiment under which its storage stands, and the root of paths into it."""

MOST_TOGETHER = 1 << 16
"""Pages that may be read or written together."""

_LONGEST_CPU = 10**12
"""A second: no operating system takes as long for a page."""

_PARAMETERS = "parameters"


class StorageSetting(StrictModel):
    """A device, how many of it, and what is laid over them. A name alone stands for one device."""

    device: str = Field(description="A device's name, or a path relative to this file")
    disks: PositiveCount = Field(1, le=MOST_DEVICES, description="Equal devices")
    volume: VolumeKind = Field("single", description="How blocks are laid out over them")
    queue: QueueKind = Field(FCFS, description="Which waiting request each of them serves next")
    stripe_blocks: PositiveCount = Field(STRIPE_BLOCKS, description="Striped volumes: blocks of 512 bytes in a row on one disk")
    depth: PositiveCount = Field(4, description="Atropos volumes: tracks of a quadrangle")
    step: StepKind = Field("read", description="Atropos volumes: what semi-sequential access loses no turn for")
    bus: BytesPerSecond | None = Field(None, gt=0, description="Bandwidth of a bus that the devices share; each has its own if absent")
    read_pages: PositiveCount = Field(1, le=MOST_TOGETHER, description="Beside a machine: pages that are read together")
    write_batch: PositiveCount | None = Field(
        None,
        le=MOST_TOGETHER,
        description="Beside a machine: pages for a device that are kept back and written together; each is written at once if absent",
    )
    prefetchers: PositiveCount | None = Field(
        None,
        le=MOST_TOGETHER,
        description="Beside a machine: processes that read pages ahead, each one at a time; devices are asked for all at once if absent",
    )
    cpu_per_page: Picoseconds = Field(
        0,
        ge=0,
        le=_LONGEST_CPU,
        description="Beside a machine: time of a core that the operating system takes to have a page read or written",
    )
    parameters: dict[str, Any] = Field({}, description="Values laid over the device's file")


class Systems:
    """Reads the devices of one experiment, each file once."""

    def __init__(self, folder: Path, parameter_paths: Iterable[str]) -> None:
        """``folder`` is where relative paths begin; ``parameter_paths`` are those that columns are made of."""
        self.folder = folder
        self.parameter_paths = list(parameter_paths)
        self.sources: dict[Path, Sourced] = {}

    def system(self, settings: Iterable[Setting], machine: dict[str, Any] | None) -> System | None:
        """Lay the settings below ``storage`` over each other; None if there are none.

        Raises UserError with the place of each mistake.
        """
        source = _merged(settings)
        if source is None:
            return None
        setting = validate(StorageSetting, source)
        device = self._device(source, setting)
        plain = {name: getattr(setting, name) for name in StorageSetting.model_fields if name not in ("device", _PARAMETERS)}
        system = System(device, **plain, parameters=self._parameters(device, setting), machine=machine)
        try:
            system.layout()
        except ValueError as error:
            raise source.error((), str(error)) from None
        return system

    def _parameters(self, device: DeviceFile, setting: StorageSetting) -> dict[str, Any]:
        """Give the device's values of what the experiment sets somewhere; one value that stands for several, as it was written."""
        resolved = device.model_dump(mode="json")
        values = {path: lookup(resolved, path) for path in self.parameter_paths}
        return {path: lookup(setting.parameters, path) if isinstance(value, dict | list) else value for path, value in values.items()}

    def _device(self, source: Sourced, setting: StorageSetting) -> DeviceFile:
        try:
            path = find_device(setting.device, self.folder)
        except ConfigNotFoundError as error:
            raise source.error(("device",), str(error)) from None
        if path not in self.sources:
            self.sources[path] = load(path)
        file = self.sources[path]
        return device_of(file.merged(source.below((_PARAMETERS,))) if setting.parameters else file, path.stem)


def parameter_paths(settings: Iterable[Setting]) -> list[str]:
    """List the dotted paths into a device's file that settings give values for, in order of appearance."""
    found: dict[str, None] = {}
    for setting in settings:
        if setting.route[0] == STORAGE and (source := _merged([setting])) is not None:
            found |= dict.fromkeys(_leaves(source))
    return list(found)


def storage_columns(storage: dict[str, Any]) -> dict[str, Any]:
    """Flatten what `System.native` returned to parameters by dotted path: ``storage.device``, ``storage.parameters.<path>``."""
    plain = {f"{STORAGE}.{name}": value for name, value in storage.items() if name not in (_PARAMETERS, "facts")}
    return plain | {f"{STORAGE}.{_PARAMETERS}.{path}": value for path, value in storage[_PARAMETERS].items()}


def _merged(settings: Iterable[Setting]) -> Sourced | None:
    source = None
    for setting in settings:
        if setting.route[0] != STORAGE:
            continue
        if len(setting.route) > 1:
            source = (source or Sourced.uniform({}, setting.value.spot(()).value)).replaced(setting.route[1:], setting.value)
        elif isinstance(setting.value.data, str):
            source = Sourced.uniform({}, setting.value.spot(()).value).replaced(("device",), setting.value)
        else:
            source = setting.value if setting.value.data is not None else None
    return source


def _leaves(source: Sourced) -> Sequence[str]:
    """List the values below ``parameters`` that are no maps."""
    routes = [route[1:] for route in source.spots if len(route) > 1 and route[0] == _PARAMETERS]
    inner = {route[:end] for route in routes for end in range(len(route))}
    return [dotted(route) for route in routes if route not in inner]
