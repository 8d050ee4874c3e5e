"""Machines whose DRAM is simulated: files found, mistakes told, facts derived, live runs equal to replayed ones."""

from pathlib import Path

import pytest
from files import MACHINE

from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.paths import configs

PRESET = configs() / "dram" / "ddr4-3200.ini"
FIXED = next(line for line in MACHINE.splitlines() if line.startswith("memory:"))
SIMULATED = MACHINE.replace(FIXED, "memory: {model: dramsim3, config: my.ini, path_latency_cycles: 20ns, write_backs: true}")
WORKLOAD = {
    "kernel": "pointer-array",
    "lines": 500,
    "distance_lines": 4,
    "line_bytes": 64,
    "word_bytes": 8,
    "page_bytes": 8192,
    "pages": 32,
    "seed": 1,
}

needs_dramsim3 = pytest.mark.skipif(not native.build_info()["dramsim3"], reason="built without a C++ compiler")


def write(folder: Path, machine: str = SIMULATED, ini: str | None = None) -> Path:
    (folder / "my.ini").write_text(PRESET.read_text() if ini is None else ini)
    file = folder / "small.yaml"
    file.write_text(machine)
    return file


def test_an_ini_file_beside_the_machine_file_is_found_first_and_then_ours(tmp_path: Path) -> None:
    machine = load_machine(str(write(tmp_path)))
    assert machine.native()["memory"]["config"] == {"path": "my.ini", "text": PRESET.read_text()}
    ours = load_machine(str(write(tmp_path, SIMULATED.replace("my.ini", "hbm2-2000.ini"))))
    assert "HBM2" in ours.native()["memory"]["config"]["text"]


def test_derived_numbers_are_those_of_the_idle_dram(tmp_path: Path) -> None:
    derived = load_machine(str(write(tmp_path))).derived()
    assert derived["peak_bandwidth_bytes_per_second"] == 25_600_000_000
    # 20 ns outside, 30.625 ns inside; a line takes 2.5 ns.
    assert derived["normalized_bandwidth"] == pytest.approx(50.625 / 2.5)


@pytest.mark.parametrize(
    ("machine", "ini", "message"),
    [
        (SIMULATED, PRESET.read_text().replace("tREFI", "REFI"), "unknown key `REFI` in [timing]; did you mean `tREFI`?"),
        (SIMULATED, "", "my.ini:1: [dram_structure] lacks `protocol`"),
        (SIMULATED.replace("my.ini", "ddr4-320.ini"), None, "did you mean `ddr4-3200.ini`?"),
        (SIMULATED.replace("my.ini", "4"), None, "config names an ini file"),
        (SIMULATED.replace("20ns", "2cycles"), None, "2 is less than the last cache takes (15 cycles)"),
        (SIMULATED.replace("dramsim3", "dramsim"), None, "is not one of"),
    ],
)
def test_mistakes_are_told_at_the_machine_file(tmp_path: Path, machine: str, ini: str | None, message: str) -> None:
    file = write(tmp_path, machine, ini)
    with pytest.raises(UserError) as error:
        load_machine(str(file))
    line = 1 + machine.splitlines().index(next(line for line in machine.splitlines() if line.startswith("memory:")))
    assert message in str(error.value)
    assert f"small.yaml:{line}:" in str(error.value)
    assert "\n" not in str(error.value)


@needs_dramsim3
def test_a_replayed_trace_gives_what_the_live_run_gave(tmp_path: Path) -> None:
    machine = load_machine(str(write(tmp_path))).native()
    live = native.simulate(machine, WORKLOAD)
    native.record(WORKLOAD, tmp_path / "t.parquet")
    assert native.replay(tmp_path / "t.parquet", machine) == live
    assert live["dram"]["reads"] == live["bus"]["fills"]


@needs_dramsim3
def test_hbm2_has_the_bandwidth_that_ddr4_lacks(tmp_path: Path) -> None:
    def cycles(ini: str) -> int:
        machine = SIMULATED.replace("my.ini", ini).replace("mshrs: 8", "mshrs: 256").replace("1GHz", "4GHz")
        run = native.simulate(load_machine(str(write(tmp_path, machine))).native(), WORKLOAD | {"distance_lines": 200})
        return int(run["cycles"])

    assert cycles("hbm2-2000.ini") < 0.8 * cycles("ddr4-3200.ini")


@pytest.mark.skipif(native.build_info()["dramsim3"], reason="DRAMSim3 is built in")
def test_without_dramsim3_the_remedy_is_said(tmp_path: Path) -> None:
    machine = load_machine(str(write(tmp_path))).native()
    with pytest.raises(native.SpecError, match="built without DRAMSim3"):
        native.simulate(machine, WORKLOAD)
