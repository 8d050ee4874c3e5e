"""Options that take sizes in bytes, one such as ``--memory 16MiB`` or several such as ``--sizes 16KiB,2MiB``."""

from collections.abc import Callable

from memwalk.simcore.errors import UserError
from memwalk.simcore.units import to_bytes


def bytes_of(option: str, written: str) -> int:
    """Read a size. Raises UserError, with the option, for what is none."""
    try:
        return to_bytes(written)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def each_once(option: str, written: str, read: Callable[[str], int]) -> tuple[int, ...]:
    """Read sizes between commas. Raises UserError for one that is named twice, in whatever units."""
    sizes = tuple(map(read, written.split(",")))
    if len(set(sizes)) < len(sizes):
        raise UserError(f"{option} {written}: a size is named twice; keep one")
    return sizes
