"""Devices in simulated time: requests are submitted, wait in a queue, are served, and call back.

A device is no process. It has a SimPy event for the choice of its next request and one for the end of each request that it takes at
once, and uses them again and again. Clients may be processes, which wait for the event that `submit` returns, or functions that are
called back, for `submit_call`, which is faster.

What happens in the same picosecond happens in this order, whoever the clients are: events of clients, then the ends of requests
in order of the devices' numbers (each with what its client does next), then the devices' choices, in the same order. So a device
chooses among all requests of the moment, and results do not depend on how a client is written.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import simpy
from simpy.events import NORMAL, EventPriority

from memwalk.simcore.storage.bus import Bus
from memwalk.simcore.storage.busy_time import BusyTime
from memwalk.simcore.storage.device import MOST_DEVICES, AnticipatingDevice, BatchDevice, Parts, Run, StorageDevice, queue_depth
from memwalk.simcore.storage.queues import Fcfs, Queue, Request, nobody
from memwalk.simcore.storage.steps import step_made


class Served(NamedTuple):
    """When a request came, began and ended, in ps; its parts sum to the time from start to end."""

    arrival_ps: int
    start_ps: int
    end_ps: int
    parts: Parts

    @property
    def queue_ps(self) -> int:
        """Time in the queue."""
        return self.start_ps - self.arrival_ps

    @property
    def response_ps(self) -> int:
        """Time from arrival to end."""
        return self.end_ps - self.arrival_ps


Done = Callable[[Served], object]
"""What is called back when a request has been served."""

Begun = Callable[[int], object]
"""What is called back with the time, in ps, when a device begins to serve a request."""


class _Alarm(simpy.Event):
    """An event of one priority that is set again each time it has gone off."""

    def __init__(self, env: simpy.Environment, priority: int) -> None:
        super().__init__(env)
        self.priority = EventPriority(priority)
        self._ok = True  # as SimPy's own Timeout does: what is scheduled has an outcome
        self._value = None

    def set(self, callback: Callable[[simpy.Event], None], delay_ps: int) -> None:
        """Have ``callback`` called in ``delay_ps``."""
        self.callbacks = [callback]
        self.env.schedule(self, self.priority, delay_ps)


class Server(Protocol):
    """What takes requests for a device."""

    @property
    def busy_ps(self) -> int:
        """Time so far in which the device served a request, or several at once."""

    def submit_call(self, block: int, blocks: int, write: bool, done: Done) -> None:  # noqa: FBT001 (called per request)
        """Submit a request; ``done`` is called at its end."""

    def submit_batch_call(self, runs: Sequence[Run], write: bool, done: Done) -> None:  # noqa: FBT001 (as `submit_call`)
        """Submit runs of blocks that belong together; ``done`` is called when the last has been served."""


class DeviceServer:
    """A device with its queue, and perhaps a bus that it shares.

    A device has one request at a time, or as many as `queue_depth` says; those may end in any order.
    """

    def __init__(
        self, env: simpy.Environment, device: StorageDevice, queue: Queue | None = None, bus: Bus | None = None, *, number: int = 0
    ) -> None:
        """Put a device into ``env``, whose time must be whole picoseconds; FCFS unless a queue is given.

        ``number`` orders devices in the same picosecond (`serve_devices` numbers them). Raises ValueError if it is out of range.
        """
        if not 0 <= number < MOST_DEVICES:
            raise ValueError(f"device number {number} is not in 0 to {MOST_DEVICES - 1}")
        self.env = env
        self.device = device
        self._queue: Queue = Fcfs() if queue is None else queue
        self.bus = bus
        self.batches = device if isinstance(device, BatchDevice) else None
        self._anticipates = device if isinstance(device, AnticipatingDevice) else None
        self._sequence = 0
        self._idle = [_Place(self, NORMAL + 1 + number) for _ in range(queue_depth(device))]
        self.busy = BusyTime()
        """With requests of anybody."""
        self._choosing = False
        self._choice = _Alarm(env, NORMAL + 1 + MOST_DEVICES + number)

    @property
    def busy_ps(self) -> int:
        """Time so far in which a request, or several at once, was served."""
        return self.busy.passed_ps(int(self.env.now))

    def submit(self, block: int, blocks: int, *, write: bool = False) -> simpy.Event:
        """Submit a request; returns the event of its end, whose value is `Served`."""
        event = self.env.event()
        self.submit_call(block, blocks, write, event.succeed)
        return event

    def submit_call(self, block: int, blocks: int, write: bool, done: Done, begun: Begun = nobody) -> None:  # noqa: FBT001 (per request)
        """Submit a request; ``begun`` is called when the device begins to serve it, ``done`` at its end. Faster than `submit`."""
        self._push(Request(int(self.env.now), self._sequence + 1, block, blocks, write, done, begun))

    def submit_batch_call(self, runs: Sequence[Run], write: bool, done: Done, begun: Begun = nobody) -> None:  # noqa: FBT001 (as `submit_call`)
        """Submit runs of blocks that belong together; ``done`` is called when the last has been served.

        A `BatchDevice` gets them as one request, any other device one after the other, in their order under FCFS.
        """
        if len(runs) == 1 or self.batches is None:
            last = done if len(runs) == 1 else LastOf(len(runs), done)
            for block, blocks in runs:
                self.submit_call(block, blocks, write, last, begun)
            return
        blocks = sum(run.blocks for run in runs)
        self._push(Request(int(self.env.now), self._sequence + 1, runs[0].block, blocks, write, done, begun, tuple(runs)))

    def _push(self, request: Request) -> None:
        self._sequence = request.sequence
        self._queue.push(request)
        if self._idle and not self._choosing:
            self._choose_later()

    def _choose_later(self) -> None:
        self._choosing = True
        self._choice.set(self._choose, 0)

    def _choose(self, _: simpy.Event) -> None:
        """Start what the queue gives, as much as the device takes."""
        self._choosing = False
        now = int(self.env.now)
        while self._idle and len(self._queue):
            self._idle.pop().start(now, self._queue.pop(now, self.device))

    def serve(self, start_ps: int, request: Request) -> int:
        """Have the device serve a request; returns when it is done."""
        if self._anticipates is not None:
            self._anticipates.expect(request.arrival_ps)
        if request.runs:
            assert self.batches is not None
            return self.batches.serve_batch(start_ps, request.runs, write=request.write)
        return self.device.serve(start_ps, request.block, request.blocks, write=request.write)

    def left(self, place: "_Place") -> None:
        """Note that a request has ended; the next choice waits until everything else of this moment has happened."""
        self._idle.append(place)
        self.busy.end(int(self.env.now))
        if not self._choosing and len(self._queue):
            self._choose_later()


class _Place:
    """Room for a request in the device; most devices have one."""

    def __init__(self, server: DeviceServer, priority: int) -> None:
        self._server = server
        self._end = _Alarm(server.env, priority)
        self._request: Request | None = None
        self._start_ps = 0
        self._comes_ps = 0
        self._served = Served(0, 0, 0, Parts())

    def start(self, now: int, request: Request) -> None:
        """Take a request now; the device begins with it when the shared bus is free to bring what is written."""
        self._request, self._start_ps = request, now
        server, bus = self._server, self._server.bus
        server.busy.begin(now)
        request.begun(now)
        wait = 0
        if bus is not None and request.write:
            wait = bus.carry(now, request.blocks) - now
        elif bus is not None:
            bus.read(self, now)
        if wait:
            self._end.set(self._move, wait)
        else:
            self._move(self._end)

    def _move(self, _: simpy.Event) -> None:
        """Have the device serve the request from now on."""
        request, server, bus = self._request, self._server, self._server.bus
        assert request is not None
        now = int(server.env.now)
        moved = end = server.serve(now, request)
        if bus is not None and request.write:
            end = max(moved, now + bus.transfer_ps(request.blocks))
        elif bus is not None:
            self._comes_ps = server.device.comes_ps  # now, as a device may serve others before this one's end
        waited = now - self._start_ps + end - moved
        self._served = Served(request.arrival_ps, self._start_ps, end, _with_wait(server.device.parts, waited))
        self._end.set(self._finish if bus is None or request.write else self._fetch, end - now)

    def _fetch(self, event: simpy.Event) -> None:
        """Bring what was read over the shared bus; it began to flow while the device still read, if the bus was free, but not before."""
        bus = self._server.bus
        assert self._request is not None
        assert bus is not None
        arrival, start, end, parts = self._served
        late = bus.bring(self, end, self._request.blocks, self._comes_ps)
        if late == 0:
            self._finish(event)
            return
        self._served = Served(arrival, start, end + late, _with_wait(parts, late))
        self._end.set(self._finish, late)

    def _finish(self, _: simpy.Event) -> None:
        """Make room and tell the client."""
        request, self._request = self._request, None
        assert request is not None
        step_made()
        self._server.left(self)
        request.done(self._served)


class LastOf:
    """Passes on the last of several calls."""

    __slots__ = ("done", "missing")

    def __init__(self, parts: int, done: Done) -> None:
        self.missing = parts
        self.done = done

    def __call__(self, served: Served) -> None:
        """Count a call, and pass it on if it is the last."""
        self.missing -= 1
        if self.missing == 0:
            self.done(served)


def serve_devices(
    env: simpy.Environment, devices: Iterable[StorageDevice], queue: Callable[[], Queue] = Fcfs, bus: Bus | None = None
) -> list[DeviceServer]:
    """Make a server for each device, numbered in their order, each with a queue of its own; ``bus`` is shared by all."""
    numbers = itertools.count()
    return [DeviceServer(env, device, queue(), bus, number=next(numbers)) for device in devices]


def _with_wait(parts: Parts, wait_ps: int) -> Parts:
    return parts._replace(bus_ps=parts.bus_ps + wait_ps) if wait_ps else parts
