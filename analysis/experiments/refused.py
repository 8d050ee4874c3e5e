"""What is refused only when it runs, such as a machine's word for a data structure that the kernel lacks: told where it was written."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import spec_error
from memwalk.simcore.yaml_source import Sourced


def refuse_missing_profiles(rows: Iterable[Row]) -> None:
    """Raise UserError, where it is written, for a kernel that calls a DBMS on a machine without a profile of one: traces need none."""
    for row in rows:
        point = row.point
        if not point.machine or PART in point.machine:
            continue
        beside = {} if point.neighbours is None else {name: one.values for name, one in point.neighbours.workloads.items()}
        for within, workload, source in (
            ((), point.workload, row.workload_source),
            *(((name,), workload, row.beside_source) for name, workload in beside.items()),
        ):
            kernel = kernels().get(workload["kernel"])
            if kernel is not None and kernel.calls_dbms:
                says = f"kernel {kernel.name} calls a DBMS, and machine {point.machine['name']} has no profile of one; name one as `{PART}`"
                raise UserError(says) if source is None else source.error(within, says)


class RefusedError(UserError):
    """A point that was refused when it ran; both go through a pipe."""

    def __init__(self, point: str, error: UserError | native.SpecError) -> None:
        """Keep the point's id, and what was said of it."""
        super().__init__(point, error)
        self.point = point
        self.error = error

    def __str__(self) -> str:
        """Say what was said, for who does not know the rows."""
        if isinstance(self.error, UserError):
            return str(self.error)
        return ": ".join(filter(None, map(str, self.error.args)))


@contextmanager
def told_where_written(rows: Iterable[Row]) -> Iterator[None]:
    """Run points of these rows. Raises UserError with the place that is to blame for what is refused."""
    try:
        yield
    except RefusedError as refused:
        row = next(row for row in rows if row.point.id == refused.point)
        raise _placed(refused, row) from None


def _placed(refused: RefusedError, row: Row) -> UserError:
    """Name the value of the machine, of the workload or of a program that is refused, or else the workload, whose needs were not met."""
    error, machine = refused.error, row.machine_source
    alone = row.workload_source if row.beside_source is None else None  # of several workloads nobody says whose
    if isinstance(error, native.ShortageError):
        return _placed_shortage(error, row, alone)
    if isinstance(error, native.SpecError):
        step = str(error.args[0]).split(".", maxsplit=1)[0]
        for written in (machine, alone):
            if written is not None and step in written.data:
                return spec_error(error, written)
    source = row.workload_source if row.beside_source is None else row.beside_source
    if isinstance(error, MisfitError) and source is not None:
        return source.error((*error.within, error.parameter), str(error))
    return refused if row.workload_source is None else row.workload_source.error((), str(refused))


def _placed_shortage(error: native.ShortageError, row: Row, alone: Sourced | None) -> UserError:
    """Name the value of the machine that takes too much memory, or the parameter of the workload ``alone``."""
    part, _, path = error.path.partition(".")
    written = {"machine": row.machine_source, "workload": alone}.get(part)
    if written is not None:
        return spec_error(native.SpecError(path, error.message), written)
    return error if row.workload_source is None else row.workload_source.error((), str(error))
