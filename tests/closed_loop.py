"""Clients that keep a number of requests in flight: as one plain loop, as worker processes, and as callbacks.

All three give the same times, and so do programs; the plain loop needs no SimPy and serves first come, first served only.
"""

from collections.abc import Generator, Iterable, Sequence
from heapq import heappop, heappush, heapreplace
from typing import Any, NamedTuple, Protocol

import simpy

from memwalk.simcore.storage.device import StorageDevice, queue_depth
from memwalk.simcore.storage.server import Done, Served
from memwalk.simcore.storage.volumes.volume import Volume


class Access(NamedTuple):
    """What a client asks for."""

    block: int
    blocks: int
    write: bool = False


class Server(Protocol):
    """What takes requests in simulated time: a device's server or a volume's."""

    env: simpy.Environment

    def submit(self, block: int, blocks: int, *, write: bool = False) -> simpy.Event:
        """Submit a request; returns the event of its end."""

    def submit_call(self, block: int, blocks: int, write: bool, done: Done) -> None:
        """Submit a request; ``done`` is called at its end."""


def scan(pages: int, page_blocks: int, first_block: int = 0) -> Iterable[Access]:
    """Read ``pages`` pages that follow each other."""
    return (Access(first_block + page * page_blocks, page_blocks) for page in range(pages))


def run_plain(devices: Sequence[StorageDevice], volume: Volume, accesses: Iterable[Access], in_flight: int) -> int:
    """Serve the accesses, each when one of ``in_flight`` before it has ended; returns the end of the last, in ps.

    A device's queue is its order of arrival, so a request's end is known when it is submitted.
    """
    places = [[0] * queue_depth(device) for device in devices]
    ends: list[int] = []
    now = last = 0
    for block, blocks, write in accesses:
        if len(ends) == in_flight:
            now = heappop(ends)
        end = now
        for disk, part_block, part_blocks in volume.split(block, blocks):
            free = places[disk]
            served = devices[disk].serve(max(now, free[0]), part_block, part_blocks, write=write)
            heapreplace(free, served)
            end = max(end, served)
        heappush(ends, end)
        last = max(last, end)
    return last


def run_workers(server: Server, accesses: Iterable[Access], in_flight: int) -> int:
    """Do the same with ``in_flight`` SimPy processes that take accesses from one list; returns the end of the last, in ps."""
    waiting = iter(accesses)

    def worker() -> Generator[simpy.Event, Any, None]:
        for block, blocks, write in waiting:
            yield server.submit(block, blocks, write=write)

    env = server.env
    env.run(env.all_of([env.process(worker()) for _ in range(in_flight)]))
    return int(env.now)


def run_callbacks(server: Server, accesses: Iterable[Access], in_flight: int) -> int:
    """Do the same with functions that are called back and submit the next access; returns the end of the last, in ps."""
    waiting = iter(accesses)

    def submit_next(_: Served | None = None) -> None:
        access = next(waiting, None)
        if access is not None:
            server.submit_call(*access, submit_next)

    for _ in range(in_flight):
        submit_next()
    server.env.run()
    return int(server.env.now)
