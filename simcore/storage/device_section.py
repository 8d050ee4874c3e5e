"""What device files of every kind begin with."""

from typing import Literal

from pydantic import Field

from memwalk.simcore.section import Section


class DeviceSection(Section):
    """A device; the kinds add ``kind`` and what their models need."""

    schema_version: Literal[1]
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    description: str
