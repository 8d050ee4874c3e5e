"""Results know what made them: the same command gives the new result when code or files have changed, and the old points when not."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from files import EXPERIMENT, ROOT, command_server, memwalk, served, write_experiment
from test_import_directions import imported

from memwalk.analysis.experiments import provenance as provenance_module
from memwalk.analysis.experiments import session
from memwalk.analysis.experiments.canonical import digest
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row, distinct_points
from memwalk.analysis.experiments.provenance import LIBRARIES, NATIVE, PYTHON, differences
from memwalk.analysis.experiments.results import read_table
from memwalk.analysis.experiments.runner import run_points
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows

ON_DISK = """\
schema_version: 1
id: disk
storage: ./disk.yaml
workload: {kernel: requests, count: 20, blocks: 16}
grid: {workload.seed: [1, 2]}
"""

BOTH = """\
schema_version: 1
id: both
machine: pentium2-xeon-400
dbms: shore-pentium2
storage: ./disk.yaml
workload: {kernel: table, operation: scan, layout: nsm, records: 1000}
"""


class Work:
    """A folder with experiments, in which this memwalk runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        write_experiment(folder, EXPERIMENT)
        (folder / "disk-experiment.yaml").write_text(ON_DISK)
        (folder / "both.yaml").write_text(BOTH)
        shutil.copy(ROOT / "configs" / "devices" / "cheetah-36es.yaml", folder / "disk.yaml")

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return memwalk(*arguments, cwd=self.folder)

    def run(self, experiment: str, *options: str) -> str:
        """Run an experiment of the folder into a folder of its name; returns stderr."""
        done = self.command("run", experiment, "--out", f"out-{experiment}", "--jobs", "1", *options)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def points(self, experiment: str) -> dict[str, int]:
        """Return when each point's file was written."""
        return {path.stem: path.stat().st_mtime_ns for path in (self.folder / f"out-{experiment}" / "points").glob("*.json")}

    def column(self, experiment: str, name: str) -> list[float]:
        return list(read_table(self.folder / f"out-{experiment}" / "results.parquet")[name])


