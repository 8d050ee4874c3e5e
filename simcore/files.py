"""Files that are there whole or not at all, places that are sure to take them, and what tells their contents apart."""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from memwalk.simcore.errors import UserError

_STANDARD_OUTPUT = "-"
"""What many programs call it."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the name ``path`` when it is whole and on the disk.

    A reader, or a run killed at any moment, finds the old content or the new, nothing between. A link is followed: what it leads to is
    replaced. Raises UserError, and leaves nothing behind, if the system refuses (no permission, disk full) or if something else
    than a regular file has the name: a device or a pipe would cease to be one.
    """
    temporary = None
    try:
        place = _replaced(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        # Short, so that it fits wherever the name itself does; and nobody else's, as threads may write into one folder.
        temporary = place.with_name(_temporary(secrets.token_hex(8)))
        with temporary.open("xb") as file:
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


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def expect_file(path: Path, *, makes_folder: bool = True) -> None:
    """Raise UserError if a file could not be written: now, before the work whose results it will hold. Nothing is left behind.

    ``makes_folder`` tells whether who writes it makes its folder, as `replacing` does. A file called ``-`` is nobody's wish.
    """
    if str(path) == _STANDARD_OUTPUT:
        raise UserError(f"{path}: nothing is written to standard output here; name a file")
    try:
        folder = _replaced(path).parent
        _write_nothing(path, _nearest(folder) if makes_folder else folder)
    except OSError as error:
        raise refusal(path, error) from None


def expect_new_file(path: Path, *, makes_folder: bool = True) -> None:
    """Raise UserError as `expect_file`, and also if there is something at ``path`` already."""
    if path.exists():
        raise UserError(f"{path}: exists already and is left alone; remove it or choose another name")
    expect_file(path, makes_folder=makes_folder)


def expect_folder(path: Path) -> None:
    """Raise UserError if files could not be written into a folder, which need not be there, as `expect_file` does for one."""
    try:
        _write_nothing(path, _nearest(path))
    except OSError as error:
        raise refusal(path, error) from None


def remove(paths: Iterable[Path]) -> None:
    """Remove files that are there. Raises UserError if the system refuses."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise refusal(path, error) from None


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that were killed left in a folder that nobody else writes to."""
    remove(folder.glob(_temporary("*")))


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises UserError if the system refuses."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(path, error) from None


def refusal(path: Path, error: OSError) -> UserError:
    """Says in one line what the system refused and what to do."""
    return UserError(f"cannot write {path}: {error.strerror}; free the space, mend the permission, or choose another place")


def _replaced(path: Path) -> Path:
    """Return the file that is replaced: what a link leads to. Raises UserError if that is no regular file."""
    place = path.resolve() if path.is_symlink() else path
    if place.exists() and not place.is_file():
        raise UserError(f"cannot write {path}: it is no regular file, and would be replaced by one; name a file")
    return place


def _nearest(folder: Path) -> Path:
    """Return what is there of the way to a folder that is to be made."""
    return next(place for place in (folder, *folder.parents) if os.path.lexists(place))


def _write_nothing(path: Path, folder: Path) -> None:
    """Write a file into ``folder``, where ``path`` is to be, and take it away. Only the system knows whether it can be done."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"cannot write {path}: {folder} is no folder; choose another place")
    with TemporaryFile(dir=folder):
        return


def _temporary(writer: str) -> str:
    return f".memwalk-{writer}.tmp"


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
