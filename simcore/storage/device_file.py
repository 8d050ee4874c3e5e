"""Device files: a storage device as data, in ``configs/devices`` or anywhere."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from simcore.errors import UserError
from simcore.paths import configs
from simcore.storage.device import SequentialRandomDevice
from simcore.units import Bytes, Picoseconds
from simcore.validation import StrictModel, nearest, validate
from simcore.yaml_source import load


class DeviceNotFoundError(UserError):
    """No device file has that name or path."""


class DeviceFile(StrictModel):
    """A device whose pages cost one of two times. ``source`` says where the numbers come from."""

    schema_version: Literal[1]
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    description: str
    source: str
    kind: Literal["sequential-random"]
    page_bytes: Bytes = Field(description="Size of the pages that the two times are for")
    sequential_page: Picoseconds = Field(description="Time of a page that follows the one before")
    random_page: Picoseconds = Field(description="Time of any other page")

    @model_validator(mode="after")
    def _ordered(self) -> "DeviceFile":
        if not 0 < self.sequential_page <= self.random_page:
            raise ValueError("a random page takes no less time than a sequential one, and both take some; exchange or correct them")
        return self

    def facts(self) -> dict[str, Any]:
        """Return what the device's times depend on, as plain numbers (bytes and picoseconds)."""
        return self.model_dump(include={"name", "kind", "page_bytes", "sequential_page", "random_page"})

    def device(self, page_bytes: int) -> SequentialRandomDevice:
        """Make the device for pages of ``page_bytes``: the transfer grows with the page, the way to it does not."""
        sequential = round(self.sequential_page * page_bytes / self.page_bytes)
        return SequentialRandomDevice(sequential, sequential + self.random_page - self.sequential_page)


def device_names() -> list[str]:
    """List the devices that come with memwalk, by name."""
    return sorted(path.stem for path in (configs() / "devices").glob("*.yaml"))


def load_device(name_or_path: str, folder: Path | None = None) -> DeviceFile:
    """Read a device: a name of ours, or a path (with ``/`` or ``.yaml``), relative to ``folder``.

    Raises UserError for an unknown name, with the nearest one, and for mistakes in the file, each with its line.
    """
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        path = (folder or Path()) / name_or_path
        if not path.exists():
            known = ", ".join(device_names())
            raise DeviceNotFoundError(f"storage device {name_or_path}: no such file ({path}); name a device file or one of {known}")
    else:
        path = configs() / "devices" / f"{name_or_path}.yaml"
        if not path.is_file():
            raise DeviceNotFoundError(f"storage device `{name_or_path}`: not in {path.parent}; {nearest(name_or_path, device_names())}")
    source = load(path)
    file = validate(DeviceFile, source)
    if file.name not in ("", path.stem):
        raise source.error(("name",), f"name `{file.name}` is not the file's name; write `{path.stem}` or leave it out")
    return file.model_copy(update={"name": path.stem})
