"""Machine files: units, layers, sources, overrides, and mistakes told where they were written."""

import json
from pathlib import Path

import pytest
from files import MACHINE

from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, Setting, load_machine
from memwalk.simcore.machine_schema import json_schema
from memwalk.simcore.yaml_source import Place, Sourced


def machine(folder: Path, text: str = MACHINE, name: str = "small", *settings: Setting) -> Machine:
    (folder / f"{name}.yaml").write_text(text)
    return load_machine(f"./{name}.yaml", settings, folder)


def setting(path: str, value: object) -> Setting:
    return Setting(tuple(path.split(".")), Sourced.uniform(value, Place(f"--set {path}={value}")))


def test_native_is_plain_integers(tmp_path: Path) -> None:
    native = machine(tmp_path).native()
    assert native["name"] == "small"
    assert native["clock_hz"] == 1_000_000_000
    assert native["caches"][0] == {
        "name": "L1",
        "size_bytes": 4096,
        "line_bytes": 64,
        "ways": 4,
        "latency_cycles": 1,
        "replacement": "lru",
        "mshrs": 8,
    }
    assert "mshrs" not in native["caches"][1]
    assert native["memory"] == {
        "model": "fixed",
        "latency_cycles": 150,
        "interval_cycles": 15,
        "write_backs_use_bus": True,
    }
    assert set(native) == {"name", "clock_hz", "core", "caches", "dtlb", "memory"}


def test_times_are_converted_with_the_clock_that_counts_and_said(tmp_path: Path) -> None:
    assert machine(tmp_path).conversions() == ["memory.latency_cycles: 150ns at 1000000000 Hz is 150 cycles"]
    faster = machine(tmp_path, MACHINE, "small", setting("clock_hz", "3GHz"))
    assert faster.native()["memory"]["latency_cycles"] == 450


def test_derived(tmp_path: Path) -> None:
    assert machine(tmp_path).derived() == {
        "sets": {"L1": 16, "L2": 512},
        "tlb_reach_bytes": [64 * 8192],
        "peak_bandwidth_bytes_per_second": 64 * 1e9 / 15,
        "normalized_bandwidth": 10.0,
    }


def test_extends_lays_over_and_needs_its_own_sources(tmp_path: Path) -> None:
    machine(tmp_path)
    child = "schema_version: 1\nextends: ./small.yaml\nmemory: {latency_cycles: 1000cycles, source: the future}\n"
    far = machine(tmp_path, child, "far")
    assert far.native()["memory"]["latency_cycles"] == 1000
    assert far.native()["memory"]["interval_cycles"] == 15
    assert far.native()["name"] == "far"
    assert far.sources["memory.latency_cycles"] == "the future"
    assert far.sources["memory.interval_cycles"] == "made up for tests"

    with pytest.raises(UserError) as error:
        machine(tmp_path, child.replace(", source: the future", ""), "far")
    assert "far.yaml:3:10: memory.latency_cycles has no source" in str(error.value)


def test_extends_takes_another_predictor_whole(tmp_path: Path) -> None:
    """A predictor of another kind has other keys; one of the same kind keeps those that are not named."""
    machine(tmp_path)
    child = "schema_version: 1\nextends: ./small.yaml\ncore: {branch_predictor: PREDICTOR, source: the future}\n"
    for written, found in (
        ("{kind: perfect}", {"kind": "perfect"}),
        ("{kind: bimodal, counters: 64}", {"kind": "bimodal", "counters": 64}),
        ("{kind: gshare, counters: 1024}", {"kind": "gshare", "history_bits": 8, "counters": 1024}),
        ("{counters: 1024}", {"kind": "gshare", "history_bits": 8, "counters": 1024}),
    ):
        core = machine(tmp_path, child.replace("PREDICTOR", written), "other").native()["core"]
        assert core["branch_predictor"] == found
        assert core["reorder_buffer"] == 64


