"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from memwalk.simcore.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the name ``path`` when it is whole and on the disk.

    A reader, or a run killed at any moment, finds the old content or the new, nothing between. A link is followed: what it leads to is
    replaced. Raises UserError, and leaves nothing behind, if the system refuses (no permission, disk full) or if something else
    than a regular file has the name: a device or a pipe would cease to be one.
    """
    temporary = None
    try:
        place = path.resolve() if path.is_symlink() else path
        if place.exists() and not place.is_file():
            raise UserError(f"cannot write {path}: it is no regular file, and would be replaced by one; name a file")
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".memwalk-{os.getpid()}.tmp")  # short, so that it fits wherever the name itself does
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
        _sync_folder(place.parent)
    except OSError as error:
        raise refusal(path, error) from None
    finally:
        if temporary is not None:
            _remove(temporary)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file at once; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises UserError if the system refuses."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(path, error) from None


def refusal(path: Path, error: OSError) -> UserError:
    """Says in one line what the system refused and what to do."""
    return UserError(f"cannot write {path}: {error.strerror}; free the space, mend the permission, or choose another place")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return  # the path itself is what the system refused: there is nothing to remove
