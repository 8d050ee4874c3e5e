"""How much slower somebody is beside others than alone, and who is to blame if he cannot even run alone."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.analysis.storage_workloads.program_mix import KERNEL
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

OWN = ""
"""The name of the experiment's own workload."""

BESIDE_TIME = "beside_time"
"""Where the statistics of a workload beside others on one machine have the times of all of them."""


def slower(seconds: float, alone: float) -> Columns:
    """Return how many times longer a run takes than alone."""
    return {"slowdown": seconds / alone, "seconds": seconds, "seconds_alone": alone}


def check_takes_time(name: str, seconds: float) -> None:
    """Raise UserError for a run that is over at once."""
    if not seconds:
        own = "the workload" if name == OWN else "it"
        raise UserError(f"{own} takes no time, which nothing can be compared with; give it something to do, or remove `beside`")


@contextmanager
def alone(name: str, machine: Mapping[str, Any]) -> Iterator[None]:
    """Run one alone on a machine; what is refused of a neighbour is raised as a `MisfitError` below its name."""
    try:
        yield
    except native.ShortageError as error:
        if name == OWN or error.path.partition(".")[0] == "machine":
            raise
        raise MisfitError(KERNEL, f"{name}, alone: {error}", (name,)) from None
    except UserError as error:
        if name == OWN:
            raise
        raise MisfitError(KERNEL, f"{name}, alone: {error}", (name,)) from None
    except native.SpecError as error:
        if name == OWN:
            raise
        path, message = (str(part) for part in error.args)
        if path.split(".", maxsplit=1)[0] in machine:
            raise native.SpecError(path, f"{name}, alone: {message}") from None
        raise MisfitError(path, f"{name}, alone: {message}", (name,)) from None
