"""`memwalk explain` says which lines were missed, and how many came from memory besides."""

from memwalk.analysis.explain.breakdown import Explanation


def explanation(operations: int | None, misses: dict[str, float], fills: float) -> Explanation:
    return Explanation("e", "v", "p", {}, {}, operations, 100.0, {}, misses, (), fills)


def test_lines_of_hardware_prefetchers_are_told_beside_those_that_were_missed() -> None:
    missed = {"L1": 3.0, "L2": 2.5}
    assert explanation(10, missed, 2.5).lines() == "Lines missed: L1 3.00, L2 2.50."
    more = explanation(10, missed, 4.0).lines()
    assert more == "Lines missed: L1 3.00, L2 2.50. Lines from memory, with what hardware prefetchers asked for: 4.00."
    assert explanation(None, {"L1": 314.0}, 20_059.0).lines().endswith("asked for: 20,059.")