class Installed(Work):
    """A memwalk of its own, laid out as a wheel lays it out, without git; and a folder to run it in.

    A process imports it once, and is forked for each command, which reads what its provenance is of anew.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "work")
        self.site = folder / "site"
        unused = shutil.ignore_patterns("src", "tests", "examples", "__pycache__", "papers")
        shutil.copytree(ROOT / "memwalk", self.site / "memwalk", ignore=unused)
        self.server: subprocess.Popen[str] | None = None

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        if self.server is None:
            self.server = command_server(os.environ | {"PYTHONPATH": str(self.site)})
        return served(self.server, arguments, self.folder)

    def change(self, file: str, old: str, new: str) -> None:
        """Change what is imported: the next command is of another process."""
        self.stop()
        path = self.site / "memwalk" / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def stop(self) -> None:
        if self.server is not None:
            self.server.communicate()
            self.server = None


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installed]:
    found = Installed(tmp_path)
    yield found
    found.stop()


def test_a_changed_line_of_python_gives_the_new_result_of_storage(installed: Installed) -> None:
    assert "computed again" not in installed.run("disk-experiment.yaml")
    installed.run("experiment.yaml", "--scale", "quick")
    before = installed.points("disk-experiment.yaml"), installed.column("disk-experiment.yaml", "io_bus_seconds")
    processor = installed.points("experiment.yaml")
    assert "computed again" not in installed.run("disk-experiment.yaml")
    assert installed.points("disk-experiment.yaml") == before[0]

    installed.change("simcore/storage/disk/file.py", "bus_ps=self.bus_per_block", "bus_ps=3 * self.bus_per_block")
    told = [line for line in installed.run("disk-experiment.yaml").splitlines() if "computed again" in line]
    assert len(told) == 1
    assert "2 points were computed by other code (what differs: Python sources)" in told[0]
    after = installed.column("disk-experiment.yaml", "io_bus_seconds")
    assert all(new > 1.5 * old for new, old in zip(after, before[1], strict=True))
    assert all(installed.points("disk-experiment.yaml")[point] > written for point, written in before[0].items())
    manifest = json.loads((installed.folder / "out-disk-experiment.yaml" / "manifest.json").read_text())
    assert manifest["end_reason"] == "completed"

    assert "computed again" not in installed.run("experiment.yaml", "--scale", "quick")
    assert installed.points("experiment.yaml") == processor, "no disk has a hand in it"


def test_programs_their_commands_and_what_runs_them_are_part_of_what_computes(installed: Installed) -> None:
    installed.run("disk-experiment.yaml")
    program = "workloads/programs/transfers.py"
    # Comments, so that it does not matter that the process has imported these files already.
    for file in (program, "traces/storage.py", "simcore/storage/run.py", "analysis/storage_workloads/requests.py"):
        path = installed.site / "memwalk" / file
        path.write_text(path.read_text() + "# changed\n")
        assert "2 points were computed by other code (what differs: Python sources)" in installed.run("disk-experiment.yaml"), file
    assert "computed again" not in installed.run("disk-experiment.yaml")


def test_another_native_module_computes_again(installed: Installed) -> None:
    installed.run("experiment.yaml", "--scale", "quick")
    before = installed.points("experiment.yaml")
    with (installed.site / "memwalk" / "simcore" / "_native.abi3.so").open("ab") as file:
        file.write(b"another kernel")
    told = installed.run("experiment.yaml", "--scale", "quick")
    assert told.count("computed again") == 1
    assert f"{len(before)} points were computed by other code (what differs: native module)" in told
    after = installed.points("experiment.yaml")
    assert after.keys() == before.keys()
    assert all(after[point] > before[point] for point in before)
    assert "computed again" not in installed.run("experiment.yaml", "--scale", "quick")
    assert installed.points("experiment.yaml") == after


def test_another_number_in_a_device_file_gives_the_new_result(tmp_path: Path) -> None:
    work = Work(tmp_path / "work")
    for experiment in ("disk-experiment.yaml", "both.yaml"):
        work.run(experiment)
        device = work.folder / "disk.yaml"
        text = device.read_text()
        old = work.points(experiment), work.column(experiment, "io_transfer_seconds")
        device.write_text(text.replace("rpm: 10000", "rpm: 5000"))
        assert "files that the experiment names, or defaults, have changed since" in work.run(experiment)
        assert all(new != before for new, before in zip(work.column(experiment, "io_transfer_seconds"), old[1], strict=True))
        new = work.points(experiment)
        assert "computed again" not in work.run(experiment)
        assert work.points(experiment) == new
        device.write_text(text)
        work.run(experiment)
        assert work.column(experiment, "io_transfer_seconds") == old[1]
        assert work.points(experiment).items() >= old[0].items(), "the points of before are still there and right"


def small_rows(folder: Path) -> list[Row]:
    return expand(load_experiment(write_experiment(folder)), "quick")


def test_points_of_before_provenance_was_kept_are_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = distinct_points(small_rows(tmp_path))[:3]
    new = run_points(points, tmp_path / "points", jobs=1)
    path = tmp_path / "points" / f"{points[0].id}.json"
    content = json.loads(path.read_text())
    content["statistics"]["cycles"] = 1
    content = {key: value for key, value in content.items() if key not in ("computed_by", "sha256")}
    old = content | {"simulator": {"version": "0.1.0", "commit": "1234"}, "sha256": digest(content)}
    path.write_text(json.dumps(old))
    assert run_points(points, tmp_path / "points", jobs=1) == new
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'points'}: 1 point was computed by other code (what differs: native module, Python sources); it is computed again"
    ]


def test_what_simulation_imports_is_part_of_what_computes() -> None:
    """Of `memwalk.analysis`, whose modules are named one by one. Some make points, whose content is known, and some tell of progress."""
    others = {f"experiments/{name}.py" for name in ("heard", "page_files", "parameters", "resolve", "workload")}
    folder, found, rest = ROOT / "analysis", set(), ["experiments/simulation.py"]
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            steps = [one.split(".")[2:] for one in imported((folder / name).read_text()) if one.startswith("memwalk.analysis.")]
            modules = {"/".join(part) + ".py" for way in steps for part in (way, way[:-1]) if part}
            rest += [module for module in modules if (folder / module).exists()]
    found = {name for name in found if not name.startswith("storage_workloads/")} - others
    assert found == {*provenance_module._OF_ALL, *provenance_module._OF_SEVERAL}


def test_differences_name_the_parts() -> None:
    ours = {NATIVE: "1", PYTHON: "2"}
    assert differences(ours, ours) == []
    assert differences({NATIVE: "1", PYTHON: "3", LIBRARIES: "4"}, ours) == [PYTHON, LIBRARIES]
    assert differences({}, ours) == [NATIVE, PYTHON]


@pytest.mark.parametrize("name", ["results.parquet", "breakdown.parquet"])
def test_a_damaged_table_of_a_finished_folder_is_made_again(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "out", jobs=1)
    table = tmp_path / "out" / name
    whole = table.read_bytes()
    for damaged in (whole[:-100], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], b""):
        table.write_bytes(damaged)
        caplog.clear()
        run_rows("small", rows, tmp_path / "out", jobs=1)
        assert table.read_bytes() == whole
        assert [record.getMessage() for record in caplog.records] == [f"{table}: does not hold what its points give; it is made again"]


def test_a_finished_folder_needs_no_storage_to_make_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "both.yaml").write_text(BOTH.replace("./disk.yaml", "cheetah-36es"))
    rows = expand(load_experiment(tmp_path / "both.yaml"))
    run_rows("both", rows, tmp_path / "out", jobs=1)
    table = tmp_path / "out" / "results.parquet"
    before = table.read_bytes()
    assert read_table(table)["io_seconds"][0] > 0
    table.unlink()
    monkeypatch.setattr("simpy.Environment.run", lambda *_: pytest.fail("storage was simulated"))
    run_rows("both", rows, tmp_path / "out", jobs=1)
    assert table.read_bytes() == before


def test_an_interrupted_run_leaves_no_table_of_the_code_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "out", jobs=1)
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"native module": "', '"native module": "0'))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "finish_points", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_rows("small", rows, tmp_path / "out", jobs=1)
    assert not list((tmp_path / "out").glob("*.parquet"))
