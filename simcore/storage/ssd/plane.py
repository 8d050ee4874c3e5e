"""A plane of flash: it reads, programs or erases one page at a time."""

from collections import deque
from typing import NamedTuple


class _Program(NamedTuple):
    """A program that a plane is to do; times in ps."""

    came_ps: int
    """When its page is full in the drive's buffer."""
    before_ps: int
    """When the plane is done with what it does before."""
    begin_ps: int


class Plane:
    """Takes programs in the order in which they are asked for, and reads behind those whose data the drive has by then.

    A write that waits for room in the buffer is programmed at times that are known when it is asked for. A read that comes meanwhile
    goes before those programs which are still to come, and what is asked for later is that much later; they themselves stay when they are.
    """

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self.free_ps = 0
        """When all that was asked for is done."""
        self._read_ps = 0  # when the last read is done
        self._late_ps = 0  # by what reads have put off programs that were asked for before them
        self._to_come: deque[_Program] = deque()  # with times as if nothing had been put off

    def turn_ps(self, ready_ps: int) -> int:
        """Return when it can read for a command of ``ready_ps``, which never decreases."""
        self._forget(ready_ps)
        free_ps = self._to_come[0].before_ps + self._late_ps if self._to_come else self.free_ps
        return max(ready_ps, self._read_ps, free_ps)

    def read(self, until_ps: int) -> None:
        """Read from the turn that it has said last."""
        self._read_ps = until_ps
        if self._to_come:
            put_off_ps = max(0, until_ps - self._to_come[0].begin_ps - self._late_ps)
            self._late_ps += put_off_ps
            self.free_ps += put_off_ps
        else:
            self.free_ps = until_ps

    def program(self, ready_ps: int, came_ps: int, until_ps: int) -> None:
        """Program a page that is there at ``came_ps``, as soon as it is free, for a command of ``ready_ps``."""
        self._forget(ready_ps)
        begin_ps = max(came_ps, self.free_ps)
        self._to_come.append(_Program(came_ps, self.free_ps - self._late_ps, begin_ps - self._late_ps))
        self.free_ps = until_ps

    def _forget(self, ready_ps: int) -> None:
        """Forget programs whose pages are there: nobody goes before them any more."""
        while self._to_come and self._to_come[0].came_ps <= ready_ps:
            self._to_come.popleft()
