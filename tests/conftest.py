"""What several test files share: fixtures, and how Hypothesis runs."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from recording import compiled_recorder

# How long an example takes says how busy the host is.
settings.register_profile("memwalk", deadline=None)
settings.load_profile("memwalk")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Undo what a shell does to background jobs: they, and all they start, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the recorder, compiled, in which nobody builds a program."""
    return compiled_recorder(tmp_path_factory.mktemp("recorder"))


@pytest.fixture(scope="module")
def recorder(compiled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of it for the programs of a file of tests, as those of two files may have the same name."""
    return shutil.copytree(compiled, tmp_path_factory.mktemp("programs"), dirs_exist_ok=True)
