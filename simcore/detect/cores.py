"""What cannot be detected: the pipeline. It is taken from a machine file of ours with the same core, or the nearest."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT = "zen4-server"
"""The machine whose core stands for one that none of ours has: a wide out-of-order core of today."""

CPUINFO = Path("/proc/cpuinfo")

_AMD_ZEN4 = [*range(0x10, 0x20), *range(0x60, 0x80), *range(0xA0, 0xB0)]
"""Models of family 25 that are Zen 4, from the Linux kernel's arch/x86/kernel/cpu/amd.c."""

_ARM_NEOVERSE_V1 = ("0x41", "0xd40")
"""Implementer and part, from the Linux kernel's arch/arm64/include/asm/cputype.h."""


@dataclass(frozen=True)
class CoreModel:
    """The machine whose core is assumed, and why."""

    machine: str
    reason: str


def assumed_core(processor: dict[str, Any], cpuinfo: Path = CPUINFO) -> CoreModel:
    """Choose the machine whose core this processor has; the default, and a reason that says so, if none of ours does."""
    family, model = processor["family"], processor["model"]
    if processor["vendor"] == "AuthenticAMD" and family == 0x19 and model in _AMD_ZEN4:
        return CoreModel("zen4-server", f"CPUID family {family} model {model} is Zen 4")
    if _arm_identity(cpuinfo) == _ARM_NEOVERSE_V1:
        return CoreModel("graviton3", f"{cpuinfo} names a Neoverse V1")
    named = f"CPUID {processor['vendor']} family {family} model {model}" if processor["vendor"] else "this processor"
    return CoreModel(DEFAULT, f"no machine of ours has the core of {named}; {DEFAULT} stands in for it")


def _arm_identity(cpuinfo: Path) -> tuple[str, str]:
    try:
        lines = [line.partition(":") for line in cpuinfo.read_text().splitlines()]
    except OSError:
        return ("", "")
    fields = {key.strip(): value.strip() for key, _, value in lines}
    return (fields.get("CPU implementer", ""), fields.get("CPU part", ""))
