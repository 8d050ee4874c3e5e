"""What a system has room for, and what it has not."""

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.yaml_source import Route


class MisfitError(UserError):
    """A workload that a system cannot run; ``parameter`` of the workload is what to change."""

    def __init__(self, parameter: str, message: str, within: Route = ()) -> None:
        """Take the parameter's name, what is wrong with it, and where in the workload it stands if that is not at the top."""
        super().__init__(parameter, message, within)
        self.parameter = parameter
        self.message = message
        self.within = within

    def __str__(self) -> str:
        """Tell what is wrong; the parameter is where."""
        return self.message


def whole_blocks(size: int, what: str) -> int:
    """Turn bytes into blocks. Raises ValueError if that is no whole number of them, or none."""
    if size == 0 or size % BLOCK_BYTES:
        raise ValueError(f"{what} {size} is not one or more blocks of {BLOCK_BYTES} bytes; write for example 8KiB")
    return size // BLOCK_BYTES


def check_room(used_blocks: int, volume_blocks: int, kernel: str, parameter: str = "data") -> None:
    """Raise UserError if a workload needs more blocks than the volume has; ``parameter`` says how many."""
    if used_blocks > volume_blocks:
        message = f"workload {kernel}: its data take {used_blocks} blocks and the volume has {volume_blocks}; make them smaller"
        raise MisfitError(parameter, message)