def test_extends_changes_items_of_a_list_by_name_or_index(tmp_path: Path) -> None:
    before = machine(tmp_path).native()
    child = "schema_version: 1\nextends: ./small.yaml\ncaches:\n  L2: {size_bytes: 128KiB, source: what if}\n"
    child += "dtlb: {levels: {0: {entries: 128}}, source: what if too}\n"
    larger = machine(tmp_path, child, "larger")
    after = larger.native()
    assert [cache["size_bytes"] for cache in after["caches"]] == [4096, 128 << 10]
    assert after["dtlb"]["levels"][0]["entries"] == 128
    first, second = after["caches"]
    assert first == before["caches"][0]
    assert {**second, "size_bytes": 64 << 10} == before["caches"][1]
    assert larger.sources["caches.1.size_bytes"] == "what if"
    assert larger.sources["caches.1.ways"] == "made up for tests"
    assert larger.sources["dtlb.levels.0.entries"] == "what if too"

    # One laid over another in turn.
    grandchild = child.replace("small", "larger").replace("L2: {size_bytes: 128KiB", "L1: {ways: 8")
    assert [cache["ways"] for cache in machine(tmp_path, grandchild, "wider").native()["caches"]] == [8, 2]

    for wrong, says in (
        (child.replace("L2:", "L9:"), r"wrong\.yaml:4:3: caches has no item `L9`; it has 0 to 1 or L1, L2"),
        (
            child.replace("{size_bytes: 128KiB, source: what if}", "null"),
            r"wrong\.yaml:4:3: caches: `L2` cannot be taken away by null; write",
        ),
        (child.replace(", source: what if}\n", "}\n", 1), r"wrong\.yaml:4:8: caches\.L2\.size_bytes has no source"),
        (child.replace("{size_bytes: 128KiB, source: what if}", "512KiB"), r"wrong\.yaml:4:3: caches: a map stands where a list belongs"),
    ):
        with pytest.raises(UserError, match=says):
            machine(tmp_path, wrong, "wrong")


@pytest.mark.parametrize(
    ("parent", "child", "says"),
    [
        (
            ("walker: blocking", "walker: parallel\n  walkers: 2"),
            "dtlb: {walker: blocking}",
            r"dtlb\.walker does not fit dtlb\.walkers at .*small\.yaml.*: without .*\(`dtlb\.walkers: null` leaves it out\)",
        ),
        (
            ("memory:", "cores: 2\ncoherence: {protocol: mesi, transfer_cycles: 50cycles}\nmemory:"),
            "cores: 1",
            r"far\.yaml:3:8: cores does not fit coherence at \S*small\.yaml:.*one core, .* \(`coherence: null` leaves it out\)",
        ),
        (
            ("", ""),
            "caches: {L1: {latency_cycles: 20cycles}}",
            r"far\.yaml:3:31: caches\.L1\.latency_cycles .* at \S*small\.yaml:19:77: 15 is not slower than",
        ),
        # What the file says itself is not blamed on anything.
        (("", ""), "dtlb: {walkers: 2}", r"far\.yaml:3:17: dtlb\.walkers: without effect"),
        (("walker: blocking", "walker: blocking\n  walkers: 2"), "clock_hz: 2GHz", r"small\.yaml:\d+:\d+: dtlb\.walkers: without effect"),
    ],
)
def test_a_file_that_extends_another_is_blamed_for_what_does_not_fit_there(
    tmp_path: Path, parent: tuple[str, str], child: str, says: str
) -> None:
    assert parent[0] in MACHINE
    (tmp_path / "small.yaml").write_text(MACHINE.replace(*parent))
    with pytest.raises(UserError, match=says):
        machine(tmp_path, f"schema_version: 1\nextends: ./small.yaml\n{child}\nsource: what if\n", "far")


def test_extends_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("schema_version: 1\nextends: ./b.yaml\n")
    (tmp_path / "b.yaml").write_text("schema_version: 1\nextends: ./a.yaml\n")
    with pytest.raises(UserError, match=r"b\.yaml:2:10: .* extends this machine in turn"):
        load_machine("./a.yaml", folder=tmp_path)


