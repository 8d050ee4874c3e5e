"""How signals end a command: SIGTERM as Ctrl-C does, so that it cleans up, and Ctrl-C soon, whatever the command is doing."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

_PATIENCE_SECONDS = 1.0
"""What a command has to notice Ctrl-C. Simulations look for it ten times as often; memory that is being filled does not."""


class Terminated(KeyboardInterrupt):
    """SIGTERM has come."""


@contextmanager
def cleaning_up_when_terminated() -> Iterator[None]:
    """Have SIGTERM raise `Terminated` in the main thread within this context, as Ctrl-C raises its exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C end this process within about a second, even if no Python runs in the main thread that could raise its exception.

    For the program alone: a library leaves signals to those who use it. Who ignores Ctrl-C goes on doing so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    noticed = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        noticed.set()
        signal.default_int_handler(number, frame)

    heard, told = socket.socketpair()
    told.setblocking(False)  # the system's signal handler writes to it
    signal.signal(signal.SIGINT, interrupt)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_end_unless, args=(heard, noticed), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        told.close()


def _end_unless(heard: socket.socket, noticed: threading.Event) -> None:
    """Wait for Ctrl-C, and end the process if the main thread has not noticed it in time."""
    while numbers := heard.recv(64):
        if signal.SIGINT not in numbers:
            continue
        if not noticed.wait(_PATIENCE_SECONDS):
            sys.stderr.write("memwalk: stopped\n")
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        noticed.clear()
