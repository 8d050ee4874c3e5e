"""An environment that has nothing but an installed wheel."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--wheels", type=Path, required=True, help="folder of the wheel, as `make wheel` leaves it")


@dataclass(frozen=True)
class Installed:
    """A virtual environment in which memwalk was installed from its wheel."""

    programs: Path

    def run(self, folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in ``folder``, with nothing of the checkout in sight."""
        name, *arguments = map(str, command)
        hidden = {"PYTHONPATH", "MEMWALK_CONFIGS"}
        environment = {key: value for key, value in os.environ.items() if key not in hidden}
        line = [str(self.programs / name), *arguments]
        return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    (wheel,) = request.config.getoption("--wheels").glob("memwalk-*.whl")
    folder = tmp_path_factory.mktemp("environment")
    _run([sys.executable, "-m", "venv", str(folder)])
    pinned = ["--constraint", str(ROOT / "requirements.lock")]
    _run([str(folder / "bin" / "pip"), "install", "--quiet", str(wheel.resolve()), "pytest", *pinned])
    return Installed(folder / "bin")


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
