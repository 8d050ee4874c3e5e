"""Machines that many tests run, as the engines take them: whoever changes one changes a copy."""

from typing import Any

from memwalk.simcore.machine import load_machine

THESIS = load_machine("thesis-simulator").native()
ZEN4 = load_machine("zen4-server").native()


def smaller(machine: dict[str, Any], share: int) -> dict[str, Any]:
    """Divide the caches behind the first by a power of two: data of as small a share still exceeds them."""
    caches = [cache | ({"size_bytes": cache["size_bytes"] // share} if number else {}) for number, cache in enumerate(machine["caches"])]
    return machine | {"caches": caches}
