"""Replays a DiskSim trace on a device and sums up response times, by part and against measured ones."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memwalk.analysis.disk_traces.response_times import Distribution, Times, demerit_ps
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES
from memwalk.simcore.storage.device_file import DeviceFile
from memwalk.simcore.storage.disksim import Format, arrivals, format_of, measured
from memwalk.simcore.storage.queues import FCFS, QUEUES
from memwalk.simcore.storage.replay import DEPTH, replay_closed, replay_open
from memwalk.simcore.storage.replay import Times as Row
from memwalk.simcore.storage.trace_lines import TraceLines
from memwalk.simcore.units import PS_PER_MS

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}
"""By the names of their columns."""
BATCH = 1 << 14
"""Requests that are summed up together."""

Progress = Callable[[int, float], None]
"""Takes the requests replayed so far, and the share of the trace that has been read."""


@dataclass
class Responses:
    """Response times of one kind of requests, simulated and perhaps measured."""

    simulated: Distribution = field(default_factory=Distribution)
    measured: Distribution | None = None
    totals_ps: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(PART_NAMES)))
    """Sum of each of `PART_NAMES`."""

    def add(self, times: Times, measured_ps: Times | None) -> None:
        """Take in requests: a row for each, a column for each of `PART_NAMES`."""
        self.simulated.add(times.sum(axis=1))
        self.totals_ps += times.sum(axis=0, dtype=np.float64)
        if measured_ps is not None:
            self.measured = self.measured or Distribution()
            self.measured.add(measured_ps)

    def add_all(self, other: "Responses") -> None:
        """Take in the requests of another kind."""
        self.simulated.add_all(other.simulated)
        self.totals_ps += other.totals_ps
        if other.measured is not None:
            self.measured = self.measured or Distribution()
            self.measured.add_all(other.measured)

    def facts(self) -> dict[str, float | int]:
        """Return requests, response times, the mean of each part, and what was measured, in ms.

        ``demerit_ms`` is the root mean square distance between the two distributions.
        """
        count = self.simulated.count
        facts: dict[str, float | int] = {"requests": count, **_facts(self.simulated, "")}
        facts |= {f"{part}_ms": total / PS_PER_MS / count for part, total in zip(PART_NAMES, self.totals_ps.tolist(), strict=True)}
        if self.measured is not None:
            facts |= _facts(self.measured, "measured_") | {"demerit_ms": demerit_ps(self.simulated, self.measured) / PS_PER_MS}
        return facts


Sums: TypeAlias = tuple[Responses, Responses]
"""Of reads and of writes."""


@dataclass
class Replay:
    """What came of a replay; not ``complete`` if something has ``ended`` it: Ctrl-C, or SIGTERM."""

    format: Format
    sums: Sums = field(default_factory=lambda: (Responses(), Responses()))
    """They are replaced as one, so that no signal leaves them half done."""
    ended: KeyboardInterrupt | None = None

    @property
    def complete(self) -> bool:
        """Every request of the trace was served."""
        return self.ended is None

    def kinds(self) -> dict[str, Responses]:
        """Return all requests, reads and writes, those of which there are any."""
        both = Responses()
        reads, writes = self.sums
        for kind in (reads, writes):
            both.add_all(kind)
        kinds = {"all": both, "reads": reads, "writes": writes}
        return {name: responses for name, responses in kinds.items() if responses.simulated.count}

    def distributions(self) -> dict[str, pd.DataFrame]:
        """Return distribution functions by name: ``response_ms``, and ``share`` of the requests that took that long at most."""
        kinds = self.kinds()
        both = kinds.get("all", Responses())
        if both.measured is not None:
            return {"simulated": _steps(both.simulated), "measured": _steps(both.measured)}
        return {name: _steps(responses.simulated) for name, responses in kinds.items()}


def replay_trace(
    trace: Path,
    device: DeviceFile,
    *,
    queue: str = FCFS,
    depth: int = DEPTH,
    format_: Format | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Replay a trace in bounded memory; Ctrl-C and SIGTERM end it with what has been replayed so far.

    ``queue`` is one of `QUEUES` and chooses among the ``depth`` oldest requests that wait; ``format_`` is told by the first line if
    None. Raises UserError for a trace that cannot be read or does not fit the device, and for a queue other than FCFS where one
    request comes at a time.
    """
    with TraceLines(trace) as lines:
        result = Replay(format_ or format_of(lines))
        rows = _rows(lines, result.format, device, queue, depth)
        done = 0
        try:
            while batch := list(islice(rows, BATCH)):
                result.sums = _with(result.sums, np.array(batch, dtype=np.int64), result.format)
                done += len(batch)
                if progress is not None:
                    progress(done, lines.share)
        except KeyboardInterrupt as ended:
            result.ended = ended
    return result


def _rows(lines: TraceLines, format_: Format, device: DeviceFile, queue: str, depth: int) -> Iterator[Row]:
    if format_ is Format.VALIDATION:
        if queue != FCFS:
            raise UserError(f"--queue {queue}: {lines.path} is a validation trace, one request at a time, so no queue forms; leave it out")
        return replay_closed(lines, measured(lines), device.device)
    return replay_open(lines, arrivals(lines), device.device, QUEUES[queue], depth)


def _with(sums: Sums, rows: Times, format_: Format) -> Sums:
    """Return sums that have more requests, of which each is a row of `Row`."""
    sums = copy.deepcopy(sums)
    writes = rows[:, 0].astype(bool)
    for responses, chosen in zip(sums, (rows[~writes], rows[writes]), strict=True):
        if len(chosen):
            responses.add(chosen[:, 1 : 1 + len(PART_NAMES)], chosen[:, -1] if format_ is Format.VALIDATION else None)
    return sums


def _facts(times: Distribution, prefix: str) -> dict[str, float]:
    facts = {"mean": times.mean_ps, "std": times.std_ps}
    facts |= {name: times.percentile_ps(percent) for name, percent in PERCENTILES.items()}
    facts["max"] = times.max_ps
    return {f"{prefix}{name}_ms": value / PS_PER_MS for name, value in facts.items()}


def _steps(times: Distribution) -> pd.DataFrame:
    at, below = times.steps()
    return pd.DataFrame({"response_ms": at / PS_PER_MS, "share": below / max(times.count, 1)})
