"""docs/extending.md, step by step: what it adds is built and run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from files import ROOT

GUIDE = (ROOT / "docs/extending.md").read_text()
BLOCK = r"```\w+\n(.*?)```"
"""A block of code, whatever its language."""


def steps() -> list[tuple[str, str, str, str]]:
    """List the guide's changes in order: file, what is done, where, the code."""
    new, user = r"Write `(?P<new>[^`]+)`", r"(?:a file|an experiment) `(?P<user>[^`]+)`"
    old = r"In `(?P<old>[^`]+)`, (?P<how>before the line|behind the line|in place of) `(?P<where>[^`]+)`"
    pattern = rf"(?:{new}|{user}|{old}):\n\n{BLOCK}"
    found = []
    for match in re.finditer(pattern, GUIDE, re.DOTALL):
        new = match["new"] or match["user"]
        found.append((new or match["old"], match["how"] or "write", match["where"] or "", match[6]))
    return found


def commands() -> list[str]:
    return re.findall(r"^\$ (memwalk .*)$", GUIDE, re.MULTILINE)


def changed(text: str, how: str, where: str, code: str) -> str:
    """Do what a step says; where it is to be done has to be in the file once."""
    if how == "in place of":
        assert text.count(where) == 1, where
        return text.replace(where, code.rstrip("\n"))
    lines = text.splitlines(keepends=True)
    (place,) = [number for number, line in enumerate(lines) if line.rstrip("\n") == where]
    lines.insert(place + (how == "behind the line"), code)
    return "".join(lines)


def extended(folder: Path) -> Path:
    """Make a copy of memwalk with everything that the guide adds, and build it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, folder / name
        if name.startswith(("docs/", "tests/", "notebooks/")) or not (source.is_file() or source.is_symlink()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target, follow_symlinks=False)
    for name, how, where, code in steps():
        path = folder / name
        if how == "write":
            assert not path.exists(), name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        else:
            path.write_text(changed(path.read_text(), how, where, code))
    # With what other tests have compiled of foreign code; our own is only tried, which needs no optimization.
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    quick = [f"--config=profile.dev.package.memwalk-{crate}.opt-level=0" for crate in ("traces", "simcore", "workloads", "bindings")]
    build = ["cargo", "build", "--quiet", "--package", "memwalk-bindings", "--no-default-features", "--offline", *quick]
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert built.returncode == 0, built.stderr
    (library,) = [path for path in (ROOT / "target/debug").glob("*native.*") if path.suffix in (".so", ".dylib")]
    shutil.copy(library, folder / "simcore/_native.abi3.so")
    return folder


def memwalk(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "memwalk", *shlex.split(command)[1:]]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


def test_the_guide_says_something() -> None:
    assert len(steps()) > 20
    assert len(commands()) > 10
    family = next(code for name, *_, code in steps() if name.startswith("workloads/src/array/"))
    assert len(family.splitlines()) < 170


@pytest.mark.nightly
def test_what_the_guide_adds_works(tmp_path: Path) -> None:
    """One test, as one build serves all of it."""
    folder = extended(tmp_path / "memwalk")
    for command in commands():
        done = memwalk(folder, command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    check_the_family(folder)
    check_policy_and_prefetcher(folder)
    check_the_device(folder)
    check_what_threads_cannot_be(folder)


def check_the_family(folder: Path) -> None:
    """It runs on any number of cores, and live as replayed."""
    live = pd.read_parquet(folder / "out/array/results.parquet").set_index("variant")
    cores = pd.read_parquet(folder / "out/array/cores.parquet")
    assert list(live["operations"]) == [200, 1600, 6400]
    assert cores.groupby("variant", sort=False).size().to_dict() == {"8 cores": 8, "32 cores": 32}
    assert cores.groupby("variant")["events"].sum().to_dict() == live["events"].drop("1 core").to_dict()
    assert live["bus_fills"].is_monotonic_increasing
    assert live.loc["32 cores", "cycles"] < 6 * live.loc["1 core", "cycles"], "cores work at the same time"
    for variant, number in (("1 core", 1), ("8 cores", 8), ("32 cores", 32)):
        trace = f"one-{number}.parquet"
        assert memwalk(folder, f'memwalk trace record array.yaml --variant "{variant}" -o {trace}').returncode == 0
        at = f"--machine thesis-simulator {f'--set machine.cores={number}' if number > 1 else ''}"
        out = f"out/replayed-{number}"
        done = memwalk(folder, f"memwalk replay {trace} {at} --out {out}")
        assert done.returncode == 0, done.stderr
        (replayed,) = pd.read_parquet(folder / out / "results.parquet").to_dict("records")
        expected = live.loc[variant].dropna().to_dict()
        same = {
            name
            for name in expected
            if name in replayed and not name.startswith(("workload.", "machine.")) and name not in ("point", "experiment")
        }
        assert len(same) > 40
        assert {name: replayed[name] for name in same} == {name: expected[name] for name in same}
    imports = "from pathlib import Path; from memwalk.simcore.engines import native; from memwalk.simcore.machine import load_machine"
    code = f"{imports}; machine = load_machine('thesis-simulator').native() | {{'cores': 8}}; "
    code += "replayed = native.replay(Path('one-8.parquet'), machine); print(len(replayed['cores']), replayed['cycles'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["8", str(live.loc["8 cores", "cycles"])], done.stderr


def check_policy_and_prefetcher(folder: Path) -> None:
    """They make a difference."""
    plain, mru, previous = (pd.read_parquet(folder / f"out/{name}/results.parquet") for name in ("array", "mru", "previous"))
    assert (mru["L1_misses"] > plain["L1_misses"]).all()
    assert (previous["L2_prefetches_issued"] > 0).all()
    assert (previous["cycles"] != plain["cycles"]).all()


def check_the_device(folder: Path) -> None:
    """It takes the time that its file says."""
    (row,) = pd.read_parquet(folder / "out/requests/results.parquet").to_dict("records")
    blocks = row["blocks"] if "blocks" in row else row["io_blocks"]
    assert row["seconds"] == pytest.approx(1000 * 50e-6 + blocks * 1e-6)


def check_what_threads_cannot_be(folder: Path) -> None:
    """It is told in one line."""
    (folder / "one.yaml").write_text(
        "schema_version: 1\nid: one\nmachine: thesis-simulator\nworkload: {kernel: array-search, keys: 1000, searches: 10}\n"
    )
    for setting, told in (
        ("workload.threads=8", "8 threads need as many cores, but machine thesis-simulator has 1; set machine.cores: 8"),
        ("workload.threads=300", "threads: `300` is too large; the most is 256"),
        ("machine.cores=8", "machine.cores has no effect on this run"),
    ):
        done = memwalk(folder, f"memwalk run one.yaml --set {setting} --out out/one")
        assert done.returncode == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr
