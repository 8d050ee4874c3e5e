"""Options that take several sizes in bytes, such as ``--sizes 16KiB,2MiB``."""

from collections.abc import Callable

from memwalk.simcore.errors import UserError


def each_once(option: str, written: str, read: Callable[[str], int]) -> tuple[int, ...]:
    """Read sizes between commas. Raises UserError for one that is named twice, in whatever units."""
    sizes = tuple(map(read, written.split(",")))
    if len(set(sizes)) < len(sizes):
        raise UserError(f"{option} {written}: a size is named twice; keep one")
    return sizes
