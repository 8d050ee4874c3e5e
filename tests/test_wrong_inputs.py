"""Twelve wrong inputs, and a few more: each is answered with one clear line, exit code 2, and nothing half-written."""

import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from files import EXPERIMENT, MACHINE, ROOT, memwalk, write_experiment


@dataclass(frozen=True)
class Wrong:
    """A mistake: what is prepared in an empty folder, the arguments, and what the answer must name."""

    prepare: Callable[[Path], None]
    arguments: str
    """Split at spaces; the command runs in the folder."""
    names: tuple[str, ...]
    """File and place, what is wrong, remedy."""
    before: Callable[[], None] | None = None
    """Runs in the process, first."""


def files(experiment: tuple[str, str] = ("", ""), machine: tuple[str, str] = ("", "")) -> Callable[[Path], None]:
    """Prepares the small experiment and machine with one piece of text replaced in each."""

    def prepare(folder: Path) -> None:
        assert experiment[0] in EXPERIMENT
        assert machine[0] in MACHINE
        write_experiment(folder, EXPERIMENT.replace(*experiment, 1), MACHINE.replace(*machine, 1))

    return prepare


def trace(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """Prepares a trace file and spoils it."""

    def prepare(folder: Path) -> None:
        write_experiment(folder)
        made = memwalk(*RECORD.split(), cwd=folder)
        assert made.returncode == 0, made.stderr
        change(folder / "t.parquet")

    return prepare


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def foreign(folder: Path) -> None:
    pd.DataFrame({"kind": [0, 1], "address": [64, 128]}).to_parquet(folder / "t.parquet")


def out_in_file(folder: Path) -> None:
    write_experiment(folder)
    (folder / "file").write_text("in the way")


def trace_in_the_way(folder: Path) -> None:
    write_experiment(folder)
    (folder / "t.parquet").mkdir()


def results(folder: Path) -> None:
    write_experiment(folder)
    for name in ("two", "one"):
        (folder / "out" / name).mkdir(parents=True)
        (folder / "out" / name / "results.parquet").touch()


def one_paper(folder: Path) -> None:
    """Prepares configurations with one of our papers: reading all takes seconds."""
    (folder / "configs/papers").mkdir(parents=True)
    for path in (*(ROOT / "configs").iterdir(), ROOT / "configs/papers/thesis-ch2"):
        if path.name != "papers":
            (folder / path.relative_to(ROOT)).symlink_to(path)


def full_disk() -> None:
    """Lets no file grow beyond 3000 bytes: what a full disk does, without one."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def few_files() -> None:
    """Lets no more files be open than a program begins with."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))


RUN = "run experiment.yaml --scale quick --jobs 1 --out out"
RECORD = "trace record experiment.yaml --scale quick --variant B+ --set workload.seed=1 -o t.parquet"

GRID = "grid:\n  workload.keys: [1000, 2000]\n  machine.memory.latency_cycles: [100cycles, 150ns]\n"

WRONG = {
    "misspelt key": Wrong(
        files(experiment=("operations: 50", "opertions: 50")),
        RUN,
        ("experiment.yaml:10:3", "unknown key `opertions`", "did you mean `operations`?"),
    ),
    "impossible geometry": Wrong(
        files(machine=("64KiB", "64100B")), RUN, ("small.yaml:19:28", "caches.1.size_bytes", "64100 bytes", "sets")
    ),
    "truncated trace": Wrong(trace(truncate), "replay t.parquet --machine ./small.yaml", ("t.parquet", "trace")),
    "foreign trace": Wrong(foreign, "trace check t.parquet", ("t.parquet", "trace")),
    "unknown figure": Wrong(one_paper, "reproduce fig-2.31 --out out", ("no figure or paper is called `fig-2.31`", "did you mean `fig-2.")),
    "negative size": Wrong(
        files(machine=("4KiB", "-4KiB")), RUN, ("small.yaml:18:28", "caches.0.size_bytes", "`-4KiB` is negative", "64B or 16KiB")
    ),
    "missing file": Wrong(files(), "run nowhere.yaml", ("nowhere.yaml", "No such file", "name a YAML file")),
    "a size with an ambiguous unit": Wrong(
        files(machine=("4KiB", "32k")), RUN, ("small.yaml:18:28", "`32k` leaves open whether k means 1000 or 1024", "write 32KiB")
    ),
    "a time where bytes belong": Wrong(
        files(machine=("8KiB", "30ns")), RUN, ("small.yaml:21:15", "dtlb.page_bytes: `30ns` is in time", "16KiB")
    ),
    "a latency without a unit": Wrong(
        files(), f"{RUN} --set machine.memory.latency_cycles=250", ("--set", "`250` has no unit", "write for example 250cycles")
    ),
    "unwritable folder": Wrong(
        out_in_file, "run experiment.yaml --scale quick --out file/out", ("file/out", "Not a directory", "choose another place")
    ),
    "full disk": Wrong(files(), RUN, ("out/points/", "File too large", "free the space"), full_disk),
    "full disk, trace": Wrong(files(), RECORD, ("t.parquet", "File too large"), full_disk),
    "a directory where a file belongs": Wrong(
        lambda folder: (folder / "experiment.yaml").mkdir(), RUN, ("experiment.yaml", "is a folder", "name a YAML file")
    ),
    "a directory where a trace belongs": Wrong(trace_in_the_way, "trace check t.parquet", ("t.parquet", "directory")),
    "a list where a map belongs": Wrong(
        files(experiment=(GRID, "grid: [1, 2]\n")),
        RUN,
        ("experiment.yaml:15:7", "grid: a list stands where a map of `key: value` belongs"),
    ),
    "an existing trace": Wrong(trace(lambda _: None), RECORD, ("t.parquet", "exists already", "choose another name")),
    "several workloads for one trace": Wrong(
        files(), "trace record experiment.yaml -o x.parquet", ("comes down to 8 workloads", "--variant", "workload.keys")
    ),
    "unknown command": Wrong(files(), "explian out", ("no command `explian`", "did you mean `explain`?")),
    "no Dask scheduler": Wrong(
        files(),
        "run experiment.yaml --scale quick --scheduler tcp://127.0.0.1:1 --out out",
        ("--scheduler tcp://127.0.0.1:1", "no Dask scheduler answers"),
    ),
    "nothing to explain": Wrong(files(), "explain small.yaml", ("small.yaml: is no result", "name a results folder")),
    "a folder of results' folders": Wrong(
        results, "explain out", ("out/results.parquet: no such file", "a finished `memwalk run`, such as out/one")
    ),
    "no folder to explain": Wrong(files(), "explain nowhere", ("nowhere: no such file or folder", "`memwalk run`")),
    "an unknown choice": Wrong(files(), "list nonsense", ("'nonsense' is not one of 'machines'", "`memwalk list --help`")),
    "parameters of no kernel": Wrong(files(), "list parameters reqests", ("`reqests` is no kernel", "did you mean `requests`?")),
    "a missing argument": Wrong(files(), "schema", ("Missing argument 'kind'", "experiment", "`memwalk schema --help`")),
    "an option out of range": Wrong(
        files(), RUN.replace("--jobs 1", "--jobs 0"), ("'--jobs'", "`0` is too small; the least is 1", "`memwalk run --help`")
    ),
    "a folder's name that is too long": Wrong(files(), f"{RUN}{'n' * 300}", ("nnn", "File name too long", "name another place")),
    "an experiment's name that is too long": Wrong(
        files(experiment=("id: small", f"id: {'n' * 300}")), "run experiment.yaml --scale quick", ("nnn", "File name too long")
    ),
    "a device for an experiment": Wrong(files(), "run /dev/zero", ("/dev/zero: more than 8 MiB", "name a YAML file")),
    "few open files": Wrong(files(), RUN.replace("--jobs 1", "--jobs 2"), ("Too many open files", "ulimit"), few_files),
    "an unknown option": Wrong(files(), "--job 1", ("No such option: --job", "`memwalk --help`")),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_clear_line_exit_code_2_nothing_half_written(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = WRONG[name]
    wrong.prepare(tmp_path)
    if wrong.prepare is one_paper:
        monkeypatch.setenv("MEMWALK_CONFIGS", str(tmp_path / "configs"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    done = memwalk(*wrong.arguments.split(), cwd=tmp_path, before=wrong.before)

    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("memwalk: error: ")]
    assert len(errors) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    for part in wrong.names:
        assert part in errors[0]
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    new = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert not [path for path in new if path.name not in ("manifest.json",)], "half-written files are left"
