"""From what an experiment sets below ``workload`` to a checked workload, of the machine or on storage."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter

from memwalk.analysis.experiments.page_files import NamedFile, declared_parameters, named_file
from memwalk.analysis.experiments.workload import Workload
from memwalk.analysis.storage_workloads import StorageKernel, StorageWorkload
from memwalk.simcore.engines import native
from memwalk.simcore.machine import Setting, spec_error
from memwalk.simcore.validation import DEFERRED, validate
from memwalk.simcore.yaml_source import Place, Sourced

AnyWorkload: TypeAlias = Annotated[Workload | StorageWorkload, Field(discriminator="kernel")]
"""Any workload; ``kernel`` says which."""

ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyWorkload, config=DEFERRED)
"""Checks workloads and gives their schema."""


@dataclass(frozen=True)
class Resolved:
    """A checked workload: its values, defaults included, and what runs it if it runs on storage."""

    values: dict[str, Any]
    source: Sourced
    kernel: StorageKernel | None = None
    threads: int = 1
    """Each takes a core."""
    instructions: frozenset[str] | None = None
    """As `run_facts.Run.instructions`."""


def laid_on(settings: Iterable[Setting], root: str, start: Place) -> Sourced:
    """Lay the settings below ``root`` over each other, on an empty map that ``start`` is to blame for; on null, nothing is laid."""
    source = Sourced.uniform({}, start)
    for setting in settings:
        if setting.route == (root,):
            source = setting.value
        elif setting.route[0] == root and source.data is not None:
            source = source.replaced(setting.route[1:], setting.value)
    return source


def resolve_workload(settings: Iterable[Setting], start: Place, folder: Path = Path()) -> Resolved:
    """Lays the settings below ``workload`` over each other and checks the result; ``start`` is where blame begins.

    Files that it names are looked for in ``folder``. Raises UserError with the place of each mistake.
    """
    source, file = with_file(laid_on(settings, "workload", start), folder)
    model = validate(ADAPTER, source)
    if isinstance(model, StorageKernel):
        return Resolved(model.native(), source, model)
    return on_machine(model, source, file)


def with_file(source: Sourced, folder: Path) -> tuple[Sourced, NamedFile | None]:
    """Lay what the page file decides that a workload names below what the workload says; there may be none.

    Files are looked for in ``folder``. Raises UserError with the place of a mistake.
    """
    file = named_file(source, folder)
    return (source, None) if file is None else (file.completed(source, declared_parameters(source)), file)


def on_machine(model: Workload, source: Sourced, file: NamedFile | None) -> Resolved:
    """Check a workload of a machine, whose map is in order, as the kernel does. Raises UserError with the place of the mistake."""
    values = model.native()
    if file is not None:
        values[file.parameter] = file.native()
    try:
        native.check_workload(values)
    except native.SpecError as error:
        raise spec_error(error, source) from None
    return Resolved(values, source, threads=native.threads(values), instructions=native.instructions(values))
