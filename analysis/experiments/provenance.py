"""What computed a point: digests of the native module, of the Python that simulates, and the versions of libraries."""

import hashlib
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from memwalk import analysis, simcore, traces, workloads
from memwalk.analysis import storage_workloads
from memwalk.simcore import _native
from memwalk.simcore.files import file_digest

Provenance: TypeAlias = dict[str, str]
"""What computed a point, by part: `NATIVE`, `PYTHON` and, where they had a hand in it, `LIBRARIES`."""

NATIVE = "native module"
PYTHON = "Python sources"
LIBRARIES = "library versions"

_OF_ALL = ("capacities.py", "experiments/simulation.py", "experiments/storage_time.py")
"""Modules of `memwalk.analysis` that results of all points pass through."""
_OF_SEVERAL = (
    "causes.py",
    "experiments/beside.py",
    "experiments/beside_run.py",
    "experiments/one_machine.py",
    "experiments/slower.py",
    "slots.py",
)
"""Those that results of points with storage, or with neighbours, pass through, too."""


@cache
def provenance(*, alone: bool) -> Provenance:
    """Return what computes points in this process: those of one workload on a processor ``alone``, or those with storage or neighbours.

    The processor is simulated by the native module (DRAMSim3 is in it), and Python only hands things over. Storage is Python. Files are
    read once: what is changed under a running process counts for the next one.
    """
    handing_over = [_folder(simcore) / "engines" / "native.py", *(_folder(analysis) / name for name in _OF_ALL)]
    if alone:
        return {NATIVE: _native_digest(), PYTHON: _digest(handing_over)}
    packages = [_folder(package) for package in (simcore, traces, workloads, storage_workloads)]
    handing_over += [_folder(analysis) / name for name in _OF_SEVERAL]
    sources = [*handing_over, *(path for package in packages for path in package.rglob("*.py"))]
    libraries = f"Python {'.'.join(platform.python_version_tuple()[:2])}, simpy {version('simpy')}"
    return {NATIVE: _native_digest(), PYTHON: _digest(sources), LIBRARIES: libraries}


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Name the parts in which two provenances differ."""
    return [part for part in dict.fromkeys([*ours, *theirs]) if theirs.get(part) != ours.get(part)]


@cache
def _native_digest() -> str:
    return file_digest(Path(str(_native.__file__)))


def _digest(files: Iterable[Path]) -> str:
    """Hash files, names included; the same wherever memwalk is installed."""
    root = _folder(simcore).parent
    found = hashlib.sha256()
    for name, path in sorted({path.relative_to(root).as_posix(): path for path in files}.items()):
        content = path.read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _folder(package: object) -> Path:
    return Path(str(package.__file__)).parent  # type: ignore[attr-defined]
