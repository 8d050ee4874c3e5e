"""Files that are there whole or not at all."""

import os
from pathlib import Path

from memwalk.simcore.errors import UserError


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a run killed at any moment, finds the old content or the new, nothing between.

    Raises UserError, and leaves nothing behind, if the system refuses (no permission, disk full).
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        _remove(temporary)
        raise refusal(path, error) from None


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