def test_the_nearest_source_counts_and_overrides_are_their_own(tmp_path: Path) -> None:
    text = MACHINE.replace("dtlb:", "dtlb:\n  source: inner\n  sources: {page_bytes: exact}")
    sources = machine(tmp_path, text, "small", setting("caches.L1.mshrs", 2)).sources
    assert sources["dtlb.page_bytes"] == "exact"
    assert sources["dtlb.levels.0.entries"] == "inner"
    assert sources["clock_hz"] == "made up for tests"
    assert sources["caches.0.mshrs"] == "set at --set caches.L1.mshrs=2"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("source: made up for tests\n", "", "small.yaml:3:1: clock_hz has no source; add `source: ...`"),
        (
            "clock_hz: 1GHz",
            "clock_hz: 1GHz\nsources: {clock: x}",
            "small.yaml:5:11: sources: no `clock` here; did you mean `clock_hz`?",
        ),
        (
            "clock_hz: 1GHz",
            "clock_hz: 1e9GHz",
            "memory.latency_cycles: `150ns` is more than 4294967295 cycles at a clock_hz of 1000000000000000000Hz",
        ),
        ("issue_width", "issue_witdh", "small.yaml:7:3: unknown key `issue_witdh`; did you mean `issue_width`?"),
        (
            "4KiB",
            "4k",
            "small.yaml:18:28: caches.0.size_bytes: `4k` leaves open whether k means 1000 or 1024; write 4KiB",
        ),
        ("4KiB", "4ns", "small.yaml:18:28: caches.0.size_bytes: `4ns` is in time, but a size belongs here"),
        ("15cycles, replacement", "15, replacement", "small.yaml:19:77: caches.1.latency_cycles: `15` has no unit"),
        ("ways: 2", "ways: 0", "small.yaml:19:58: caches.1.ways: `0` is too small; the least is 1"),
        ("kind: gshare", "kind: tage", "core.branch_predictor: kind `tage` is not one of gshare, bimodal, perfect"),
        (
            "walker: blocking",
            "walker: blockin",
            "small.yaml:24:11: dtlb.walker: `blockin` is not one of blocking, parallel",
        ),
        (
            "walker: blocking",
            "walker: blocking\n  walkers: 2",
            "dtlb.walkers: without effect, as a blocking walker walks once at a time; leave this out, or say walker: parallel",
        ),
        (
            "write_backs_use_bus: true",
            "write_backs_use_bus: true, write_interval_cycles: 9cycles",
            "memory.write_interval_cycles: writes use the bus (write_backs_use_bus: true), so that this has no effect",
        ),
        ("interval_cycles: 15cycles", "interval_cycles: 0cycles", "memory.interval_cycles: less than 1/1024 of a cycle"),
        ("interval_cycles: 15cycles", "interval_cycles: 15B", "memory.interval_cycles: `15B` is a size; cycles or a time belong here"),
        (
            "description: a small machine",
            "name: large",
            "small.yaml:2:7: name `large` is not the file's name; write `small`",
        ),
        (
            "clock_hz: 1GHz",
            "clock_hz: 30ns",
            "small.yaml:4:11: clock_hz: `30ns` is in time, but a frequency belongs here",
        ),
        ("clock_hz: 1GHz", "clock_hz: 0GHz", "small.yaml:4:11: clock_hz: `0GHz` is too small; write for example 1GHz"),
        ("schema_version: 1", "schema_version: 2", "small.yaml:1:17: schema_version: `2` is not one of 1"),
        ("ways: 2", "ways: 2, shared: null", "small.yaml:19:69: caches.1.shared: `null` is neither true nor false"),
        ("clock_hz: 1GHz", "clock_hz: 1GHz\ncores:", "small.yaml:5:1: cores: nothing is not a whole number; write for example 4"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert old in MACHINE
    with pytest.raises(UserError) as error:
        machine(tmp_path, MACHINE.replace(old, new, 1))
    assert answer in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(("written", "cycles"), [("15cycles", 15), ("4.25cycles", 4.25), ("1.111ns", 1.111328125), ("0.5ns", 0.5)])
def test_a_bus_may_have_a_clock_of_its_own(tmp_path: Path, written: str, cycles: float) -> None:
    found = machine(tmp_path, MACHINE.replace("interval_cycles: 15cycles", f"interval_cycles: {written}"))
    interval = found.native()["memory"]["interval_cycles"]
    assert interval == cycles
    assert isinstance(interval, type(cycles))
    assert found.derived()["peak_bandwidth_bytes_per_second"] == pytest.approx(64e9 / cycles)


def test_impossible_geometry_is_found_by_rust_and_told_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"small\.yaml:18:\d+: caches\.0\."):
        machine(tmp_path, MACHINE.replace("4KiB", "5000B"))
    with pytest.raises(UserError, match=r"^--set caches\.L2\.size_bytes=5000B: caches\.1\."):
        machine(tmp_path, MACHINE, "small", setting("caches.L2.size_bytes", "5000B"))


def test_unknown_machines_are_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean `thesis-simulator`"):
        load_machine("thesis-simulater")
    with pytest.raises(UserError, match="no such file"):
        load_machine("./nowhere.yaml")


def test_the_schema_says_the_least_and_the_most_of_counts() -> None:
    schema = json_schema()
    ways, size = (schema["$defs"]["Cache"]["properties"][name] for name in ("ways", "size_bytes"))
    assert (ways["type"], ways["minimum"], ways["maximum"]) == ("integer", 1, 2**32 - 1)
    assert size["type"] == "string", "sizes have units"
    assert '"ge"' not in json.dumps(schema)
    assert schema["else"]["properties"]["cores"]["default"] == 1
    assert schema["$defs"]["Cache"]["properties"]["inclusion"]["default"] == "non-inclusive"
