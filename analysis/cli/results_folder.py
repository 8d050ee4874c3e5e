"""Folders of commands that take a trace and write a few files: each holds the answer to one question, as those of `memwalk run` do."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwalk.analysis.experiments.manifest import COMPLETED, MANIFEST, UNFINISHED, Identity, claim_folder, write_manifest
from memwalk.analysis.experiments.points import Point, Row
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_folder, file_digest, remove, write_atomically


@dataclass(frozen=True)
class ResultsFolder:
    """A folder that a command may write into."""

    path: Path
    names: Sequence[str]
    """All files that the command may write there."""
    identity: Identity
    rows: Sequence[Row]
    started: float
    """A time of `time.monotonic` in seconds."""

    @classmethod
    def claim(
        cls,
        path: Path,
        names: Sequence[str],
        question: tuple[str, Path, Mapping[str, Any]],
        *,
        machine: dict[str, Any] | None = None,
        device: str | None = None,
    ) -> "ResultsFolder":
        """Make sure that ``path`` may hold the answer: what a command says of a trace with such options, on a machine or a device.

        Raises UserError, before any work is done, if it holds something else, or cannot be written.
        """
        expect_folder(path)
        command, trace, options = question
        asked = {"trace": trace.name, **_contents(trace), **{name: value for name, value in options.items() if value is not None}}
        parameters = {f"workload.{name}": value for name, value in asked.items()}
        if machine is not None:
            parameters["machine.name"] = machine["name"]
        if device is not None:
            parameters["storage.device"] = device
        point = Point.of(machine or {}, asked, storage={} if device is None else {"device": device})
        rows = [Row(command, "", parameters, point)]
        identity = Identity.of(command, rows)
        claim_folder(path, identity)
        if not (path / MANIFEST).exists() and (theirs := [name for name in names if (path / name).exists()]):
            raise UserError(f"{path}: holds {theirs[0]} without a {MANIFEST}, so that it is not known of what; choose another folder")
        return cls(path, names, identity, rows, time.monotonic())

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write the files; none of those of an answer before, which may have been others, stays beside them."""
        self._write_manifest(UNFINISHED)
        remove(self.path / name for name in self.names if name not in files)
        for name, content in files.items():
            write_atomically(self.path / name, content)
        self._write_manifest(COMPLETED)

    def _write_manifest(self, end_reason: str) -> None:
        write_manifest(self.path, self.identity, self.rows, end_reason, time.monotonic() - self.started)


def _contents(trace: Path) -> dict[str, str]:
    """Identify what a trace holds; a pipe can be read only once, and is known by its name."""
    if not trace.is_file():
        return {}
    try:
        return {"sha256": file_digest(trace)}
    except OSError:
        return {}  # whoever reads it says why it cannot be read
