"""Clotho's microbenchmark on storage: blocks that are moved, times that follow from the disks, what is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from memwalk.analysis.cost_models import model
from memwalk.analysis.storage_workloads.clotho import ClothoColumn, ClothoInsert, ClothoPoint, ClothoScan
from memwalk.analysis.storage_workloads.oltp import Compound, Tpcc
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import StrictModel
from memwalk.workloads.clotho import sample
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, kernel_pages
from memwalk.workloads.clotho.relation import files, relation

RECORDS = 190_000  # just more than a band of A-pages
TRACK = 738
"""Blocks of a track of the Cheetah 36ES's outermost zone."""


def system(layout: str = "csm", machine: dict[str, Any] | None = None) -> System:
    disk = load_device("cheetah-36es")
    if layout == "csm":
        return System(disk, 4, "atropos", machine=machine)
    return System(disk, 4, "striped", stripe_blocks=TRACK, machine=machine)


def scan(layout: str, machine: dict[str, Any] | None = None, **given: Any) -> dict[str, float | int]:
    workload = ClothoScan.model_validate({"kernel": "clotho-scan", "layout": layout, "records": RECORDS} | given)
    return workload.run(system(layout, machine))


@pytest.mark.parametrize("payload", [1, 5])
def test_a_scan_reads_every_block_that_it_needs_once(payload: int) -> None:
    """Attribute 2 selects, so that a payload of one attribute reads two."""
    attributes = max(2, payload)
    assert scan("csm", payload=payload)["blocks_read"] == -(-RECORDS // 63) * attributes
    assert scan("nsm", payload=payload)["blocks_read"] == -(-RECORDS // 60) * 16  # 136 bytes of 8160: values, tag and slot
    assert scan("pax", payload=payload)["blocks_read"] == -(-RECORDS // 66) * 16
    assert scan("dsm", payload=payload)["blocks_read"] == -(-RECORDS // 1003) * 16 * attributes  # 8.125 bytes of 8156
    numbered = scan("dsm", payload=payload, reconstruction="index")["blocks_read"]
    assert numbered == -(-RECORDS // 672) * 16 * attributes  # 12.125 bytes of 8160


def test_a_scan_of_tracks_takes_turns_and_switches() -> None:
    """Two columns on two tracks of each disk, in bands of 2952 A-pages; a track takes a turn of 6 ms, and 0.8 ms to get to the next."""
    seconds = scan("csm", records=63 * 4 * TRACK * 10, payload=2)["seconds"]
    assert 20 * 0.006 < seconds < 20 * 0.0068 + 10 * 0.008  # and a seek with half a turn and a command to each band


def test_work_and_reading_overlap() -> None:
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()
    alone, both = scan("nsm"), scan("nsm", machine)
    work = both["cpu_seconds"]
    longer = max(alone["seconds"], work)
    assert longer <= both["seconds"] < longer + 0.3 * min(alone["seconds"], work)
    assert both["io_seconds"] == pytest.approx(both["seconds"] - work)


def test_an_s_scan_goes_record_by_record() -> None:
    """As scans of NSM pages do (section 6.1); those of PAX pages test the records of a page attribute by attribute."""
    wanted = sample.Selection(15, 1, 0.1, RECORDS)

    def scanned(layout: Any, *, changes: bool) -> Any:
        return sample.scanning(layout, wanted, changes=changes, reconstruction=DEFAULT_RECONSTRUCTION).workload.get("scan_order")

    assert [scanned(layout, changes=False) for layout in ("csm", "pax", "nsm")] == ["records", None, None]
    assert scanned("csm", changes=True) is None
    assert kernel_pages("csm", DEFAULT_RECONSTRUCTION)["scan_order"] == "records"


def test_blocks_of_c_pages_are_copied_to_their_places() -> None:
    """All that a scan reads, by the processor, whose work grows by the same for each block (section 7.2.1)."""
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()

    def copying(**given: Any) -> float:
        work = {how: scan("csm", machine, scattering=how, **given)["cpu_seconds"] for how in ("copied", "direct")}
        return work["copied"] - work["direct"]

    two = copying(payload=2)
    assert 512 * 2 * RECORDS / 63 / 2e9 < two < 512 * 2 * RECORDS / 63 / 0.2e9  # between 0.2 and 2 GB/s
    assert copying(payload=8) == pytest.approx(4 * two, rel=0.3)
    assert copying(payload=1, changes=True) == pytest.approx(15 / 2 * two, rel=0.3)  # pages with all columns
    assert copying(payload=4, operator="si-scan", selectivity=0.0) == pytest.approx(two / 2, rel=0.3)


def test_columns_of_a_query_are_copied_to_their_places() -> None:
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()
    given = {"kernel": "clotho-tpch", "layout": "csm", "query": "q14", "scale_factor": 0.02, "sample_scale_factor": 0.002}
    copied, direct = (ClothoTpch.model_validate(given | {"scattering": how}).run(system("csm", machine)) for how in ("copied", "direct"))
    assert copied["blocks_read"] == direct["blocks_read"]
    per_block = (copied["cpu_seconds"] - direct["cpu_seconds"]) / copied["blocks_read"]
    assert 512 / 2e9 < per_block < 512 / 0.2e9


def test_putting_records_together_by_position_takes_the_least_work() -> None:
    """A tenth of the records has a value looked up, or two files are scanned, or one is and a tenth of the other's values read."""
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()
    work = {how: scan("dsm", machine, payload=1, reconstruction=how)["cpu_seconds"] for how in ("position", "merge", "index")}
    assert 1.2 * work["position"] < min(work["merge"], work["index"])


def test_updates_of_dsm_through_indexes_write_what_scans_in_step_write() -> None:
    """The pages of the changed files, of which there are more than without record numbers."""
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()
    found = {how: scan("dsm", machine, payload=3, changes=True, selectivity=1.0, reconstruction=how) for how in ("merge", "index")}
    pages = {"merge": -(-RECORDS // 1003), "index": -(-RECORDS // 672)}
    for how, columns in found.items():
        assert columns["blocks_written"] == columns["blocks_read"] == 3 * 16 * pages[how]
    assert found["index"]["cpu_seconds"] > scan("dsm", machine, payload=3, selectivity=1.0, reconstruction="index")["cpu_seconds"]


def test_a_slow_bus_holds_everybody_up() -> None:
    disk = load_device("cheetah-36es")
    shared = System(disk, 4, "striped", stripe_blocks=TRACK, bus=40_000_000)
    workload = ClothoScan.model_validate({"kernel": "clotho-scan", "layout": "nsm", "records": RECORDS})
    found = workload.run(shared)
    assert found["seconds"] == pytest.approx(found["blocks_read"] * 512 / 40e6, rel=0.05)
    assert found["io_bus_seconds"] > 0


def test_scans_that_qualify_by_index_read_few_pages() -> None:
    nothing = scan("csm", operator="si-scan", selectivity=0.0, payload=4)
    some = scan("csm", operator="si-scan", selectivity=20 / RECORDS, payload=4)
    everything = scan("csm", operator="si-scan", selectivity=1.0, payload=4)
    pages = -(-RECORDS // 63)
    assert nothing["blocks_read"] == pages
    assert some["blocks_read"] == pages + 4 * 20  # with this seed, 20 records are on as many pages
    assert everything["blocks_read"] == pages + 4 * pages
    assert nothing["seconds"] < some["seconds"] < everything["seconds"]


def test_an_updating_scan_writes_what_it_changes() -> None:
    pages = -(-RECORDS // 63)
    changed = scan("csm", payload=3, changes=True, selectivity=1.0)
    assert changed["blocks_read"] == 15 * pages  # pages with all columns
    assert changed["blocks_written"] == 3 * pages
    assert scan("nsm", payload=3, changes=True, selectivity=1.0)["blocks_written"] == -(-RECORDS // 60) * 16
    assert scan("dsm", payload=3, changes=True, selectivity=1.0)["blocks_written"] == -(-RECORDS // 1003) * 16 * 3


@pytest.mark.parametrize(("layout", "blocks"), [("csm", 3), ("nsm", 16), ("pax", 16), ("dsm", 3 * 16)])
def test_pages_in_which_nothing_qualifies_are_not_written(layout: str, blocks: int) -> None:
    """With this seed, 20 records are on as many pages of each layout. They lie apart, so that writing them takes a way to each."""
    none, some = (scan(layout, payload=3, changes=True, selectivity=count / RECORDS) for count in (0, 20))
    assert (none["records_selected"], none["blocks_written"]) == (0, 0)
    assert some["blocks_written"] == 20 * blocks
    assert none["blocks_read"] == some["blocks_read"]
    assert none["seconds"] < some["seconds"]


def test_an_updating_scan_of_columns_works_on_more_than_one_that_reads() -> None:
    machine = load_machine("pentium4-xeon-1700", dbms="shore-pentium2").native()
    read, changed = (scan("dsm", machine, payload=3, changes=changes)["cpu_seconds"] for changes in (False, True))
    assert 1.1 * read < changed < 3 * read


def test_a_point_query_reads_a_leaf_and_the_attributes() -> None:
    """With a pool of hardly any frames everything is missed."""
    given = {"kernel": "clotho-point", "records": RECORDS, "pool": "64KiB", "warm_up": 10, "queries": 100}

    def run(layout: str, **more: Any) -> dict[str, float | int]:
        return ClothoPoint.model_validate(given | {"layout": layout} | more).run(system(layout))

    assert run("csm", payload=4)["io_blocks"] == pytest.approx(100 * (16 + 4), rel=0.05)
    assert run("csm", payload=4, index=False)["io_blocks"] == pytest.approx(100 * 4, rel=0.05)
    assert run("dsm", payload=4, index=False)["io_blocks"] == pytest.approx(100 * 4 * 16, rel=0.05)
    assert run("nsm", payload=4)["misses_per_query"] == pytest.approx(2, rel=0.05)
    updated = run("csm", payload=1, operation="update", index=False)
    assert updated["io_blocks"] == pytest.approx(100 * (15 + 1), rel=0.05)
    assert updated["dirty_evictions_per_query"] == pytest.approx(1, rel=0.05)


def test_bulk_insertion_writes_all_blocks() -> None:
    def run(layout: str) -> dict[str, float | int]:
        return ClothoInsert.model_validate({"kernel": "clotho-insert", "layout": layout, "records": RECORDS}).run(system(layout))

    assert run("csm")["io_blocks"] == -(-RECORDS // 63) * 15
    assert run("pax")["io_blocks"] == -(-RECORDS // 66) * 16
    assert run("dsm")["io_blocks"] == -(-RECORDS // 1003) * 16 * 15


def test_files_do_not_overlap() -> None:
    stored = files("dsm", relation(15, RECORDS), None)
    ends = [file.first_block + file.blocks for file in stored]
    assert [file.first_block for file in stored] == [0, *ends[:-1]]


def test_semi_sequential_blocks_wait_for_no_turn() -> None:
    def group_ms(pattern: str, blocks: int) -> float:
        workload = ClothoColumn.model_validate({"kernel": "clotho-column", "pattern": pattern, "blocks": blocks, "groups": 400})
        return float(workload.run(system())["group_ms"])

    step = (group_ms("semi-sequential", 4) - group_ms("semi-sequential", 1)) / 3
    assert 0.8 < step < 1.1  # the head switch, a command, and what the blocks' angles are rounded to
    assert (group_ms("random", 4) - group_ms("random", 1)) / 3 == pytest.approx(step + 3, abs=0.4)  # half a turn more


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"payload": 16}, "payload 16 is more than the 15 attributes"),
        ({"operator": "si-scan", "layout": "nsm"}, "write layout: csm"),
        ({"run_blocks": 64}, "run_blocks is for whole pages"),
        ({"run_blocks": 17, "layout": "nsm"}, "17 blocks are no whole number of pages of 16; write a multiple of 16"),
        ({"layout": "pax", "reconstruction": "index"}, "reconstruction is for layout dsm, and layout is pax"),
        ({"layout": "pax", "scattering": "direct"}, "scattering is for layout csm, and layout is pax"),
    ],
)
def test_workloads_that_make_no_sense_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ClothoScan.model_validate({"kernel": "clotho-scan", "layout": "csm"} | wrong)


def test_layouts_and_volumes_must_suit_each_other() -> None:
    with pytest.raises(UserError, match="volume: atropos"):
        ClothoScan.model_validate({"kernel": "clotho-scan", "layout": "csm"}).run(system("nsm"))
    with pytest.raises(UserError, match="have fewer records"):
        scan("csm", records=10**9)
    with pytest.raises(UserError, match="what is read ahead takes 3016 frames, and the pool has 2048"):
        scan("csm", payload=15, pool="16MiB")
    with pytest.raises(UserError, match="read no more blocks"):
        ClothoColumn.model_validate({"kernel": "clotho-column", "blocks": 5}).run(system())


def test_attributes_that_no_page_holds_are_refused() -> None:
    with pytest.raises(UserError, match=r"17 attributes in csm: an A-page of 16 blocks.*have fewer attributes"):
        scan("csm", attributes=17)


@pytest.mark.parametrize(("name", "track"), [("cheetah-36es", TRACK), ("mems-g2", 540), ("nvme-ssd", 128)])
def test_a_single_device_is_read_and_written_by_its_tracks(name: str, track: int) -> None:
    """As a stripe of one device is whose units are as long; a drive without tracks by 64 KiB."""
    device = load_device(name)
    alone, stripe = System(device), System(device, volume="striped", stripe_blocks=track)
    given = {"layout": "nsm", "records": RECORDS}
    for workload in (
        ClothoScan.model_validate({"kernel": "clotho-scan"} | given),
        ClothoInsert.model_validate({"kernel": "clotho-insert", "pool": "1MiB"} | given),
        ClothoTpch.model_validate({"kernel": "clotho-tpch", "layout": "nsm", "query": "q6", "scale_factor": 0.02}),
    ):
        assert alone.layout().row_blocks == track
        assert workload.run(alone)["seconds"] == pytest.approx(workload.run(stripe)["seconds"], rel=0.01)


@pytest.mark.parametrize("workload", [ClothoScan, ClothoInsert, ClothoPoint, ClothoTpch, Tpcc, Compound])
@pytest.mark.parametrize("pool", ["0B", "8191B", "65GiB"])
def test_a_pool_holds_a_page_and_no_more_than_can_be_kept(workload: type[StrictModel], pool: str) -> None:
    with pytest.raises(ValidationError, match=r"pool\n  Input should be (greater|less) than or equal to"):
        workload.model_validate({"pool": pool})


@pytest.mark.parametrize("layout", ["nsm", "dsm", "pax", "csm"])
def test_one_frame_is_enough_for_single_records(layout: str) -> None:
    given = {"kernel": "clotho-point", "layout": layout, "records": RECORDS, "pool": "8KiB", "warm_up": 0, "queries": 20}
    assert ClothoPoint.model_validate(given | {"operation": "update"}).run(system(layout))["misses_per_query"] == 2


def test_cost_models_of_the_drawings() -> None:
    drawn = {"columns": 12, "value_bytes": 8, "records": 1008}
    counted = {name: model(name)(drawn) for name in ("a-page-records", "band-records", "column-scan-blocks", "column-scan-reads")}
    assert counted == {"a-page-records": 63, "band-records": 1008, "column-scan-blocks": 16, "column-scan-reads": 4}
    assert model("a-page-accesses")(drawn) == 3
    assert model("drawn-parallel-blocks")({}) == 3
    assert model("a-page-efficiency")({"of": "tpcc.stock", "page_kib": 32}) == pytest.approx(100 * 99 / 103, abs=1.1)
    with pytest.raises(ValueError, match=r"did you mean `tpcc\.stock`"):
        model("a-page-efficiency")({"of": "tpcc.stocks", "page_kib": 32})
    with pytest.raises(ValueError, match="write for example mems-g2"):
        model("device-parallel-blocks")({"device": "cheetah-36es"})
