"""Files that `--set` names: they lie where the user is, not where the experiment is."""

import json
from pathlib import Path
from typing import Any

import pytest
from files import EXPERIMENT, MACHINE, memwalk, write_experiment
from storage_pages import DEVICE

INDEX = (
    "schema_version: 1\nid: e\nmachine: ./small.yaml\nworkload: {kernel: disk-index, operation: search, operations: 10, page_file: none}\n"
)


def points(folder: Path, *settings: str) -> list[dict[str, Any]]:
    """List what an experiment of another folder than ``folder`` simulates."""
    done = memwalk("run", "../there/experiment.yaml", "--dry-run", "--json", *(f"--set={one}" for one in settings), cwd=folder)
    assert done.returncode == 0, done.stderr
    return [point["parameters"] for point in json.loads(done.stdout)["points"]]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with files, beside that of an experiment, which has none of them."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "here/mine.yaml").write_text(MACHINE)
    (tmp_path / "here/disk.yaml").write_text(DEVICE)
    return tmp_path / "here"


@pytest.mark.parametrize("value", ["mine.yaml", "./mine.yaml", "[./mine.yaml, zen4-server]", "../here/mine.yaml"])
def test_machines(here: Path, value: str) -> None:
    write_experiment(here / "../there", EXPERIMENT)
    assert points(here, f"machine={value}")[0]["machine.name"] == "mine"


@pytest.mark.parametrize("setting", ["storage=./disk.yaml", "storage.device=./disk.yaml", "storage={device: disk.yaml, disks: 1}"])
def test_devices(here: Path, setting: str) -> None:
    write_experiment(here / "../there", "schema_version: 1\nid: e\nstorage: cheetah-x15\nworkload: {kernel: requests, count: 10}\n")
    assert points(here, setting)[0]["storage.device"] == "disk"


@pytest.mark.parametrize(
    "setting", ["workload.page_file=i.pages", "workload={kernel: disk-index, operation: search, operations: 9, page_file: ./i.pages}"]
)
def test_page_files(here: Path, setting: str) -> None:
    write_experiment(here / "../there", INDEX)
    built = memwalk("index", "build", "--structure", "array", "--page-size", "4KiB", "--keys", "1000", "i.pages", cwd=here)
    assert built.returncode == 0, built.stderr
    assert points(here, setting)[0]["workload.page_file.path"] == str(here / "i.pages")
