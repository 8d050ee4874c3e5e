"""The workload a super-block is built for: scans, and which columns they read together (section 3.4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Query:
    """A scan that reads ``columns``; ``weight`` is how often it runs, relative to others."""

    columns: frozenset[str]
    weight: float = 1

    def reads(self, columns: Iterable[str]) -> bool:
        """Whether it needs any of these columns, and so the page that they share."""
        return not self.columns.isdisjoint(columns)


class Affinities:
    """The affinity of two columns: the queries that read both, each as often as it weighs."""

    def __init__(self, columns: Iterable[str], queries: Iterable[Query]) -> None:
        order = tuple(columns)
        self._of: dict[frozenset[str], float] = {frozenset(pair): 0 for pair in combinations(order, 2)}
        for query in queries:
            for pair in combinations([column for column in order if column in query.columns], 2):
                self._of[frozenset(pair)] += query.weight

    def between(self, one: str, other: str) -> float:
        """Give the affinity of two different columns."""
        return self._of[frozenset((one, other))]

    def above(self, threshold: float) -> list[tuple[str, str]]:
        """List the pairs whose affinity is more than ``threshold``, the greatest first, equal ones in the order of the columns."""
        pairs = sorted(self._of.items(), key=lambda item: -item[1])
        return [(min(pair), max(pair)) for pair, affinity in pairs if affinity > threshold]
