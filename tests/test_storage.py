"""Storage devices: what a page costs, device files, and the scan cost model's disk."""

import json
from pathlib import Path

import pytest
from files import SCAN_EXPERIMENT, write_experiment
from hypothesis import given
from hypothesis import strategies as st
from storage_pages import DEVICE
from typer.testing import CliRunner

from memwalk.analysis.cli.main import app
from memwalk.analysis.cost_models.table_scan import PROTOTYPE_UNIT_NS, Constants, Table, scan_cost
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import config_hash
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import Parts, SequentialRandomDevice, device_names, load_device, page_blocks, page_times_ps, serve_requests
from memwalk.simcore.storage.pages import READ, WRITE


def device() -> SequentialRandomDevice:
    """A device of two-block pages: 10 ps for a page that follows, 100 for another."""
    return SequentialRandomDevice(blocks=1000, page_blocks=2, sequential_ps=10, positioning=90)


def test_a_run_positions_once() -> None:
    served = device()
    assert served.serve(1000, 14, 6, write=False) == 1000 + 90 + 30
    assert served.parts == Parts(seek_ps=90, transfer_ps=30)
    assert served.serve(2000, 20, 4, write=False) == 2000 + 20
    assert served.serve(3000, 20, 2, write=True) == 3000 + 100
    assert served.serve(4000, 22, 1, write=False) == 4000 + 5


def test_requests_are_served_one_behind_the_other() -> None:
    requests = [[READ, 0, 2], [READ, 2, 1], ["prefetch", 3, 5], [WRITE, 9, 1]]
    assert serve_requests(device(), requests, page_blocks=2) == 110 + 10 + 100


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=30))
def test_how_a_run_is_cut_makes_no_difference(runs: list[tuple[int, int]]) -> None:
    whole = [[READ, first, pages] for first, pages in runs]
    single = [[READ, first + page, 1] for first, pages in runs for page in range(pages)]
    assert serve_requests(device(), whole, 2) == serve_requests(device(), single, 2)


def test_the_array_is_the_scan_cost_models_disk() -> None:
    """4000 pages in runs of 2048 per column: equation 10 counts 1.95 runs, which are 4 of 1000 pages, one per column."""
    array, unit_ps = load_device("raid0-6-disks").device(), 1000 * PROTOTYPE_UNIT_NS
    requests = [[READ, column * 5000, 1000] for column in range(4)]
    model = scan_cost("super-column", Table(8_000_000, 4), Constants())
    runs = 4 - 4000 / 2048
    assert serve_requests(array, requests, page_blocks(32 << 10)) == pytest.approx((model.io + runs * 435_000) * unit_ps, rel=1e-5)


@pytest.mark.parametrize(("page_bytes", "times"), [(8 << 10, (100, 5000)), (32 << 10, (400, 5300)), (1 << 10, (12.5, 4912.5))])
def test_longer_pages_take_longer_to_transfer_and_not_to_reach(tmp_path: Path, page_bytes: int, times: tuple[float, float]) -> None:
    (tmp_path / "small.yaml").write_text(DEVICE)
    small = load_device("./small.yaml", tmp_path).device()
    assert page_times_ps(small, page_blocks(page_bytes)) == tuple(1_000_000 * us for us in times)


def test_a_page_takes_whole_blocks() -> None:
    assert [page_blocks(size) for size in (1, 512, 513, 8192)] == [1, 1, 2, 16]


def test_every_device_that_comes_along_can_be_read() -> None:
    for name in device_names():
        assert len(load_device(name).source) > 20
    listed = CliRunner().invoke(app, ["list", "devices", "--json"])
    entries = {entry["name"]: entry for entry in json.loads(listed.stdout)}
    assert list(entries) == device_names()
    assert entries["raid0-6-disks"]["kind"] == "sequential-random"
    assert entries["raid0-6-disks"]["capacity (GB)"] == 1500


def test_device_files_have_a_schema() -> None:
    told = CliRunner().invoke(app, ["schema", "device"])
    assert "sequential_page" in json.dumps(json.loads(told.stdout))


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("source: made up for tests\n", "", "small.yaml:1:1: `source` is missing"),
        ("100us", "100", "small.yaml:6:18: sequential_page: `100` has no unit; write for example 7.2ms"),
        ("8KiB", "8k", "page_bytes: `8k` leaves open whether k means 1000 or 1024"),
        ("8KiB", "1000B", "page_bytes: 1000 bytes are no whole number of blocks of 512 bytes; write for example 8KiB"),
        ("5ms", "50us", "a random page takes no less time than a sequential one"),
        ("random_page", "random_pages", "small.yaml:7:1: unknown key `random_pages`; did you mean `random_page`?"),
        ("kind: sequential-random", "kind: random-sequential", "kind `random-sequential` is not one of sequential-random, disk"),
        ("description", "name: large\ndescription", "small.yaml:2:7: name `large` is not the file's name; write `small`"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert old in DEVICE
    (tmp_path / "small.yaml").write_text(DEVICE.replace(old, new, 1))
    with pytest.raises(UserError) as error:
        load_device("./small.yaml", tmp_path)
    assert answer in str(error.value)


def test_unknown_devices_are_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean `raid0-6-disks`"):
        load_device("raid-6-disks")


def test_another_device_is_another_configuration(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    experiment = write_experiment(tmp_path, SCAN_EXPERIMENT + "storage: ./device.yaml\n")
    before = config_hash(expand(load_experiment(experiment)))
    (tmp_path / "device.yaml").write_text(DEVICE.replace("5ms", "6ms"))
    assert config_hash(expand(load_experiment(experiment))) != before


def test_an_experiment_with_an_unknown_device_is_told_where(tmp_path: Path) -> None:
    experiment = load_experiment(write_experiment(tmp_path, SCAN_EXPERIMENT + "storage: raid0-disks\n"))
    with pytest.raises(UserError, match=r"experiment\.yaml[^ ]*: storage device `raid0-disks`: not in .*; did you mean `raid0-6-disks`"):
        expand(experiment)
