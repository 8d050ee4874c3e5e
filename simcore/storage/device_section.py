"""What device files of every kind begin with."""

from typing import Any, Literal, Self

from pydantic import Field

from memwalk.simcore.section import Section


class DeviceSection(Section):
    """A device; the kinds add ``kind`` and what their models need."""

    schema_version: Literal[1]
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    description: str

    def facts(self) -> dict[str, Any]:
        """Return what the device's times depend on, as plain numbers: blocks, bytes, nm, ps, bits or bytes per second."""
        return self.model_dump(exclude={"schema_version", "name", "description", "source", "sources"})

    def on_bus(self, bytes_per_second: int) -> Self:  # noqa: ARG002 (kinds with a bus use it)
        """Return the device behind a bus of so many bytes per second, if its own is faster; a kind without one stays as it is."""
        return self
