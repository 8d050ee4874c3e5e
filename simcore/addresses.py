"""Bare addresses: an array of them instead of a trace file."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from memwalk.simcore.errors import UserError

Addresses = npt.NDArray[np.uint64]
"""Byte addresses in program order."""


def read_npy(path: Path) -> Addresses:
    """Map a ``.npy`` file of addresses into memory; nothing is read before it is used.

    Raises UserError if it cannot be read or holds something else.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; check the path") from None
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a whole .npy file of addresses: {' '.join(str(error).split())}") from None
    return as_addresses(array, str(path))


def as_addresses(array: npt.NDArray[np.generic], name: str = "addresses") -> Addresses:
    """Take an array as addresses: without a copy if it is contiguous ``uint64``.

    Raises UserError if it is not one-dimensional or holds anything but whole numbers from 0 on.
    """
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise UserError(f"{name}: an array of {array.dtype}, shape {array.shape}; give one dimension of uint64 byte addresses")
    if np.issubdtype(array.dtype, np.signedinteger) and array.size and int(array.min()) < 0:
        raise UserError(f"{name}: holds the negative address {int(array.min())}; give uint64 byte addresses")
    return np.ascontiguousarray(array, dtype=np.uint64)
