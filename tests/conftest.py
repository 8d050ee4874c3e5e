"""What several test files share: fixtures, and how Hypothesis runs."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes says how busy the host is.
settings.register_profile("memwalk", deadline=None)
settings.load_profile("memwalk")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Undo what a shell does to background jobs: they, and all they start, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
