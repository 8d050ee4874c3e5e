"""What `kill` does to a command that has a file half written: it ends as on Ctrl-C, and cleans up."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


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
