"""How signals end the program: Ctrl-C and SIGTERM alike, so that commands clean up, and soon, whatever a command is doing."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

_DEFAULTS: Mapping[int, Callable[[int, FrameType | None], Any] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""Signals that end the program, and what becomes of them where nobody has asked for anything else."""

_PATIENCE_SECONDS = 1.0
"""Processor time that a command has to notice a signal. Simulations look for it ten times as often, who fills memory does not."""
_MOST_SECONDS = 5.0
"""What it has at most: on a busy machine, where it gets little of the processor, or where it waits for something."""

_AT_ONCE = 64
"""Signals, far more than come together."""


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: everything is cleaned up as after Ctrl-C."""


def exit_code(ended: KeyboardInterrupt) -> int:
    """Return the exit code after Ctrl-C or SIGTERM, as a shell gives it."""
    return _code(signal.SIGTERM if isinstance(ended, Terminated) else signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM raise `KeyboardInterrupt` and `Terminated` in the main thread, where commands clean up.

    They end this process after about a second of its work even if no Python runs there that could raise anything. For the program alone: a
    library leaves signals to those who use it. Who ignores one of them goes on doing so.
    """
    mine = [number for number, default in _DEFAULTS.items() if signal.getsignal(number) == default]
    heard, told = socket.socketpair()
    told.setblocking(False)  # the system's signal handler writes to it
    noticed: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        # A second signal may interrupt this very function: a lock would wait for what its own thread holds.
        again = signal.SIGTERM in noticed  # `timeout` sends it twice, and the second must not cut the cleaning up short
        _forget(heard, _AT_ONCE)
        noticed.append(number)
        if number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        if not again:
            raise Terminated

    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    for number in mine:
        signal.signal(number, end)
    threading.Thread(target=_end_unless, args=(noticed, heard, mine), daemon=True).start()
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, _DEFAULTS[number])
        signal.set_wakeup_fd(before)
        told.close()


def _end_unless(noticed: Sequence[int], heard: socket.socket, awaited: Collection[int]) -> None:
    """Wait for signals, and end the process if the main thread notices none for as long as it may take.

    Several that come together are noticed at once, so that their numbers say nothing: the main thread takes them off ``heard``.
    """
    with heard:
        while True:
            before = len(noticed)
            numbers = heard.recv(1, socket.MSG_PEEK)
            if not numbers:
                return
            if numbers[0] not in awaited:
                _forget(heard, 1)  # those behind it may be awaited
                continue
            asked, worked = time.monotonic(), time.process_time()
            while len(noticed) == before and not _out_of_patience(time.monotonic() - asked, time.process_time() - worked):
                time.sleep(_PATIENCE_SECONDS / 10)
            if len(noticed) == before:
                sys.stderr.write("memwalk: stopped\n")
                sys.stderr.flush()
                os._exit(_code(numbers[0]))


def _out_of_patience(seconds: float, processor_seconds: float) -> bool:
    """Tell whether a command that has not noticed a signal for so long is not going to."""
    return processor_seconds >= _PATIENCE_SECONDS or seconds >= _MOST_SECONDS


def _forget(heard: socket.socket, count: int) -> None:
    """Take off the numbers of so many signals that have come, if there are as many; both threads do."""
    with contextlib.suppress(BlockingIOError):
        heard.recv(count, socket.MSG_DONTWAIT)


def _code(number: int) -> int:
    return 128 + number
