"""A native module that is older than its sources is told of: what it computes is not what they say."""

import os
import tomllib
from pathlib import Path

import pytest
from files import ROOT

from memwalk.analysis.cli import console
from memwalk.simcore import stale_build
from memwalk.simcore.stale_build import CRATES, newer_source

BUILT = 1_000
"""When the module was built, in seconds."""


def write(path: Path, at: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (at, at))
    return path


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """Make a checkout whose module is newer than all that it is made of."""
    for name in ("Cargo.toml", "Cargo.lock"):
        write(tmp_path / name, BUILT - 1)
    for crate in CRATES:
        write(tmp_path / crate / "Cargo.toml", BUILT - 1)
        write(tmp_path / crate / "src" / "lib.rs", BUILT - 1)
    return write(tmp_path / "simcore" / "_native.abi3.so", BUILT)


def test_a_module_newer_than_its_sources_is_right(module: Path) -> None:
    assert newer_source(module) is None


@pytest.mark.parametrize("name", ["Cargo.toml", "Cargo.lock", "simcore/Cargo.toml", "workloads/src/join/pages.rs"])
def test_the_source_that_changed_last_is_named(module: Path, name: str) -> None:
    checkout = module.parent.parent
    write(checkout / "traces" / "src" / "lib.rs", BUILT + 1)
    changed = write(checkout / name, BUILT + 2)
    assert newer_source(module) == changed


def test_crates_are_those_of_the_workspace() -> None:
    """All but the benchmarks."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert {*CRATES, "benches"} == set(workspace["members"])


def test_other_files_do_not_matter(module: Path) -> None:
    checkout = module.parent.parent
    for name in ("benches/src/lib.rs", "simcore/machine.py", "simcore/tests/suite/main.rs"):
        write(checkout / name, BUILT + 1)
    assert newer_source(module) is None


def test_what_is_installed_has_no_sources(tmp_path: Path) -> None:
    assert newer_source(write(tmp_path / "memwalk" / "simcore" / "_native.abi3.so", BUILT)) is None


def test_a_module_is_found_through_a_link(module: Path, tmp_path: Path) -> None:
    (tmp_path / "memwalk").mkdir()
    (tmp_path / "memwalk" / "simcore").symlink_to(module.parent)
    changed = write(module.parent / "src" / "core.rs", BUILT + 1)
    assert newer_source(tmp_path / "memwalk" / "simcore" / module.name) == changed


def test_the_module_that_runs_is_told_of(module: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    changed = write(module.parent / "src" / "core.rs", BUILT + 1)
    monkeypatch.setattr(stale_build._native, "__file__", str(module))
    console.warn_of_build()
    assert f"warning: {changed} is newer than the simulator that is built; `make setup` builds it again" in capsys.readouterr().err
