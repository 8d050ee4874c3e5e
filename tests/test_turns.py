"""Several who step one clock: against one who has all their cores, and what becomes of the others when one fails."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage_pages import DEVICE, FAR, SINGLY, US

from memwalk.simcore.storage import turns
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import PageArrival, TimedPages
from memwalk.simcore.storage.turns import StoppedError, Turn, Turns
from memwalk.simcore.storage.volume_server import VolumeServer

Script = Sequence[tuple[int, int]]
"""What a core does, time and again: it works for so many microseconds, and reads a page."""

SCRIPTS = st.lists(st.tuples(st.integers(0, 12_000), st.integers(0, 30)), max_size=12)


def server(folder: Path) -> VolumeServer:
    (folder / "device.yaml").write_text(DEVICE)
    return System(load_device("./device.yaml", folder)).switched_on()


def alone(pages: TimedPages, scripts: Sequence[Script]) -> list[list[PageArrival]]:
    """Have the pages of all scripts read by the cores of one."""
    found: list[list[PageArrival]] = [[] for _ in scripts]
    rest = [list(script) for script in scripts]

    def ask(core: int, now: int) -> None:
        if rest[core]:
            work_us, page = rest[core].pop(0)
            pages.read(core, page, now + work_us * US)

    for core in range(len(scripts)):
        ask(core, 0)
    while (arrival := pages.advance(FAR)) is not None:
        core, end_ps, *_ = arrival
        found[core].append(arrival)
        ask(core, end_ps)
    return found


def reader(volume: VolumeServer, script: Script) -> Callable[[Turn], list[PageArrival]]:
    """Have the pages of a script read by somebody who steps the clock for himself."""

    def run(turn: Turn) -> list[PageArrival]:
        return alone(TimedPages(volume, SINGLY, "device", turn), [script])[0]

    return run


@given(scripts=st.lists(SCRIPTS, min_size=2, max_size=4))
def test_several_are_one_with_all_their_cores(tmp_path_factory: pytest.TempPathFactory, scripts: list[Script]) -> None:
    folder = tmp_path_factory.mktemp("turns")
    expected = alone(TimedPages(server(folder), SINGLY, "device"), scripts)
    volume = server(folder)
    found = Turns(volume.env).run([(0, reader(volume, script)) for script in scripts])
    assert [[(core, *wait) for _, *wait in each] for core, each in enumerate(found)] == expected


def test_each_begins_at_his_time(tmp_path: Path) -> None:
    """One disk of 5 ms a read: who begins while another reads waits for that, in times of his own."""
    volume = server(tmp_path)
    found = Turns(volume.env).run([(7000 * US, reader(volume, [(0, 9)])), (4000 * US, reader(volume, [(0, 3), (0, 20)]))])
    (late,), (first, second) = found
    assert [arrival.end_ps // US for arrival in (late, first, second)] == [9000 - 7000 + 5000, 5000, 15_000]
    assert late.parts[0] == 2000 * US, "in the queue"


def test_who_asks_for_nothing_holds_nobody_up(tmp_path: Path) -> None:
    volume = server(tmp_path)
    idle, (arrival,) = Turns(volume.env).run([(0, lambda _: []), (0, reader(volume, [(0, 3)]))])
    assert (idle, arrival.end_ps) == ([], 5000 * US)


class MyError(Exception):
    """What only these tests raise."""


@pytest.mark.usefixtures("interruptible")
def test_a_signal_stops_those_who_go_on_when_the_first_has_ended(tmp_path: Path) -> None:
    volume = server(tmp_path)
    stopped: list[bool] = []

    def goes_on(turn: Turn) -> None:
        TimedPages(volume, SINGLY, "device", turn)
        turn.go_on(US, ())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        until = time.monotonic() + 20
        try:
            while time.monotonic() < until:
                turn.look()
                time.sleep(0.01)
        except StoppedError:
            stopped.append(True)
            raise

    with pytest.raises(KeyboardInterrupt):
        Turns(volume.env).run([(0, lambda _: None), (0, goes_on)])
    assert stopped == [True]


def test_a_signal_that_comes_with_the_end_of_one_is_no_end_to_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the queue gave is lost then: everybody's end was waited for, for ever."""
    made: list[SimpleQueue[None]] = []

    class Interrupted(SimpleQueue[None]):
        def get(self, block: bool = True, timeout: float | None = None) -> None:
            super().get(block, timeout)
            if self is made[-1] and not stopped:
                stopped.append(True)
                raise KeyboardInterrupt

    def queue() -> SimpleQueue[None]:
        made.append(Interrupted())
        return made[-1]

    stopped: list[bool] = []
    monkeypatch.setattr(turns, "SimpleQueue", queue)
    with pytest.raises(KeyboardInterrupt):
        Turns(server(tmp_path).env).run([(0, lambda _: None), (0, lambda _: None)])
    assert len(made) == 3
    assert stopped == [True]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_when_one_fails_the_others_stop(tmp_path: Path, failing: int) -> None:
    volume = server(tmp_path)
    stopped: list[int] = []

    def run(number: int) -> Callable[[Turn], list[PageArrival]]:
        def go(turn: Turn) -> list[PageArrival]:
            pages = TimedPages(volume, SINGLY, "device", turn)
            if number == failing:
                pages.read(0, 7, 8000 * US)
                pages.advance(FAR)
                raise MyError
            try:
                return alone(pages, [[(0, page) for page in range(1000)]])[0]
            except StoppedError:
                stopped.append(number)
                raise

        return go

    before = threading.active_count()
    with pytest.raises(MyError):
        Turns(volume.env).run([(0, run(number)) for number in range(3)])
    assert sorted(stopped) == [number for number in range(3) if number != failing]
    assert threading.active_count() == before
