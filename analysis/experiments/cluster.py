"""A Dask cluster instead of local processes: the same task, somewhere else."""

import importlib
import socket
from collections.abc import Generator
from typing import Any

from memwalk.analysis.experiments.points import Finished, Point
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.simulation import simulate
from memwalk.simcore.errors import UserError

_CONNECT_SECONDS = 10


def simulate_on_cluster(schedule: Schedule, address: str) -> Generator[Finished]:
    """Simulate points on a Dask cluster and yields each as it finishes; closing the iterator cancels the rest.

    Raises UserError if no scheduler answers at ``address`` (such as ``tcp://host:8786``).
    """
    distributed: Any = importlib.import_module("distributed")  # a second to import, and it has no types
    try:  # a client that cannot connect complains at length when it is collected, so knock first
        host, port = distributed.comm.get_address_host_port(address)
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
        client: Any = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        start = "start one with `dask scheduler` and give its address, such as tcp://host:8786"
        raise UserError(f"--scheduler {address}: no Dask scheduler answers ({error}); {start}") from None
    points: dict[str, Point] = {}
    futures = []
    try:
        while (point := schedule.take(0)) is not None:
            points[point.id] = point
            task = (point.machine, point.workload, point.observe, point.run)
            futures.append(client.submit(simulate, *task, key=point.id, priority=-len(points)))
        for future, statistics in distributed.as_completed(futures, loop=client.loop, with_results=True):
            yield points[future.key], statistics
    finally:
        client.cancel(futures)
        client.close()
