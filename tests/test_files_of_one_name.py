"""Files of one name in two folders as values of an axis: results have a file's name alone, so that their rows look the same."""

from pathlib import Path

import pytest
from files import MACHINE, write_experiment
from storage_pages import DEVICE

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.simcore.errors import UserError

HEAD = "schema_version: 1\nid: e\n"
CHASE = "workload: {kernel: pointer-chase, lines: 100, tlb: cold}\n"


def refusal(folder: Path, text: str) -> str:
    (folder / "other").mkdir()
    (folder / "other/small.yaml").write_text(MACHINE.replace("clock_hz: 1GHz", "clock_hz: 2GHz"))
    (folder / "device.yaml").write_text(DEVICE)
    (folder / "other/device.yaml").write_text(DEVICE.replace("5ms", "9ms"))
    with pytest.raises(UserError) as error:
        expand(load_experiment(write_experiment(folder, text)))
    return str(error.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize("axis", ["machines:", "machine: ./small.yaml\ngrid:\n  machine:"])
def test_machines(tmp_path: Path, axis: str) -> None:
    told = refusal(tmp_path, f"{HEAD}{CHASE}{axis} [./small.yaml, ./other/small.yaml]\n")
    assert told.startswith("experiment.yaml:")
    assert "`./small.yaml` and `./other/small.yaml`, whose rows nobody could tell apart" in told
    assert told.endswith("results say a file's name without its folder; give one another name")


def test_devices(tmp_path: Path) -> None:
    axis = "storage.device: [./device.yaml, ./other/device.yaml]"
    told = refusal(tmp_path, f"{HEAD}storage: ./device.yaml\nworkload: {{kernel: requests, count: 10}}\ngrid:\n  {axis}\n")
    assert told.startswith(
        "experiment.yaml:6:35: storage.device has `./device.yaml` and `./other/device.yaml`, whose rows nobody could tell"
    )


def test_of_variants_rows_have_the_names(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/small.yaml").write_text(MACHINE.replace("clock_hz: 1GHz", "clock_hz: 2GHz"))
    text = f"{HEAD}machine: ./small.yaml\n{CHASE}variants:\n  slow: {{machine: ./small.yaml}}\n  fast: {{machine: ./other/small.yaml}}\n"
    assert len(expand(load_experiment(write_experiment(tmp_path, text)))) == 2
