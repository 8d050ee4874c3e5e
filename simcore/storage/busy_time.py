"""How long something was at work, whatever it did at once."""


class BusyTime:
    """Counts the time, in picoseconds, in which at least one thing was under way."""

    def __init__(self) -> None:
        """Begin idle."""
        self._under_way = 0
        self._since_ps = 0
        self._passed_ps = 0

    def begin(self, now_ps: int) -> None:
        """Have one thing more under way."""
        if not self._under_way:
            self._since_ps = now_ps
        self._under_way += 1

    def end(self, now_ps: int) -> None:
        """Have one thing less under way."""
        self._under_way -= 1
        if not self._under_way:
            self._passed_ps += now_ps - self._since_ps

    def passed_ps(self, now_ps: int) -> int:
        """Return the time that has counted by now."""
        return self._passed_ps + (now_ps - self._since_ps if self._under_way else 0)

    def restart(self, now_ps: int) -> None:
        """Count from now on, with what is under way."""
        self._passed_ps, self._since_ps = 0, now_ps
