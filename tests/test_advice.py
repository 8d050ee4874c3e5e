"""Layout advice: its files, what is predicted, what is simulated."""

import json
from math import ceil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Query, Task, load_task
from memwalk.analysis.advice.layouts.lines import lines_per_record
from memwalk.analysis.advice.layouts.predict import LAYOUTS, Layout, UnitCosts, predict
from memwalk.analysis.advice.layouts.processor import process
from memwalk.analysis.advice.layouts.rank import advise, reasons
from memwalk.analysis.advice.layouts.scans import PAGE_HEADER_BYTES, kernel_workload
from memwalk.analysis.advice.layouts.simulate import Platform, simulate
from memwalk.analysis.advice.layouts.unit_costs import measured_costs
from memwalk.analysis.cli.machine_settings import machine_settings
from memwalk.analysis.cli.main import app
from memwalk.analysis.experiments.storage_time import storage_times, timed_pages
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.paths import configs
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.system import System

SCHEMA = """\
schema_version: 1
name: small
records: 1000000
attribute_bytes: 4B
attributes: [a, b, c, d]
"""
QUERIES = """\
schema_version: 1
page_bytes: 32KiB
prefetch_bytes: 1MiB
queries:
  - {name: narrow, predicates: [b], selectivity: 0.1, project: [b, d]}
  - {name: whole, weight: 2, project: [a, b, c, d]}
"""
EVERYWHERE = [layout for layout in LAYOUTS if layout != "mbsm"]
"""Layouts that need no disk."""
COSTS = UnitCosts(sequential_io=200e-6, random_io=5e-3, iteration=1e-6, function_call=100e-9, line=50e-9, line_bytes=64)


def task(folder: Path, schema: str = SCHEMA, queries: str = QUERIES) -> Task:
    (folder / "schema.yaml").write_text(schema)
    (folder / "queries.yaml").write_text(queries)
    return load_task(folder / "schema.yaml", folder / "queries.yaml")


def narrow(folder: Path, layout: Layout) -> tuple[float, float, float, float]:
    """I/O, iteration, reconstruction (seconds) and bytes read by the first query: two of four columns, a million rows."""
    whole = task(folder)
    predicted = predict(layout, whole.workload.queries[0], whole, COSTS)
    return (predicted.cost.io, predicted.cost.iteration, predicted.cost.reconstruction, predicted.bytes_read)


def test_attributes_of_a_query_count_once() -> None:
    assert Query(name="q", predicates=["b", "a"], project=["a", "c"]).attributes == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("layout", "bytes_per_row", "runs", "calls"),
    [
        ("nsm", 32, 1, (1e6, 1e6)),
        ("pax", 16, 1, (1e6, 1e6)),
        ("super-row", 16, 1, (16e6 / 32736, 1e6)),
        # 16 pages of each column are read at once: one MiB for two columns.
        ("super-column", 8, 2 * 8, (8e6 / 32736, 2e6)),
        ("dsm", 48, 2 * 46, (2e6, 2e6)),
    ],
)
def test_predictions_by_hand(tmp_path: Path, layout: Layout, bytes_per_row: float, runs: float, calls: tuple[float, float]) -> None:
    iterations, fields = calls
    files = 2 if layout in ("super-column", "dsm") else 1
    pages = files * ceil(bytes_per_row * 1e6 / files / 32736)
    io = pages * 200e-6 + runs * (5e-3 - 200e-6)
    expected = (io, iterations * 1e-6, fields * 100e-9, pages * 32768)
    assert narrow(tmp_path, layout) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("layout", "lines"),
    [
        # 1023 records of 28 bytes and a slot of four in a page of 512 lines, all of which are touched.
        ("nsm", 512 / 1023),
        # 16 values to a line, and the page's header.
        ("pax", 2 / 16),
        ("super-row", 1 / 4),
        ("super-column", 2 / 16),
        # Two files, each of 1364 records of 20 bytes and a slot in a page.
        ("dsm", 2 * 512 / 1364),
        ("mbsm", 2 / 16),
    ],
)
def test_predicted_lines_by_hand(tmp_path: Path, layout: str, lines: float) -> None:
    whole = task(tmp_path)
    assert lines_per_record(layout, whole.workload.queries[0], whole, 64) == pytest.approx(lines, rel=0.015)


