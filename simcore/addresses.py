"""Bare addresses: an array of them, or a file, instead of a trace file."""

import ast
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from memwalk.simcore.errors import UserError

Addresses = npt.NDArray[np.uint64]
"""Byte addresses in program order."""

_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}
"""Bytes of the header's length, by the version of the format."""
_LONGEST_HEADER = 1 << 16
"""Bytes; that of an array of numbers has a hundred or so."""
_NUMBERS = re.compile("[<>|=][iu][1248]")
_PIECE = 1 << 18
"""Addresses that are read at once."""


def read_npy(path: Path) -> Iterator[Addresses]:
    """Read a ``.npy`` file of addresses piece by piece.

    It is not mapped into memory: a process dies of a mapped file that somebody cuts. Raises UserError if the file cannot be read or
    holds something else, before the first piece as far as the header and the file's size tell.
    """
    try:
        with path.open("rb") as file:
            kind, count = _header(file, path)
            for first in range(0, count, _PIECE):
                wanted = min(_PIECE, count - first) * kind.itemsize
                content = file.read(wanted)
                if len(content) < wanted:
                    held = first + len(content) // kind.itemsize
                    raise UserError(f"{path}: was cut to {held:,} of its {count:,} addresses while it was read; write it again")
                yield as_addresses(np.frombuffer(content, dtype=kind), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; check the path") from None


def as_addresses(array: npt.NDArray[np.generic], name: str = "addresses") -> Addresses:
    """Take an array as addresses: without a copy if it is contiguous ``uint64``.

    Raises UserError if it is not one-dimensional or holds anything but whole numbers from 0 on.
    """
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise _no_addresses(name, str(array.dtype), array.shape)
    if np.issubdtype(array.dtype, np.signedinteger) and array.size and int(array.min()) < 0:
        raise UserError(f"{name}: holds the negative address {int(array.min())}; give uint64 byte addresses")
    return np.ascontiguousarray(array, dtype=np.uint64)


def _header(file: BinaryIO, path: Path) -> tuple[np.dtype[Any], int]:
    """Read what the numbers are and how many there must be. Layout: NumPy Enhancement Proposal 1."""
    start = file.read(len(_MAGIC) + 2)
    length_bytes = _LENGTH_BYTES.get(start[len(_MAGIC)], 0) if len(start) == len(_MAGIC) + 2 and start.startswith(_MAGIC) else 0
    length = int.from_bytes(file.read(length_bytes), "little") if length_bytes else 0
    header = file.read(length) if 0 < length <= _LONGEST_HEADER else b""
    if not header or len(header) < length:
        raise _damaged(path, "it does not begin with a header")
    try:
        about = ast.literal_eval(header.decode("latin1").strip())
        kind, shape = about["descr"], about["shape"]
    except (ValueError, SyntaxError, TypeError, KeyError, IndexError, MemoryError, RecursionError):
        raise _damaged(path, "its header cannot be read") from None
    if not isinstance(shape, tuple) or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise _damaged(path, "its header has no shape")
    if not isinstance(kind, str) or not _NUMBERS.fullmatch(kind) or len(shape) != 1:
        raise _no_addresses(str(path), _shown(kind), shape)
    numbers = np.dtype(kind)
    status = os.fstat(file.fileno())
    held = (status.st_size - file.tell()) // numbers.itemsize if stat.S_ISREG(status.st_mode) else shape[0]
    if held < shape[0]:
        raise _damaged(path, f"it holds {max(held, 0):,} of the {shape[0]:,} addresses that its header promises")
    return numbers, shape[0]


def _shown(kind: Any) -> str:
    try:
        return str(np.dtype(kind)) if isinstance(kind, str) else "records"
    except (TypeError, ValueError, SyntaxError):
        return "something"


def _no_addresses(name: str, kind: str, shape: tuple[int, ...]) -> UserError:
    return UserError(f"{name}: an array of {kind}, shape {shape}; give one dimension of uint64 byte addresses")


def _damaged(path: Path, why: str) -> UserError:
    return UserError(f"{path}: not a whole .npy file of addresses: {why}; write it with numpy.save")
