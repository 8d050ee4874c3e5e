"""A Dask cluster instead of local processes: the same task, somewhere else."""

import importlib
import logging
import queue
import socket
import time
import uuid
from collections.abc import Generator
from typing import Any

from memwalk.analysis.experiments.points import Finished
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.task import HeardOf, Task
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError

_CONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = 10
_RESUME = "finished points are kept: the same command goes on"


def simulate_on_cluster(schedule: Schedule, address: str, heard: HeardOf) -> Generator[Finished]:
    """Simulate points on a Dask cluster and yields each as it finishes; closing the iterator cancels the rest.

    Raises UserError if no scheduler answers at ``address`` (such as ``tcp://host:8786``), if it is lost, or if it has no workers.
    """
    distributed: Any = importlib.import_module("distributed")  # a second to import, and it has no types
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it tells in many lines what is told here in one
    try:  # a client that cannot connect complains at length when it is collected, so knock first
        host, port = distributed.comm.get_address_host_port(address)
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
        client: Any = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        start = "start one with `dask scheduler` and give its address, such as tcp://host:8786"
        raise UserError(f"--scheduler {address}: no Dask scheduler answers ({error}); {start}") from None
    told: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    run = uuid.uuid4().hex
    topic = f"memwalk-{run}"
    tasks: dict[str, Task] = {}
    futures = []
    try:
        client.subscribe_topic(topic, lambda event: told.put(("heard", event[1])))
        while (points := schedule.take(0)) is not None:
            task = Task.of(points)
            # To the cluster equal keys are equal work, whoever submits it.
            key = f"{run}-{task.key}"
            tasks[key] = task
            futures.append(client.submit(_run, task, topic, key, key=key, priority=-len(tasks)))
            futures[-1].add_done_callback(lambda future: told.put(("done", future)))
        left = len(futures)
        while left:
            what, news = _next(told, client, address)
            if what == "done":
                task = tasks[news.key]
                yield from zip(task.points, _result(news, task, address), strict=True)
                left -= 1
            else:
                key, *passed = news
                tasks[key].tell(heard)(*passed)
    finally:
        if client.status == "running":
            client.cancel(futures)
        client.close(timeout=1)


def _run(task: Task, topic: str, key: str) -> list[Statistics]:
    """Run on a worker, which tells of the task by its key."""
    distributed: Any = importlib.import_module("distributed")
    worker = distributed.get_worker()
    return task.run(lambda events, steps, built: worker.log_event(topic, (key, events, steps, built)))


def _next(told: "queue.SimpleQueue[tuple[str, Any]]", client: Any, address: str) -> tuple[str, Any]:
    """Wait for what comes next. Raises UserError if nothing can come any more."""
    since = time.monotonic()
    while True:
        try:
            return told.get(timeout=1)
        except queue.Empty:
            pass
        try:
            workers = client.nthreads() if client.status == "running" else None
        except Exception:  # whatever its transport raises
            workers = None
        if workers is None:
            raise _lost(address)
        if workers:
            since = time.monotonic()
        elif time.monotonic() - since > _SECONDS_WITHOUT_WORKERS:
            raise UserError(f"--scheduler {address}: it has no workers; start some with `dask worker {address}`; {_RESUME}")


def _result(future: Any, task: Task, address: str) -> list[Statistics]:
    distributed: Any = importlib.import_module("distributed")
    if future.status in ("cancelled", "lost"):
        raise _lost(address)
    try:
        statistics: list[Statistics] = future.result(timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError):
        raise _lost(address) from None
    except distributed.KilledWorker:
        memory = "if memory ran out, give workers more, or have fewer of them on a computer"
        raise UserError(
            f"--scheduler {address}: workers died again and again on point {task.key}; {memory}. {_RESUME.capitalize()}"
        ) from None
    return statistics


def _lost(address: str) -> UserError:
    return UserError(f"--scheduler {address}: the Dask scheduler is gone; start it again; {_RESUME}")
