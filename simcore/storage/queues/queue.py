"""What a request is while it waits, and what a queue policy does."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from memwalk.simcore.storage.device import Run, StorageDevice


def nobody(_: Any) -> None:
    """Wait for no request."""


class Request(NamedTuple):
    """A request that waits for a device.

    Requests compare by arrival, then sequence, which is the order among those that a policy holds equal. No two requests of a queue
    have the same sequence, so the fields behind it never decide.
    """

    arrival_ps: int
    sequence: int
    """Counts what is submitted to the device."""
    block: int
    blocks: int
    write: bool
    done: Callable[[Any], object] = nobody
    """Called with the times of the request once it is served."""
    begun: Callable[[int], object] = nobody
    """Called with the time, in ps, when the device begins to serve it."""
    runs: tuple[Run, ...] = ()
    """The runs of a batch that the device serves as one; ``block`` is then the first of them, and ``blocks`` all together."""


class Queue(Protocol):
    """The requests that wait for one device, and the order in which they leave. It never looks at the clock itself."""

    def __len__(self) -> int:
        """Return how many requests wait."""

    def push(self, request: Request) -> None:
        """Take in a request. Neither arrivals nor sequences go back from one to the next."""

    def pop(self, now_ps: int, device: StorageDevice) -> Request:
        """Take out what ``device`` serves next if it starts at ``now_ps``. Raises IndexError if nothing waits."""
