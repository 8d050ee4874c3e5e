"""Which tables there are, by name, and what they are made from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from docs.tables.cells import Table
from docs.tables.results import Run


@dataclass(frozen=True)
class Definition:
    """How a table is made: a function of the results of some runs, in that order."""

    runs: tuple[Run, ...]
    function: Callable[..., Table]

    def make(self, out: Path) -> Table:
        """Make the table from results that are there."""
        return self.function(*(run.results(out) for run in self.runs))


TABLES: dict[str, Definition] = {}


def table(name: str, *runs: Run) -> Callable[[Callable[..., Table]], Callable[..., Table]]:
    """Register a function that makes the table which stands below `<!-- table NAME -->`."""

    def register(function: Callable[..., Table]) -> Callable[..., Table]:
        assert name not in TABLES, f"two tables named {name}"
        TABLES[name] = Definition(runs, function)
        return function

    return register
