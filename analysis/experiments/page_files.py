"""Page files that workloads name: found beside the experiment, known by their content, and asked what they decide."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from memwalk.analysis.experiments.parameters import Parameter, are_met, kernels
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import file_digest
from memwalk.simcore.units import to_bytes, to_count
from memwalk.simcore.yaml_source import Sourced


@dataclass(frozen=True)
class NamedFile:
    """A page file, and the parameter that names it."""

    parameter: str
    path: Path
    """Absolute."""
    sha256: str
    decides: dict[str, Any]
    """Parameters that it decides about, with their values."""

    def native(self) -> dict[str, Any]:
        """Return the parameter's value as kernels take it: another content is another workload."""
        return {"path": str(self.path), "sha256": self.sha256}

    def completed(self, source: Sourced, declared: Iterable[Parameter]) -> Sourced:
        """Lay what the file decides below what a workload says. Raises UserError where that says something else."""
        known = {one.name: one for one in declared}
        for name, held in self.decides.items():
            if name in source.data and not _agrees(known[name], source.data[name], held):
                raise source.error(
                    (name,), f"{name}: {source.data[name]}, but the index in {self.path} has {held}; write that or remove it"
                )
        place = source.spot((self.parameter,)).value
        for name, held in self.decides.items():
            if name not in source.data and are_met(known[name].applies, self.decides):
                source = source.replaced((name,), Sourced.uniform(held, place))
        return source


def named_file(source: Sourced, folder: Path) -> NamedFile | None:
    """Find the page file that a workload names, relative to ``folder``; None if it names none. Raises UserError if it is none."""
    for one in declared_parameters(source):
        value = source.data.get(one.name)
        if one.is_file and isinstance(value, str):
            path = (folder / value).absolute()
            try:
                return NamedFile(one.name, path, _content(path), native.index_info(path)["parameters"])
            except UserError as error:
                raise source.error((one.name,), f"{one.name}: {error}") from None
    return None


def declared_parameters(source: Sourced) -> list[Parameter]:
    """Return the parameters of the kernel that a workload names; none if that is no kernel that runs on machines."""
    kernel = source.data.get("kernel") if isinstance(source.data, dict) else None
    return kernels()[kernel].parameters if isinstance(kernel, str) and kernel in kernels() else []


def _content(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    try:
        about = path.stat()
        return _digest(path, about.st_mtime_ns, about.st_size, about.st_ino) if path.is_file() else ""
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a page file, which `memwalk index build` writes") from None


@lru_cache(maxsize=64)
def _digest(path: Path, *_version: int) -> str:
    return file_digest(path)


def _agrees(parameter: Parameter, given: Any, held: Any) -> bool:
    """Tell whether what was written for a parameter is what a file has; of shares the simulator says it, which knows of what they are."""
    if isinstance(held, float):
        return True
    try:
        if isinstance(held, int):
            given = to_bytes(given) if parameter.unit == "bytes" and isinstance(given, str) else to_count(given)
    except ValueError:
        return False
    return bool(given == held)