def test_predicted_waits_are_lines_times_what_one_takes(tmp_path: Path) -> None:
    whole = task(tmp_path)
    found = predict("super-row", whole.workload.queries[0], whole, COSTS)
    assert found.waiting == pytest.approx(1e6 / 4 * 50e-9, rel=0.01)
    assert found.seconds == found.cost.total + found.waiting


def test_the_examples_can_be_read() -> None:
    folder = configs() / "advice"
    for workload in ("few-columns", "whole-rows"):
        example = load_task(folder / "readings.yaml", folder / f"{workload}.yaml")
        totals = {
            layout: sum(predict(layout, query, example, COSTS).cost.total for query in example.workload.queries) for layout in EVERYWHERE
        }
        assert min(totals, key=totals.__getitem__) == ("super-column" if workload == "few-columns" else "super-row")


@pytest.mark.parametrize(
    ("schema", "queries", "answer"),
    [
        (SCHEMA, QUERIES.replace("[b, d]", "[b, dd]"), "queries.yaml:5:68: the table has no attribute `dd`; did you mean `d`?"),
        (SCHEMA, QUERIES.replace("[b, d]", "[b, b]"), "queries.yaml:5:68: `b` is given twice; remove one"),
        (SCHEMA.replace("[a, b,", "[a, a, b,"), QUERIES, "schema.yaml:5:17: `a` is given twice"),
        (SCHEMA, QUERIES.replace("[b, d]", "[]"), "queries.yaml:5:64: queries.0.project: a list of 0; it must have 1 or more"),
        (
            SCHEMA,
            QUERIES.replace("1MiB", "64KiB"),
            "queries.yaml:3:17: prefetch_bytes: 65536 bytes are less than a page of 32768 for each of the 4 columns of `whole`; "
            "give at least 131072B",
        ),
        (SCHEMA, QUERIES.replace("whole", "narrow"), "queries.yaml:6:12: a query is called `narrow` already"),
        (SCHEMA, QUERIES.replace("selectivity", "selectivty"), "unknown key `selectivty`; did you mean `selectivity`?"),
        (SCHEMA, QUERIES.replace("0.1", "1.5"), "queries.yaml:5:"),
        (
            SCHEMA,
            QUERIES.replace("predicates: [b], ", ""),
            "queries.yaml:5:33: selectivity: has no effect on this query: it is for queries with predicates; remove it",
        ),
        (SCHEMA, QUERIES.replace("32KiB", "32k"), "page_bytes: `32k` leaves open"),
        (SCHEMA.replace("4B", "4"), QUERIES, "attribute_bytes: `4` has no unit"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, schema: str, queries: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        task(tmp_path, schema, queries)
    assert answer in str(error.value)


def platform(dbms: str, machine: str = "pentium4-2400", storage: str = "raid0-6-disks") -> Platform:
    return Platform(load_machine(machine, dbms=dbms).native(), load_device(storage))


def test_small_tables_have_whole_pages_and_a_random_one(tmp_path: Path) -> None:
    """One record: the model had a fraction of a page read behind another, where the disk takes a seek and a turn."""
    whole = task(tmp_path, SCHEMA.replace("1000000", "1"))
    disks = platform("compiled", storage="cheetah-15k4")
    costs = measured_costs(whole, disks, 1000)
    for layout in EVERYWHERE:
        found = predict(layout, whole.workload.queries[1], whole, costs)
        pages = 4 if layout in ("super-column", "dsm") else 1
        assert found.bytes_read == pages * 32768
        assert found.cost.io > 0.003 * pages
    # Pages of columns and of mini-blocks lie beside each other, so that all but one are no random ones.
    told = [reason for reason in reasons(advise(whole, disks, 1000, lambda _: None)) if reason.startswith("The pages of ")]
    assert {reason.split()[3] for reason in told} <= {"dsm", "super-column", "mbsm"}


def test_a_dbms_decides_which_layouts_can_be_scanned() -> None:
    assert platform("shore-pentium2").layouts() == ["nsm", "pax", "dsm"]
    assert platform("shore-pentium4").layouts() == ["nsm", "super-row", "super-column"]
    assert platform("compiled").layouts() == EVERYWHERE
    assert platform("compiled", storage="cheetah-x15").layouts() == list(LAYOUTS)
    assert platform("shore-pentium4").kernel_layout("nsm") == "standard-row"


def test_measured_costs_are_the_prototypes(tmp_path: Path) -> None:
    """IC = 80 and FC = 6 units of 16.09 ns, on which the profile was calibrated, and the device's two times."""
    costs = measured_costs(task(tmp_path), platform("shore-pentium4"), 2000)
    assert costs.iteration == pytest.approx(80 * 16.09e-9, rel=0.1)
    assert costs.function_call == pytest.approx(6 * 16.09e-9, rel=0.15)
    assert (costs.sequential_io, costs.random_io) == (241.337e-6, 7240.099e-6)


@pytest.mark.parametrize("machine", ["pentium4-2400", "zen4-server"])
def test_calls_cost_what_they_do_however_wide_the_table_is(tmp_path: Path, machine: str) -> None:
    """Of 32 attributes each record has two lines, and of one a sixteenth of one: they are no part of a call."""
    compiled = platform("compiled", machine)
    narrow, wide = (
        measured_costs(task(tmp_path, SCHEMA.replace("a, b, c, d", names)), compiled, 2000)
        for names in ("a, b, c, d", "a, b, c, d, " + ", ".join(f"e{number}" for number in range(28)))
    )
    assert (wide.iteration, wide.function_call) == (narrow.iteration, narrow.function_call)
    clock = compiled.machine["clock_hz"]
    # `iterate` and `column-value` of the profile have 6 and 3 instructions; the cores graduate three and six in a cycle.
    assert 1 < narrow.iteration * clock < 6
    assert 1 < narrow.function_call * clock < 3


def test_what_a_scan_takes_once_is_not_scaled_up(tmp_path: Path) -> None:
    """Records of PAX took twice as long by a sample of 1000 as by one of 20,000: code and the first lines were scaled up with them."""
    whole = task(tmp_path, queries=QUERIES.replace("32KiB", "4KiB"))
    zen4 = platform("compiled", "zen4-server")
    query = whole.workload.queries[0]
    small, large = (simulate("pax", query, whole, zen4, sample) for sample in (2000, 8000))
    assert small.cpu_seconds == pytest.approx(large.cpu_seconds, rel=0.1)
    assert small.processing.unevenness > 1.25
    assert large.processing.unevenness < 1.15


def test_a_sample_that_is_the_table_is_it(tmp_path: Path) -> None:
    whole = task(tmp_path)
    (query, _), machine = whole.workload.queries, platform("compiled").machine
    ran = native.simulate(machine, kernel_workload("pax", query, whole, 1000))
    found = process(machine, lambda records: kernel_workload("pax", query, whole, records), 1000, 2000)
    assert found.seconds == pytest.approx(ran["cycles"] / machine["clock_hz"])
    assert found.unevenness == 1.0


def test_lines_of_code_are_no_lines_of_records(tmp_path: Path) -> None:
    """Of 1334 lines 1096 are code: a thousand values of the tested attribute take 125, a tenth of the other at most a hundred."""
    whole = task(tmp_path)
    (query, _), machine = whole.workload.queries, platform("shore-pentium2", "pentium2-xeon-400").machine
    found = process(machine, lambda records: kernel_workload("pax", query, whole, records), 1000, 1000)
    assert 125 < found.lines < 250


def test_a_sample_is_scaled_up(tmp_path: Path) -> None:
    whole = task(tmp_path, SCHEMA.replace("1000000", "40000"))
    query = whole.workload.queries[0]
    for layout in ("nsm", "super-row", "super-column"):
        full, part = (simulate(layout, query, whole, platform("shore-pentium4"), sample) for sample in (40_000, 10_000))
        assert part.cpu_seconds == pytest.approx(full.cpu_seconds, rel=0.02)
        assert part.io_seconds == full.io_seconds > 0, "pages are those of the whole table"


@pytest.mark.parametrize(
    ("predicates", "project"), [("[b]", "[b]"), ("[b]", "[d]"), ("[a, b]", "[b, c]"), ("[a, b, d]", "[d, a]"), ("[a, b]", "[d, c, b, a]")]
)
@pytest.mark.parametrize("layout", ["nsm", "pax", "dsm"])
def test_the_kernel_tests_and_projects_as_many_attributes_as_the_query_in_common(
    tmp_path: Path, layout: Layout, predicates: str, project: str
) -> None:
    queries = QUERIES.replace("predicates: [b]", f"predicates: {predicates}").replace("project: [b, d]", f"project: {project}")
    whole = task(tmp_path, queries=queries)
    query = whole.workload.queries[0]
    run = kernel_workload(layout, query, whole, 1000)
    native.check_workload(run)
    tested = set(range(run["first_predicate"], run["first_predicate"] + run["predicates"]))
    projected = set(range(run["first_projected"], run["first_projected"] + run["projected"]))
    assert (len(tested), len(projected), len(tested | projected)) == (len(query.predicates), len(query.project), len(query.attributes))


def test_a_file_of_dsm_whose_attribute_is_tested_and_projected_is_read_once(tmp_path: Path) -> None:
    schema = SCHEMA.replace("1000000", "100000")
    tested = task(tmp_path, schema, QUERIES.replace("project: [b, d]", "project: [b]"))
    only = task(tmp_path, schema, QUERIES.replace("predicates: [b], selectivity: 0.1, project: [b, d]", "project: [b]"))
    found, expected = (simulate("dsm", one.workload.queries[0], one, platform("compiled"), 1000).io_seconds for one in (tested, only))
    assert found == expected > 0


@pytest.mark.parametrize(
    ("storage", "prefetch", "within", "records"),
    [
        pytest.param("raid0-6-disks", "128KiB", 0.02, 1_000_000, marks=pytest.mark.nightly),
        pytest.param("cheetah-x15", "64MiB", 0.1, 1_000_000, marks=pytest.mark.nightly),
        pytest.param("raid0-6-disks", "64MiB", 0.02, 2_000_000, marks=pytest.mark.nightly),
        pytest.param("cheetah-x15", "128KiB", 0.1, 2_000_000, marks=pytest.mark.nightly),
    ],
)
def test_pages_of_a_part_stand_for_those_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefetch: str, storage: str, *, within: float, records: int
) -> None:
    """An eighth of it. Runs that end because memory is full, pages of columns read in turn and runs to the end, by all queries.

    Where a disk is when its head arrives is another matter: of few runs by few columns, that may be the same again and again.
    """
    queries = QUERIES.replace("1MiB", prefetch).replace("predicates: [b]", "predicates: [a]").replace("[b, d]", "[a, b]")
    whole = task(tmp_path, SCHEMA.replace("1000000", str(records)), queries)
    disks = platform("compiled", storage=storage)

    def seconds() -> dict[tuple[str, str], float]:
        queries = whole.workload.queries
        return {(layout, one.name): simulate(layout, one, whole, disks, 1000).io_seconds for layout in EVERYWHERE for one in queries}

    all_of_it = seconds()
    monkeypatch.setattr("memwalk.analysis.advice.layouts.stored_pages._IO_VALUES", records // 8 * len(whole.schema.attributes))
    for name, part in seconds().items():
        assert part == pytest.approx(all_of_it[name], rel=within), name


@pytest.mark.parametrize("storage", ["cheetah-15k4", pytest.param("cheetah-x15", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("layout", ["dsm", "super-column"])
def test_a_disk_takes_as_long_however_much_of_the_table_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Layout, storage: str
) -> None:
    """Values of the other column are wanted of every second page: neighbours in the part are neighbours in the table, too."""
    schema = SCHEMA.replace("1000000", "800000").replace("[a, b, c, d]", "[a, b, c, d, e, f, g, h]")
    queries = QUERIES[: QUERIES.index("  - {name: whole")].replace("32KiB", "2KiB").replace("1MiB", "16KiB").replace("0.1", "0.004")
    whole, disks = task(tmp_path, schema, queries.replace("[b, d]", "[d]")), platform("compiled", storage=storage)
    (query,) = whole.workload.queries
    full = simulate(layout, query, whole, disks, 1000).io_seconds
    for parts in (2, 8):
        monkeypatch.setattr("memwalk.analysis.advice.layouts.stored_pages._IO_VALUES", 6_400_000 // parts)
        assert simulate(layout, query, whole, disks, 1000).io_seconds == pytest.approx(full, rel=0.08), parts


@pytest.mark.parametrize("pages", [1, 2, 3, 4, 7, 29, 200, 600, 1000, 1300, 1900, 2500])
@pytest.mark.parametrize("share", [0.997, 0.5, 0.26])
def test_runs_of_columns_are_those_of_the_table_whatever_memory_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int, share: float
) -> None:
    """A column has 1985 pages; memory is for so many of each of two. What differs is less than a run that is cut short at the end."""
    narrow_only = QUERIES[: QUERIES.index("  - {name: whole")].replace("32KiB", "512B").replace("1MiB", f"{2 * 512 * pages}B")
    whole = task(tmp_path, SCHEMA.replace("1000000", "238100"), narrow_only)
    query, disks = whole.workload.queries[0], platform("compiled")
    full = simulate("super-column", query, whole, disks, 1000).io_seconds
    monkeypatch.setattr("memwalk.analysis.advice.layouts.stored_pages._IO_VALUES", round(share * 238_100) * 4)
    assert simulate("super-column", query, whole, disks, 1000).io_seconds == pytest.approx(full, rel=0.03)


@pytest.mark.parametrize(("columns", "seeks"), [("[a, b]", 1), ("[a, d]", 2), ("[b, c]", 1)])
def test_files_of_columns_lie_where_the_table_has_them(tmp_path: Path, columns: str, seeks: int) -> None:
    """Each column is read at once: its first page follows its neighbour's last one, or is a page anywhere, as the very first is."""
    queries = QUERIES.replace("predicates: [b], selectivity: 0.1, project: [b, d]", f"project: {columns}").replace("1MiB", "256MiB")
    whole, disks = task(tmp_path, SCHEMA.replace("1000000", "200000"), queries), platform("compiled")
    found = simulate("super-column", whole.workload.queries[0], whole, disks, 1000).io_seconds
    costs = measured_costs(whole, disks, 1000)
    pages = 2 * ceil(4 * 200_000 / 32736)
    assert found == pytest.approx(pages * costs.sequential_io + seeks * (costs.random_io - costs.sequential_io), rel=0.005)


@pytest.mark.parametrize(("storage", "within"), [("raid0-6-disks", 0.001), ("cheetah-x15", 0.03)])
def test_added_times_are_those_of_one_clock(tmp_path: Path, storage: str, within: float) -> None:
    """Pages that are read one behind the other leave nothing to overlap but a disk that reads on while records are scanned."""
    records = 25_000
    # The first attributes, whose files are the first ones in the table as they are for the kernel.
    queries = QUERIES.replace("predicates: [b]", "predicates: [a]").replace("[b, d]", "[a, b]")
    queries = queries.replace("32KiB", "8KiB").replace("1MiB", "256KiB")
    whole = task(tmp_path, SCHEMA.replace("1000000", str(records)), queries)
    disks = platform("compiled", storage=storage)
    assert disks.device is not None
    for layout in EVERYWHERE:
        query = whole.workload.queries[0]
        added = simulate(layout, query, whole, disks, records)
        workload = kernel_workload(disks.kernel_layout(layout), query, whole, records)
        pages = timed_pages(System(disks.device), workload)
        clock = storage_times(disks.machine, pages, native.simulate(disks.machine, workload, storage=pages))
        assert clock["seconds"] == pytest.approx(added.seconds, rel=within), layout
        assert 0.9 < clock["io_seconds"] / added.io_seconds < 1.001, layout
        assert added.io_seconds > 4 * added.cpu_seconds, layout


def test_simulation_follows_the_prediction(tmp_path: Path) -> None:
    """Without predicates, what the cost model says about the prototype's DBMS is what its simulation gives."""
    whole = task(tmp_path)
    prototype = platform("shore-pentium4")
    costs = measured_costs(whole, prototype, 5000)
    for layout in prototype.layouts():
        query = whole.workload.queries[1]
        found = simulate(layout, query, whole, prototype, 20_000).cpu_seconds
        predicted = predict(layout, query, whole, costs)
        cost = predicted.cost
        assert found == pytest.approx(cost.iteration + cost.reconstruction + predicted.waiting, rel=0.15), layout


@pytest.mark.parametrize("device", ["cheetah-15k4", "nvme-ssd", "mems-g2"])
def test_pages_of_a_run_cost_what_they_do_in_one_command(tmp_path: Path, device: str) -> None:
    """Of a device that does not read ahead: page by page, the model had every page wait for a command, a turn or the sled."""
    whole = task(tmp_path, SCHEMA.replace("1000000", "200000"))
    stored = Platform(platform("compiled").machine, load_device(device))
    costs = measured_costs(whole, stored, 1000)
    layouts: list[Layout] = ["nsm", "pax", "super-row"]
    for layout in layouts:
        query = whole.workload.queries[1]
        found = simulate(layout, query, whole, stored, 1000).io_seconds
        assert found == pytest.approx(predict(layout, query, whole, costs).cost.io, rel=0.1), layout


def advice(folder: Path, *arguments: str, records: int = 1_000_000) -> Result:
    task(folder, SCHEMA.replace("1000000", str(records)))
    files = ("--schema", str(folder / "schema.yaml"), "--workload", str(folder / "queries.yaml"))
    return CliRunner().invoke(app, ["advise", "layout", *files, "--machine", "pentium4-2400", *arguments])


def test_advice_ranks_by_simulation_and_says_why(tmp_path: Path) -> None:
    result = advice(tmp_path, "--storage", "raid0-6-disks", "--sample", "2000", "--json", records=20_000)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    seconds = [layout["simulated_seconds"] for layout in answer["layouts"]]
    assert seconds == sorted(seconds)
    for one in answer["layouts"]:
        assert one["io_seconds"] + one["processor_seconds"] == pytest.approx(one["simulated_seconds"])
        model = one["predicted_io_seconds"] + one["iteration_seconds"] + one["reconstruction_seconds"] + one["predicted_waiting_seconds"]
        assert model == pytest.approx(one["predicted_seconds"])
    assert {layout["layout"] for layout in answer["layouts"]} == set(EVERYWHERE)
    small, best, *_ = answer["reasons"]
    assert small.startswith("The sample is small: ")
    assert best.startswith(f"{answer['layouts'][0]['layout']} is best")


@pytest.mark.parametrize(("latency", "most"), [("250cycles", "waiting for lines"), ("15cycles", "reconstructing tuples")])
def test_who_waits_for_memory_is_told_so(tmp_path: Path, latency: str, most: str) -> None:
    """Nothing prefetches: a line of sixteen values takes 250 cycles, or 15."""
    whole = task(tmp_path)
    machine = load_machine("thesis-simulator", machine_settings([f"machine.memory.latency_cycles={latency}"]), dbms="compiled").native()
    ranked = advise(whole, Platform(machine, None), 2000, lambda _: None)
    assert most in reasons([one for one in ranked if one.layout == "super-column"])[0]


def test_machines_of_several_memories_are_refused_as_by_other_advice(tmp_path: Path) -> None:
    task(tmp_path)
    files = ("--schema", str(tmp_path / "schema.yaml"), "--workload", str(tmp_path / "queries.yaml"))
    done = CliRunner().invoke(app, ["advise", "layout", *files, "--machine", "zen4-cxl"])
    assert done.exit_code == 2
    assert "machine zen4-cxl: it has several memories (dram, cxl); advice on layouts takes a machine with one" in done.stderr


def test_on_a_disk_mbsm_is_ranked_with_the_time_of_its_runs(tmp_path: Path) -> None:
    whole, disk = task(tmp_path), platform("compiled", storage="cheetah-x15").disk
    assert disk is not None
    laid = super_blocks.lay_out(whole, disk, PAGE_HEADER_BYTES)
    assert laid.run_pages == 8  # 1.3 x 345 sectors of the average track are 7.02 pages of 32 KiB
    # One page each would score as much, 4 x (2 + 2 x 4) against 8 x (1 + 2 x 2), but ties go to fewer pages.
    assert [{share.column for share in page} for page in laid.super_block.pages] == [{"a", "c"}, {"b", "d"}]
    narrow_query, whole_query = whole.workload.queries
    # 32736 bytes hold 4029 pairs of values and a bit each: 249 pages for a million, in 32 mega-blocks.
    assert super_blocks.pages_read(laid, narrow_query) == (249, 32)
    assert super_blocks.pages_read(laid, whole_query) == (2 * 249, 2)
    result = advice(tmp_path, "--storage", "cheetah-x15", "--sample", "1000", "--json", records=50_000)
    found = {layout["layout"]: layout for layout in json.loads(result.stdout)["layouts"]}
    assert found["mbsm"]["megabytes_read"] == pytest.approx((1 + 2 * 2) * 13 * 32768 / 1e6)  # the second query weighs twice
    assert 0 < found["mbsm"]["io_seconds"] < found["pax"]["io_seconds"]


def test_without_storage_pages_are_in_memory(tmp_path: Path) -> None:
    result = advice(tmp_path, "--dbms", "shore-pentium2", "--sample", "1000", "--json")
    assert [layout["io_seconds"] for layout in json.loads(result.stdout)["layouts"]] == [0, 0, 0]
    assert [layout["megabytes_read"] for layout in json.loads(result.stdout)["layouts"]] == [0, 0, 0]
    assert "MB read" not in advice(tmp_path, "--sample", "1000").stdout
    assert "MB read" in advice(tmp_path, "--sample", "1000", "--storage", "raid0-6-disks", records=5000).stdout


def test_pages_without_room_are_the_users_mistake(tmp_path: Path) -> None:
    text = QUERIES.replace("32KiB", "33B")
    (tmp_path / "queries.yaml").write_text(text)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    files = ("--schema", str(tmp_path / "schema.yaml"), "--workload", str(tmp_path / "queries.yaml"))
    result = CliRunner().invoke(app, ["advise", "layout", *files, "--machine", "pentium4-2400", "--sample", "1000"])
    assert result.exit_code == 2
    assert "queries.yaml:2:13: page_bytes: 33 bytes; it must be a power of two from 16 to 32768" in result.stderr


def advised(folder: Path, schema: str = SCHEMA, queries: str = QUERIES, *more: str) -> Result:
    (folder / "schema.yaml").write_text(schema)
    (folder / "queries.yaml").write_text(queries)
    files = ("--schema", str(folder / "schema.yaml"), "--workload", str(folder / "queries.yaml"))
    return CliRunner().invoke(app, ["advise", "layout", *files, "--machine", "pentium4-2400", "--sample", "1000", *more])


@pytest.mark.parametrize(
    ("schema", "queries", "storage", "says"),
    [
        (SCHEMA, QUERIES.replace("1MiB", "0B"), None, "queries.yaml:3:17: prefetch_bytes: `0` is too small; it must be more than 0"),
        (SCHEMA, QUERIES.replace("weight: 2", "weight: 1e308"), None, "queries.yaml:6:27: queries.1.weight: `1e+308` is too large"),
        (SCHEMA, QUERIES.replace("weight: 2", "weight: 1e-320"), None, "queries.yaml:6:27: queries.1.weight: `1e-320` is too small"),
        (SCHEMA, QUERIES.replace("32KiB", "64B"), None, "queries.yaml:2:13: page_bytes: 64 bytes, 32 of them usable"),
        (SCHEMA, QUERIES.replace("32KiB", "32B"), None, "queries.yaml:2:13: header_bytes: 32 bytes; it must be from 12"),
        (SCHEMA.replace("4B", "5B"), QUERIES, None, "schema.yaml:4:18: attribute_bytes: 5 bytes; it must be 4 or 8"),
        (
            SCHEMA.replace("1000000", "4000000000"),
            QUERIES,
            "atlas-10k",
            "schema.yaml:3:10: records: 4000000000 take 64000000000 bytes in any layout, and the device has",
        ),
    ],
)
def test_what_cannot_be_advised_on_is_told_in_one_line(tmp_path: Path, schema: str, queries: str, storage: str | None, says: str) -> None:
    done = advised(tmp_path, schema, queries, *(("--storage", storage) if storage else ()))
    assert done.exit_code == 2, done.output
    (line,) = [line for line in done.stderr.splitlines() if "error: " in line]
    assert says in line


def test_a_table_whose_values_fit_and_whose_tags_and_slots_do_not_is_refused(tmp_path: Path) -> None:
    """Of 16 bytes of values and 16 more in slotted pages, on a device of 1.6 MB."""
    device = tmp_path / "small.yaml"
    numbers = "page_bytes: 32KiB\nsequential_page: 100us\nrandom_page: 5ms\nblocks: 3200\n"
    device.write_text(f"schema_version: 1\ndescription: 50 pages\nsource: made up\nkind: sequential-random\n{numbers}")
    done = advised(tmp_path, SCHEMA.replace("1000000", "100000"), QUERIES, "--storage", str(device))
    assert done.exit_code == 2, done.output
    (line,) = [line for line in done.stderr.splitlines() if "error: " in line]
    assert "schema.yaml:3:10: records: 100000 take " in line
    assert "bytes in layout nsm, and the device has 1638400; it is at most some " in line


def test_the_largest_weights_give_valid_json(tmp_path: Path) -> None:
    done = advised(tmp_path, SCHEMA, QUERIES.replace("weight: 2", "weight: 1e12"), "--json")
    assert done.exit_code == 0, done.output

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(done.stdout, parse_constant=refuse)
