"""Finished points, one JSON file each: what makes a run resumable."""

import fcntl
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memwalk.analysis.experiments.canonical import digest
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.provenance import differences
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import make_folder, refusal, remove_unfinished, write_atomically
from memwalk.simcore.json_text import json_text

POINTS = "points"
"""The folder's name, in a results folder."""

log = logging.getLogger("memwalk")


class PointStore:
    """The folder of finished points of one results folder.

    A file holds the point, its statistics, what computed them, and the hash of it all.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def open(self) -> Iterator[None]:
        """Make the folder and holds it for this process alone. Raises UserError if another run has it."""
        make_folder(self.folder)
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UserError(f"{self.folder}: another memwalk is writing here; wait for it or choose another folder") from None
        except OSError as error:
            os.close(descriptor)
            raise refusal(self.folder, error) from None
        try:
            remove_unfinished(self.folder)
            yield
        finally:
            os.close(descriptor)

    def is_empty(self) -> bool:
        """Tell whether no point is finished. Raises UserError if another run has the folder, and may finish some."""
        if not self.folder.is_dir():
            return True
        with self.open():
            return not any(self.folder.glob("*.json"))

    def path(self, point: Point) -> Path:
        """Return the file of a point."""
        return self.folder / f"{point.id}.json"

    def save(self, point: Point, statistics: Statistics) -> None:
        """Keep a finished point, at once and whole."""
        content = point.content() | {"statistics": statistics, "computed_by": point.provenance()}
        content |= {"sha256": digest(content)}
        write_atomically(self.path(point), (json_text(content, indent=1) + "\n").encode())

    def load(self, points: Iterable[Point]) -> dict[str, Statistics]:
        """Return the statistics of finished points by id. The others must be simulated (again); one line says how many have been.

        What other code computed does not count: results of two simulators do not belong in one table.
        """
        found: dict[str, Statistics] = {}
        outdated: Counter[str] = Counter()
        number = 0
        for point in points:
            content = self._read(point)
            if content is None:
                continue
            if changed := differences(content.get("computed_by", {}), point.provenance()):
                outdated.update(changed)
                number += 1
            else:
                found[point.id] = content["statistics"]
        if number:
            which = ", ".join(f"{part} of {times}" if times < number else part for part, times in outdated.items())
            subject, again = ("1 point was", "it is") if number == 1 else (f"{number:,} points were", "they are")
            log.warning("%s: %s computed by other code (what differs: %s); %s computed again", self.folder, subject, which, again)
        return found

    def _read(self, point: Point) -> dict[str, Any] | None:
        path = self.path(point)
        try:
            return read_point(path)
        except FileNotFoundError:
            return None
        except UserError as error:
            log.warning("%s; it is simulated again", error)
            return None


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
