"""Indexes and page sizes in the order of what they take, with what the models say of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from memwalk.analysis.advice.indexes.candidates import Candidate, candidates
from memwalk.analysis.advice.indexes.predict import Cost, is_conscious, predict
from memwalk.analysis.advice.indexes.simulate import leaves_reads_to_models, simulate, simulated_frames
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import BLOCK_BYTES, page_blocks


@dataclass(frozen=True)
class IndexAdvice:
    """What an operation of the mix takes on average with an index in pages of a size."""

    index: str
    page_bytes: int
    widths: dict[str, int]
    """As the kernel takes them."""
    does: str
    moves: str
    is_conscious: bool
    """Whether its pages are made for the caches."""
    simulated_seconds: float
    predicted_seconds: float
    simulated_page_reads: float
    predicted_page_reads: float
    queued: float
    """How long they wait for others, of pages that are written or of other cores, in times of a page read."""
    page_seconds: float
    """Of a page read, alone."""
    page_interval_seconds: float
    """Between pages that the device brings while every core waits for one."""
    simulated_cycles: float
    """That it works and waits for memory."""
    predicted_cycles: float
    """That it waits for memory."""
    processor_seconds: float
    """What ``simulated_cycles`` are."""
    inserting_seconds: float
    """Part of them that insertions take."""
    pages: int
    """Of the whole index."""
    simulated_pages: int
    """Of the index that was simulated."""
    held: float
    """Share of them that the memory has room for."""
    simulated_held: float
    """Share of the simulated pages that the simulated pool has room for."""
    operations_per_second: float
    """Of all cores together, by ``simulated_seconds``."""
    latch_seconds: float
    """Part of ``processor_seconds`` in which a core waits for latches that others hold."""
    transfer_seconds: float
    """Part of them in which it waits for lines in caches of others."""
    simulated_page_writes: float = 0.0
    """Changed pages that left the simulated pool, which had none of them in the beginning."""
    predicted_page_writes: float = 0.0
    """Those that leave it in the long run."""
    device_seconds: float = 0.0
    """What the device alone needs for an operation of each core, at the least, in the long run."""
    reads_are_modelled: bool = False
    """Whether simulated page reads are those predicted, as operations with popular keys hardly fill the pool."""

    @property
    def io_seconds(self) -> float:
        """Seconds of waiting for page reads, simulated."""
        return self.simulated_seconds - self.processor_seconds


def advise(task: IndexTask, progress: Callable[[str], None]) -> list[IndexAdvice]:
    """Rank indexes and page sizes by simulated time, the fastest first. ``progress`` hears what is being simulated.

    Raises UserError for an index that the kernel does not take or that is larger than the device.
    """
    ranked, choices = [], list(candidates(task))
    for candidate in choices:
        _check_room(candidate, task)
    for candidate in choices:
        progress(f"{candidate.structure.name} in pages of {candidate.page.page_bytes >> 10} KB")
        try:
            ranked.append(advice(candidate, task, partial(simulate, candidate, task=task)))
        except native.SpecError as error:
            name, message = error.args
            raise UserError(f"{_OPTIONS.get(name, name)}: {message}") from None
    return sorted(ranked, key=lambda one: one.simulated_seconds)


def _check_room(candidate: Candidate, task: IndexTask) -> None:
    """Refuse an index whose pages, as many as they are in reality, do not fit on the device."""
    size, pages = candidate.page.page_bytes, sum(candidate.pages(task.keys))
    needed, there = pages * page_blocks(size) * BLOCK_BYTES, task.device.device().blocks * BLOCK_BYTES
    if needed > there:
        index = f"{candidate.structure.name} in pages of {size >> 10} KB"
        raise UserError(
            f"--keys {task.keys}: {index} takes {needed} bytes, and the device {task.device.name} has {there};"
            f" --keys is at most some {task.keys * there // needed}"
        )


_OPTIONS = {
    "keys": "--keys",
    "key_bytes": "--key-bytes",
    "page_bytes": "--page-sizes",
    "pool_frames": "--memory",
    "range": "--range",
    "threads": "--cores",
    "skew": "--skew",
}
"""Options by the kernel's parameters that follow from them."""


def advice(candidate: Candidate, task: IndexTask, simulated: Callable[[Operation], Cost]) -> IndexAdvice:
    """Put together what the models and ``simulated`` say of the operations, by their weights."""
    size = candidate.page.page_bytes
    frames, pages, page_seconds = task.frames(size), sum(candidate.pages(task.keys)), task.page_seconds(size)
    simulated_pages = sum(candidate.pages(task.simulated_keys))
    found, said, inserting_cycles = Cost(0, 0), Cost(0, 0), 0.0
    for operation in task.mix:
        if share := task.share(operation):
            part = simulated(operation) * share
            found += part
            inserting_cycles += part.cycles if operation == "insert" else 0
            said += predict(candidate, operation, task, task.keys, frames) * share
    seconds = task.seconds(found.cycles) + (found.page_reads + found.queued) * page_seconds
    predicted = max(task.seconds(said.cycles) + said.page_reads * page_seconds, task.least_seconds(size, said.page_reads, said.page_writes))
    return IndexAdvice(
        index=candidate.structure.name,
        page_bytes=size,
        widths=candidate.parameters,
        does=candidate.structure.does,
        moves=candidate.structure.moves,
        is_conscious=is_conscious(candidate),
        simulated_seconds=seconds,
        predicted_seconds=predicted,
        simulated_page_reads=found.page_reads,
        predicted_page_reads=said.page_reads,
        queued=found.queued,
        page_seconds=page_seconds,
        page_interval_seconds=task.page_interval(size),
        simulated_cycles=found.cycles,
        predicted_cycles=said.cycles,
        processor_seconds=task.seconds(found.cycles),
        inserting_seconds=task.seconds(inserting_cycles),
        pages=pages,
        simulated_pages=simulated_pages,
        held=min(frames / pages, 1.0),
        simulated_held=(simulated_frames(candidate, task) or simulated_pages) / simulated_pages,
        operations_per_second=task.cores / seconds,
        latch_seconds=task.seconds(found.latch_cycles),
        transfer_seconds=task.seconds(found.transfer_cycles),
        simulated_page_writes=found.page_writes,
        predicted_page_writes=said.page_writes,
        device_seconds=task.least_seconds(size, found.page_reads, said.page_writes),
        reads_are_modelled=leaves_reads_to_models(candidate, task),
    )
