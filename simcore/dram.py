"""The ini files that describe a DRAM to DRAMSim3: ours by name, others by path. What they say is checked in Rust."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, WithJsonSchema

from memwalk.simcore.paths import configs
from memwalk.simcore.validation import nearest


class DramFile(BaseModel):
    """An ini file as the machine file names it, and what it holds."""

    model_config = ConfigDict(frozen=True)

    path: str
    text: str


def find_dram(name: str, folder: Path) -> Path:
    """Find an ini file: beside the machine file in ``folder``, or one of those that come with memwalk.

    Raises ValueError naming the nearest of ours if there is none.
    """
    ours = configs() / "dram"
    for path in (folder / name, ours / name):
        if path.is_file():
            return path
    known = sorted(path.name for path in ours.glob("*.ini"))
    raise ValueError(f"`{name}` is neither beside the machine file nor in {ours}; {nearest(name, known)}")


def _read(value: Any, info: ValidationInfo) -> DramFile:
    if not isinstance(value, str):
        raise ValueError("config names an ini file for DRAMSim3, as text; write for example ddr4-3200.ini")
    path = find_dram(value, (info.context or {}).get("memory_folder") or Path())
    try:
        return DramFile(path=value, text=path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"`{value}` cannot be read: {error}") from None


DramConfig = Annotated[DramFile, BeforeValidator(_read), WithJsonSchema({"type": "string", "examples": ["ddr4-3200.ini"]})]
"""An ini file, read. ``memory_folder`` in the validation context is where it is looked for first."""
