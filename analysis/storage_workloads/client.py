"""A client that keeps requests in flight on a system, and sums up where their time went."""

from collections.abc import Iterable

import simpy

from memwalk.analysis.storage_workloads.columns import IoTimes, seconds
from memwalk.analysis.storage_workloads.system import System
from memwalk.simcore.storage.closed_loop import Access, Server
from memwalk.simcore.storage.server import Served


def serve(server: Server, accesses: Iterable[Access], in_flight: int | None = None) -> tuple[int, IoTimes]:
    """Serve the accesses, ``in_flight`` at a time or, if that is None, all at once; returns the picoseconds taken and their sums.

    Time goes on from where the server's environment stands, and every request has ended when this returns.
    """
    waiting, times = iter(accesses), IoTimes()
    env = server.env
    start = int(env.now)

    def submit_next() -> bool:
        access = next(waiting, None)
        if access is None:
            return False

        def done(served: Served) -> None:
            times.add(served, access.blocks)
            if in_flight is not None:
                submit_next()

        server.submit_call(*access, done)
        return True

    started = 0
    while (in_flight is None or started < in_flight) and submit_next():
        started += 1
    env.run()
    return int(env.now) - start, times


def elapsed(system: System, accesses: Iterable[Access], in_flight: int) -> dict[str, float | int]:
    """Serve the accesses on a system just switched on; returns ``io_seconds`` and the columns of `IoTimes`."""
    time_ps, times = serve(system.server(simpy.Environment()), accesses, in_flight)
    return {"io_seconds": seconds(time_ps)} | times.columns()
