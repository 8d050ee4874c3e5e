"""Several memories in a machine file: which structures lie where, and what that costs."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from files import MACHINE, memwalk
from test_machine import machine, setting

from memwalk.analysis.advice.joins.task import JoinTask
from memwalk.analysis.experiments.results import flatten
from memwalk.analysis.experiments.schema_paths import takes_list
from memwalk.simcore.engines import native
from memwalk.simcore.engines.gem5_script import gem5_script
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.machine_schema import json_schema
from memwalk.simcore.memories import first_memory, only_memory
from memwalk.simcore.yaml_source import load

FAR = """\
schema_version: 1
extends: ./small.yaml
memory:
  - {name: dram, model: fixed, latency_cycles: 150ns, interval_cycles: 15cycles, write_backs_use_bus: true, source: as small}
  - {name: cxl, model: fixed, latency_cycles: 400ns, interval_cycles: 40cycles, write_backs_use_bus: true, source: made up, holds: [frames]}
"""
INDEX = {"kernel": "disk-index", "operation": "search", "structure": "array", "page_bytes": 4096, "keys": 20_000, "pool_frames": 60}
SEARCHES = INDEX | {"operations": 500, "caches": "empty"}


def far_machine(folder: Path, text: str = FAR, *settings: Any) -> dict[str, Any]:
    machine(folder)
    return machine(folder, text, "far", *settings).native()


def test_a_list_is_read_with_units_sources_and_names(tmp_path: Path) -> None:
    machine(tmp_path)
    far = machine(tmp_path, FAR, "far", setting("memory.cxl.latency_cycles", "1us"), setting("memory.1.holds", ["page table"]))
    assert far.native()["memory"][1] == {
        "name": "cxl",
        "model": "fixed",
        "latency_cycles": 1000,
        "interval_cycles": 40,
        "write_backs_use_bus": True,
        "holds": ["page table"],
    }
    assert far.sources["memory.0.latency_cycles"] == "as small"
    assert far.sources["memory.1.latency_cycles"] == "set at --set memory.cxl.latency_cycles=1us"
    assert far.derived() == machine(tmp_path).derived(), "what follows is of the first memory"
    assert "memory.0.latency_cycles: 150ns at 1000000000 Hz is 150 cycles" in far.conversions()


@pytest.mark.parametrize(
    ("before", "after", "place", "message"),
    [
        ("holds: [frames]", "keeps: [frames]", "5:", "unknown key `keeps`"),
        ("holds: [frames]", "holds: frames", "5:", "memory.1.holds: text stands where a list belongs"),
        ("name: cxl, model: fixed", "name: cxl, model: flash", "5:", "`flash` is not one of fixed, dramsim3"),
        ("name: cxl, ", "", "5:", "`memory.1.name` is missing"),
        ("400ns", "400", "5:", "memory.1.latency_cycles: `400` has no unit"),
        (", source: made up", "", "5:", "memory.1.latency_cycles has no source"),
        ("name: cxl", "name: dram", "5:", "`dram` is the name of two memories"),
        ("name: dram, ", "name: dram, holds: [frames], ", "4:", "the first memory holds what no other does"),
    ],
)
def test_mistakes_are_told_where_they_are(tmp_path: Path, before: str, after: str, place: str, message: str) -> None:
    assert before in FAR
    with pytest.raises(UserError) as error:
        far_machine(tmp_path, FAR.replace(before, after))
    assert f"far.yaml:{place}" in str(error.value)
    assert message in str(error.value)


def test_one_memory_has_neither_name_nor_structures(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown key `holds`"):
        machine(tmp_path, MACHINE.replace("memory: {", "memory: {holds: [frames], "))
    with pytest.raises(UserError, match="write a single one without a list"):
        far_machine(tmp_path, FAR.rsplit("\n", 2)[0] + "\n")


def test_editors_know_lists_of_memories(tmp_path: Path) -> None:
    (tmp_path / "far.yaml").write_text(MACHINE.replace("memory: {", "one: {") + FAR.partition("extends: ./small.yaml\n")[2])
    whole = load(tmp_path / "far.yaml").data
    del whole["one"]
    jsonschema.validate(whole, json_schema())
    whole["memory"][1]["keeps"] = whole["memory"][1].pop("holds")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole, json_schema())


def test_what_a_memory_holds_is_a_list_and_a_memory_may_be_one() -> None:
    assert takes_list(("machine", "memory", "cxl", "holds"))
    assert not takes_list(("machine", "memory"))
    assert not takes_list(("machine", "memory", "1", "latency_cycles"))


def test_lines_come_from_where_their_structure_lies(tmp_path: Path) -> None:
    near = far_machine(tmp_path, FAR.replace("400ns", "150ns").replace("40cycles", "15cycles"))
    far = far_machine(tmp_path)
    one, same, slow = (native.simulate(spec, SEARCHES) for spec in (machine(tmp_path).native(), near, far))
    assert [same["bus"], slow["bus"]] == [one["bus"]] * 2, "where lines lie moves none"
    flat = flatten(slow)
    assert flat["memory_cxl_fills"] + flat["memory_dram_fills"] == flat["bus_fills"]
    assert 0 < flat["memory_cxl_fills"] < flat["bus_fills"]

    def waited(found: dict[str, Any], segment: str) -> int:
        return sum(part["slots"]["dcache"]["memory"] for part in found["breakdown"] if part["segment"] == segment)

    assert waited(slow, "frames") > 2 * waited(one, "frames")
    assert slow["cycles"] > one["cycles"]


def test_a_simulated_dram_may_stand_beside_a_slower_memory() -> None:
    dram = load_machine("zen4-ddr4").native()
    cxl = load_machine("zen4-cxl").native()["memory"][1]
    both = native.simulate(dram | {"memory": [{"name": "ddr4", **dram["memory"]}, cxl]}, SEARCHES)
    alone = native.simulate(dram, SEARCHES)
    ddr4, far = both["memories"]
    # Lines come in the order of time, and so may others leave.
    assert both["bus"]["fills"] == pytest.approx(alone["bus"]["fills"], rel=0.01)
    assert ddr4["fills"] + far["fills"] == both["bus"]["fills"]
    assert alone["dram"]["reads"] == alone["bus"]["fills"]
    assert 0 < ddr4["fills"] == both["dram"]["reads"]
    with pytest.raises(native.SpecError, match="only the first memory may be simulated by DRAMSim3"):
        native.simulate(dram | {"memory": [cxl | {"holds": []}, {"name": "ddr4", **dram["memory"], "holds": ["frames"]}]}, SEARCHES)


def test_a_placement_needs_an_effect(tmp_path: Path) -> None:
    known = "what runs here has frame descriptors, frames, page buffer, page table"
    for holds, problem in (
        ([], "nothing lies in memory `cxl`, so that it has no effect"),
        (["leaves"], "there is no data structure `leaves`"),
    ):
        with pytest.raises(native.SpecError) as error:
            native.simulate(far_machine(tmp_path, FAR, setting("memory.1.holds", holds)), SEARCHES)
        assert error.value.args == ("memory.1.holds", f"{problem}; {known}")


def test_an_experiment_says_what_lies_where(tmp_path: Path) -> None:
    workload = ", ".join(f"{name}: {value}" for name, value in SEARCHES.items())
    text = f"schema_version: 1\nid: far\ntitle: x\nmachine: zen4-cxl\nworkload: {{{workload}}}\n"
    grid = "grid:\n  machine.memory.cxl.holds: [[frames], [frames, page table]]\n"
    (tmp_path / "far.yaml").write_text(text + grid)
    run = memwalk("run", tmp_path / "far.yaml", "--jobs", "1", "--json", "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    (tmp_path / "none.yaml").write_text(text.replace("pool_frames: 60", "pool_frames: 0"))
    none = memwalk("run", tmp_path / "none.yaml", "--jobs", "1", "--out", tmp_path / "none")
    assert none.returncode == 2
    assert "memory.1.holds: there is no data structure `frames`" in none.stderr


def test_who_knows_one_memory_refuses_several(tmp_path: Path) -> None:
    far, one = far_machine(tmp_path), machine(tmp_path).native()
    assert first_memory(far) == one["memory"]
    assert first_memory(one) == only_memory(one, "this test") == one["memory"]
    for refuse in (
        lambda: gem5_script(far | {"core": far["core"] | {"kind": "out-of-order"}}, tmp_path, tmp_path),
        lambda: JoinTask(far, 1000, 1000, 100, 1, 1, 10_000),
    ):
        with pytest.raises(UserError, match=r"machine far: it has several memories \(dram, cxl\)"):
            refuse()


def test_the_server_with_cxl_has_the_servers_own_memory_first() -> None:
    ours, server = load_machine("zen4-cxl").native(), load_machine("zen4-server").native()
    dram, cxl = ours.pop("memory")
    assert {key: value for key, value in dram.items() if key != "name"} == server.pop("memory")
    assert json.dumps(ours | {"name": ""}) == json.dumps(server | {"name": ""})
    assert (cxl["latency_cycles"], cxl["interval_cycles"]) == (925, pytest.approx(9.99, abs=0.001))
