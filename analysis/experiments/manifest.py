"""What a results folder belongs to and where it came from: `manifest.json`."""

import json
import logging
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from memwalk.analysis.experiments.points import Row, asked_hash, config_hash
from memwalk.analysis.experiments.provenance import Provenance
from memwalk.analysis.experiments.store import POINTS, PointStore
from memwalk.analysis.storage_workloads.together import PROGRAMS
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import remove, write_atomically
from memwalk.simcore.json_text import json_text

# What a results folder holds besides its points.
MANIFEST = "manifest.json"
RESULTS = "results.parquet"
BREAKDOWN = "breakdown.parquet"
USAGE = "usage.parquet"
CURVES = "curves.parquet"
CORES = "cores.parquet"
SITES = "sites.parquet"
UNFINISHED = "unfinished"
COMPLETED = "completed"
INTERRUPTED = "interrupted"
FAILED = "failed"
TABLES = (RESULTS, BREAKDOWN, USAGE, CURVES, CORES)
_LIBRARIES = ("numpy", "pandas", "pyarrow", "pydantic", "ruamel.yaml", "simpy")

log = logging.getLogger("memwalk")


@dataclass(frozen=True)
class Identity:
    """What results are results of. A folder holds those of one identity only."""

    id: str
    config_hash: str
    asked_hash: str
    computed_by: Sequence[Provenance]

    @classmethod
    def of(cls, name: str, rows: Sequence[Row]) -> "Identity":
        """Make the identity of an experiment's or figure's rows, computed by this process."""
        computed_by: list[Provenance] = []
        for one in (row.point.provenance() for row in rows):
            if one not in computed_by:
                computed_by.append(one)
        return cls(name, config_hash(rows), asked_hash(rows), computed_by)


def claim_folder(folder: Path, identity: Identity) -> bool:
    """Make sure that ``folder`` may hold these results; returns whether they are complete already.

    They are not if other code computed them, or if a file that the experiment names (a machine's, a device's) has changed since.
    Raises UserError if the folder holds the answer to another question, or part of it: that is never overwritten. A run that ended
    before its first point holds nothing, so that a mistake can be mended and the same command given again.
    """
    path = folder / MANIFEST
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: is a file; choose a folder")
    try:
        manifest = json.loads(path.read_text())
        theirs = (manifest["id"], manifest["config_hash"])
        same = theirs == (identity.id, identity.config_hash)
        asks_the_same = manifest["id"] == identity.id and manifest.get("asked_hash") == identity.asked_hash
    except (FileNotFoundError, NotADirectoryError):
        if (folder / RESULTS).exists():
            raise UserError(f"{folder}: holds results without a manifest; choose another folder") from None
        return False
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: is no manifest of a memwalk run; choose another folder") from None
    if not same and asks_the_same:
        log.warning("%s: files that the experiment names, or defaults, have changed since; what depends on them is computed again", folder)
        return False
    if not same and manifest.get("end_reason") != COMPLETED and PointStore(folder / POINTS).is_empty():
        return False
    if not same:
        raise UserError(
            f"{folder}: holds the results of another configuration ({theirs[0]}, {theirs[1][:12]}; this is "
            f"{identity.id}, {identity.config_hash[:12]}); choose another folder"
        )
    return bool(manifest.get("end_reason") == COMPLETED and manifest.get("computed_by") == list(identity.computed_by))


def write_manifest(folder: Path, identity: Identity, rows: Sequence[Row], end_reason: str, wall_seconds: float) -> None:
    """Write the manifest: identity, seeds, versions, build, host, wall time (seconds, of this call alone) and how the run ended.

    A run that begins (`UNFINISHED`) takes away the tables of the one before: they would not be those of this manifest.
    """
    if end_reason == UNFINISHED:
        remove(folder / name for name in TABLES)
    content = {
        "schema_version": 1,
        "id": identity.id,
        "config_hash": identity.config_hash,
        "asked_hash": identity.asked_hash,
        "computed_by": list(identity.computed_by),
        "end_reason": end_reason,
        "rows": len(rows),
        "points": len({row.point.id for row in rows}),
        "seeds": sorted({seed for row in rows for one in (row.point.workload, {PROGRAMS: row.point.beside}) for seed in _seeds(one)}),
        "machines": sorted({row.point.machine["name"] for row in rows if row.point.machine}),
        "devices": sorted({str(name) for row in rows if (name := row.parameters.get("storage.device")) is not None}),
        "simulator": native.build_info(),
        "git": git_state(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "host": {"name": platform.node(), "system": platform.platform(), "processor": platform.machine()},
        "wall_seconds": round(wall_seconds, 3),
    }
    write_atomically(folder / MANIFEST, (json_text(content, indent=1) + "\n").encode())


def _seeds(workload: Mapping[str, Any]) -> Iterator[int]:
    """Give the seed of a workload, or those of the programs that it has."""
    if "seed" in workload:
        yield workload["seed"]
    for program in workload.get(PROGRAMS, {}).values():
        yield from _seeds(program)


def git_state() -> dict[str, Any]:
    """Return commit and dirty flag of the checkout that the code runs from; None outside a checkout."""
    here = Path(__file__).resolve().parent
    try:
        commit = _git(here, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(here, "status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return {"commit": None, "dirty": None}


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
