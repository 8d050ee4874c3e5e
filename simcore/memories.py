"""The memory of a machine, or the first of several."""

from collections.abc import Mapping
from typing import Any

from memwalk.simcore.errors import UserError


def first_memory(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the memory of a native machine in which everything lies that no other holds, as a machine without others has it."""
    memory = machine["memory"]
    if isinstance(memory, list):
        return {key: value for key, value in memory[0].items() if key != "name"}
    only: dict[str, Any] = memory
    return only


def only_memory(machine: Mapping[str, Any], who: str) -> dict[str, Any]:
    """Return the memory of a native machine that has one. Raises UserError if it has several, which ``who`` does not take."""
    if isinstance(machine["memory"], list):
        names = ", ".join(memory["name"] for memory in machine["memory"])
        raise UserError(f"machine {machine['name']}: it has several memories ({names}); {who} takes a machine with one")
    return first_memory(machine)
