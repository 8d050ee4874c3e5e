"""Device files: storage devices as data, in ``configs/devices`` or anywhere; ``kind`` says which model reads one."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter

from memwalk.simcore.config_files import find_config, names_in
from memwalk.simcore.paths import configs
from memwalk.simcore.storage.disk import DiskFile
from memwalk.simcore.storage.mems import MemstoreFile
from memwalk.simcore.storage.sequential_random import SequentialRandomFile
from memwalk.simcore.storage.ssd import SsdFile
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import Sourced, load

DeviceFile: TypeAlias = Annotated[SequentialRandomFile | DiskFile | MemstoreFile | SsdFile, Field(discriminator="kind")]
"""A device file of any kind. Every kind has ``name``, ``description``, ``source``, ``kind``, ``facts()`` and ``device()``."""

_ADAPTER: TypeAdapter[DeviceFile] = TypeAdapter(DeviceFile)


def device_names() -> list[str]:
    """List the devices that come with memwalk, by name."""
    return names_in(_ours())


def find_device(name_or_path: str, folder: Path | None = None) -> Path:
    """Find a device's file: a name of ours, or a path (with ``/`` or ``.yaml``), relative to ``folder``.

    Raises ConfigNotFoundError with the nearest name.
    """
    return find_config("storage device", name_or_path, _ours(), folder)


def load_device(name_or_path: str, folder: Path | None = None) -> DeviceFile:
    """Read a device by name or path.

    Raises ConfigNotFoundError if there is none, UserError for mistakes in the file, each with its line.
    """
    path = find_device(name_or_path, folder)
    return device_of(load(path), path.stem)


def device_of(source: Sourced, name: str) -> DeviceFile:
    """Check a device that was read and perhaps changed; ``name`` is its file's. Raises UserError, one line per mistake."""
    file = validate(_ADAPTER, source)
    if file.name not in ("", name):
        raise source.error(("name",), f"name `{file.name}` is not the file's name; write `{name}` or leave it out")
    return file.model_copy(update={"name": name})


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a device file of any kind, for editors."""
    return _ADAPTER.json_schema()


def _ours() -> Path:
    return configs() / "devices"
