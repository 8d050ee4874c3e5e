"""Finished points, one JSON file each: what makes a run resumable."""

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memwalk.analysis.experiments.points import Point, digest
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import make_folder, refusal, write_atomically

log = logging.getLogger("memwalk")


class PointStore:
    """The folder of finished points of one results folder.

    A file holds the point, its statistics, the hash of both, and the simulator that computed them.
    """

    def __init__(self, folder: Path, build: dict[str, str]) -> None:
        self.folder = folder
        self.simulator = {key: build[key] for key in ("version", "commit")}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Make the folder and holds it for this process alone. Raises UserError if another run has it."""
        make_folder(self.folder)
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UserError(f"{self.folder}: another memwalk is writing here; wait for it or choose another --out") from None
        except OSError as error:
            os.close(descriptor)
            raise refusal(self.folder, error) from None
        try:
            yield
        finally:
            os.close(descriptor)

    def path(self, point: Point) -> Path:
        """Return the file of a point."""
        return self.folder / f"{point.id}.json"

    def save(self, point: Point, statistics: Statistics) -> None:
        """Keep a finished point, at once and whole."""
        content = point.content() | {"statistics": statistics}
        content |= {"simulator": self.simulator, "sha256": digest(content)}
        write_atomically(self.path(point), (json.dumps(content, indent=1) + "\n").encode())

    def load(self, point: Point) -> Statistics | None:
        """Return a finished point's statistics; None if it must be simulated (again).

        Raises UserError if another simulator computed it: results of two simulators do not belong in one table.
        """
        path = self.path(point)
        try:
            content = read_point(path)
        except FileNotFoundError:
            return None
        except UserError as error:
            log.warning("%s; it is simulated again", error)
            return None
        if content["simulator"] != self.simulator:
            theirs, ours = (" ".join(one.values()) for one in (content["simulator"], self.simulator))
            raise UserError(f"{path}: computed by memwalk {theirs}, but this is memwalk {ours}; choose another --out")
        statistics: Statistics = content["statistics"]
        return statistics


def read_point(path: Path) -> dict[str, Any]:
    """Read the file of a finished point. Raises FileNotFoundError, or UserError if it is damaged or foreign."""
    try:
        content = json.loads(path.read_bytes())
        hashed = {key: value for key, value in content.items() if key not in ("simulator", "sha256")}
        if content["sha256"] == digest(hashed) and Point.read(content).id == content["point"]:
            assert isinstance(content, dict)
            return content
    except (ValueError, KeyError, TypeError):
        pass
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; a point's file is expected") from None
    raise UserError(f"{path}: is no undamaged point of a memwalk run")
