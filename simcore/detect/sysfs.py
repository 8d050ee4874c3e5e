"""What Linux says about the processor in `/sys` and `/proc`: read, never guessed."""

from dataclasses import dataclass
from pathlib import Path

CPU = Path("/sys/devices/system/cpu/cpu0")
"""The folder of the first core."""
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
"""Which memory gets huge pages without being asked."""

_SUFFIXES = {"K": 2**10, "M": 2**20, "G": 2**30}
_DATA = ("Data", "Unified")


@dataclass(frozen=True)
class HostCache:
    """One level of cache that holds data."""

    level: int
    size_bytes: int
    line_bytes: int
    ways: int
    """0 if unknown."""
    shared_by: str
    """Cores, such as ``0-7``; empty if unknown."""
    source: str
    """Where these numbers come from."""


def read_caches(cpu: Path = CPU) -> tuple[list[HostCache], list[str]]:
    """List the caches of a core that hold data, nearest first, and what could not be read, one note each."""
    found: dict[int, HostCache] = {}
    notes = []
    folders = sorted(cpu.glob("cache/index*"))
    if not folders:
        notes.append(f"{cpu / 'cache'}: no caches listed")
    for folder in folders:
        try:
            kind = _text(folder / "type")
            if kind not in _DATA:
                continue
            cache = HostCache(
                level=int(_text(folder / "level")),
                size_bytes=_size(_text(folder / "size")),
                line_bytes=int(_text(folder / "coherency_line_size")),
                ways=_number(folder / "ways_of_associativity"),
                shared_by=_optional(folder / "shared_cpu_list"),
                source=str(folder),
            )
        except OSError as error:
            notes.append(f"{error.filename}: {error.strerror}; this cache is left out")
        except ValueError:
            notes.append(f"{folder}: no numbers where there should be; this cache is left out")
        else:
            if cache.size_bytes and cache.line_bytes:
                found[cache.level] = cache
            else:
                notes.append(f"{folder}: a size of 0; this cache is left out")
    return [found[level] for level in sorted(found)], notes


def highest_clock_hz(cpu: Path = CPU) -> int | None:
    """Return the highest clock of a core, if the system tells."""
    try:
        return int(_text(cpu / "cpufreq" / "cpuinfo_max_freq")) * 1000
    except (OSError, ValueError):
        return None


def huge_pages(enabled: Path = HUGE_PAGES) -> str | None:
    """Return which memory gets huge pages: ``always``, ``madvise`` or ``never``; None if the system does not tell."""
    words = _optional(enabled).split()
    return next((word.strip("[]") for word in words if word.startswith("[")), None)


def _text(path: Path) -> str:
    return path.read_text().strip()


def _optional(path: Path) -> str:
    try:
        return _text(path)
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _optional(path)
    return int(text) if text.isdigit() else 0


def _size(text: str) -> int:
    return int(text.rstrip("KMG")) * _SUFFIXES.get(text[-1:], 1)
