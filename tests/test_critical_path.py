"""Critical paths: what waited for what, from the end of a part of a trace back to its beginning."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import THESIS
from matplotlib.patches import Rectangle
from typer.testing import CliRunner

from memwalk.analysis.cli.main import app
from memwalk.analysis.explain.critical_path import (
    HANDLER,
    INSTRUCTIONS,
    MISPREDICTION,
    TRANSLATION,
    WINDOW,
    Part,
    Watched,
    critical_path,
    plain,
    shares,
)
from memwalk.analysis.figures.critical_path import draw
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

"""Memory takes 250 cycles; a reorder buffer of 128."""
JOIN = {"kernel": "hash-join", "build_tuples": 3000, "probe_tuples": 6000, "tuple_bytes": 20}
CHASE = {"kernel": "pointer-chase", "lines": 4000, "pages": 100, "tlb": "warm", "word_bytes": 4}


def recorded(folder: Path, workload: dict[str, Any]) -> Path:
    """The workload's trace."""
    path = folder / "trace.parquet"
    native.record(workload, path)
    return path


def path_of(trace: Path, first: int, count: int, machine: dict[str, Any] = THESIS) -> tuple[list[Part], Watched]:
    """The path of a part of it."""
    watched = Watched.of(trace, machine, first, count)
    return critical_path(watched), watched


def cycles(path: list[Part], kind: str) -> int:
    """What the path spends on things of a kind."""
    return sum(part.cycles for part in path if part.kind.startswith(kind))


def is_whole(path: list[Part], watched: Watched) -> bool:
    """Its parts follow each other from the first dispatch to the last graduation."""
    last = -(-int(watched.columns["graduated_slot"][-1]) // watched.width)
    follow = all(one.end == other.start for one, other in itertools.pairwise(path))
    return follow and (path[0].start, path[-1].end) == (watched.columns["dispatched"][watched.before], last)


def test_a_chain_of_pointers_waits_for_memory_line_by_line(tmp_path: Path) -> None:
    path, watched = path_of(recorded(tmp_path, CHASE), 1000, 500)
    assert is_whole(path, watched)
    assert cycles(path, "line from memory") > 0.99 * (path[-1].end - path[0].start), "those before the part that fill the buffer, too"
    own = [part.cycles for part in path if part.kind.startswith("line") and part.event >= watched.before]
    assert sum(own) == 250 * 250, "every other event is a load"
    assert all(part.by == part.event for part in path)


def test_prefetching_takes_lines_off_the_path(tmp_path: Path) -> None:
    found = {}
    for algorithm in ("grace", "group"):
        path, watched = path_of(recorded(tmp_path, JOIN | {"algorithm": algorithm}), 60_000, 4000)
        assert is_whole(path, watched)
        found[algorithm] = cycles(path, "line") / (path[-1].end - path[0].start)
    assert found["grace"] > 0.5
    assert found["group"] < 0.5 * found["grace"]


def test_a_line_that_a_prefetch_asked_for_too_late_is_the_prefetchs(tmp_path: Path) -> None:
    trace = recorded(tmp_path, JOIN | {"algorithm": "group", "group_size": 2})
    far = THESIS | {"memory": THESIS["memory"] | {"latency_cycles": 1000}}
    path, watched = path_of(trace, 60_000, 4000, far)
    site, sites = watched.column("site"), native.trace_info(trace)["layout"]["sites"]
    late = [part for part in path if part.kind.startswith("line") and part.by != part.event]
    assert late
    assert all("prefetch" in sites[site[part.by]] for part in late)
    summed = shares(path, sites, watched)
    assert sum(share.cycles for share in summed) == path[-1].end - path[0].start
    assert any(share.asked_by not in ("", share.site) for share in summed)


def watched_of(**columns: list[int]) -> Watched:
    """Events by hand, of a core one wide; what is not given is 0, and each event has one instruction."""
    length = len(columns["dispatched"])
    names = (
        "is_access",
        "is_store",
        "address",
        "dep",
        "chain",
        "site",
        "dispatched",
        "ready",
        "issued",
        "translated",
        "behind",
        "behind_level",
        "walks",
        "walk_began",
        "complete",
        "arrived",
        "level",
        "mispredicted",
    )
    given = {name: columns.get(name, [0] * length) for name in (*names, "graduated_slot")}
    given |= {"event": list(range(length)), "instructions": columns.get("instructions", [1] * length)}
    arrays = {name: np.array(values, dtype=np.uint64) for name, values in given.items()}
    return Watched(arrays, width=1, entries=4, levels=("L1", "memory"), line_bytes=64, penalty=5)


@pytest.mark.parametrize(("asked", "by"), [(40, 1), (50, 0), (60, 0)])
def test_a_line_is_who_asked_for_it_first(asked: int, by: int) -> None:
    # A prefetch that issues in cycle 50 for a line that takes 100 cycles, and a load of that line behind it in the program.
    watched = watched_of(
        is_access=[1, 1],
        address=[64, 64],
        dispatched=[0, 0],
        ready=[50, asked],
        issued=[50, asked],
        translated=[50, asked],
        complete=[51, min(asked + 100, 150)],
        arrived=[150, min(asked + 100, 150)],
        level=[1, 1],
        graduated_slot=[52, min(asked + 100, 150) + 1],
    )
    (line,) = (part for part in critical_path(watched) if part.kind == "line from memory")
    assert (line.event, line.by) == (1, by)


def test_a_miss_waits_for_the_line_that_has_its_handler() -> None:
    # The second load's line takes 100 cycles from when the first has left their one handler.
    watched = watched_of(
        is_access=[1, 1],
        address=[64, 128],
        dispatched=[0, 0],
        ready=[1, 1],
        issued=[1, 1],
        translated=[1, 1],
        behind=[0, 101],
        behind_level=[0, 1],
        complete=[101, 201],
        arrived=[101, 201],
        level=[1, 1],
        graduated_slot=[102, 202],
    )
    parts = [(part.kind, part.start, part.end) for part in critical_path(watched)]
    assert parts[1:3] == [(f"{HANDLER} held by a line from memory", 1, 101), ("line from memory", 101, 201)]


def test_a_misprediction_is_on_the_path_of_what_came_behind_it() -> None:
    # A branch that waits for a load, is resolved in cycle 102, and an operation behind it.
    watched = watched_of(
        is_access=[1, 0, 0],
        dep=[0, 1, 0],
        dispatched=[0, 1, 107],
        ready=[1, 101, 108],
        issued=[1, 101, 108],
        translated=[1, 101, 108],
        complete=[101, 102, 109],
        arrived=[101, 102, 109],
        level=[1, 0, 0],
        mispredicted=[0, 1, 0],
        graduated_slot=[102, 103, 110],
    )
    path = critical_path(watched)
    assert is_whole(path, watched)
    assert [(part.kind, part.start, part.end) for part in path if part.kind != INSTRUCTIONS] == [
        ("line from memory", 1, 101),
        (MISPREDICTION, 102, 107),
    ]


def test_a_walk_that_waits_for_others_leads_through_all_of_them(tmp_path: Path) -> None:
    """A page for each line, asked for at once, and a walker that walks one after the other for 30 cycles each."""
    lines = CHASE | {"lines": 100, "pages": 100, "tlb": "cold"}
    path, watched = path_of(recorded(tmp_path, lines), 0, 66)
    walks = [part.cycles for part in path if part.kind == TRANSLATION]
    assert set(walks) == {30}
    assert len(walks) == len({part.event for part in path if part.kind == TRANSLATION}) == sum(watched.column("is_access"))
    assert cycles(path, INSTRUCTIONS) < 10


def test_a_part_waits_for_what_fills_the_reorder_buffer_before_it(tmp_path: Path) -> None:
    trace = recorded(tmp_path, CHASE | {"lines": 100, "pages": 100, "tlb": "cold"})
    for first in (50, 60):
        path, watched = path_of(trace, first, 66 - first)
        assert len(watched) == 66 - first
        assert is_whole(path, watched)
        assert cycles(path, INSTRUCTIONS) < 10
        assert plain(path, watched)[-1]["event"] == 65, "by its number in the trace"


def test_a_full_reorder_buffer_leads_to_what_filled_it() -> None:
    # Four entries: the fifth instruction enters when the load has graduated.
    watched = watched_of(
        is_access=[1, 0, 0, 0, 0],
        dispatched=[0, 1, 2, 3, 102],
        ready=[1, 2, 3, 4, 103],
        issued=[1, 2, 3, 4, 103],
        translated=[1, 2, 3, 4, 103],
        complete=[101, 3, 4, 5, 106],
        arrived=[101, 3, 4, 5, 106],
        level=[1, 0, 0, 0, 0],
        graduated_slot=[101, 102, 103, 104, 107],
    )
    path = critical_path(watched)
    assert is_whole(path, watched)
    assert [part.kind for part in path if part.kind not in (INSTRUCTIONS,)] == ["line from memory", WINDOW]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40_000), st.integers(1, 3000), st.sampled_from(["grace", "simple", "group", "pipelined"]))
def test_parts_follow_each_other_wherever_the_window_lies(
    tmp_path_factory: pytest.TempPathFactory, first: int, count: int, algorithm: str
) -> None:
    trace = tmp_path_factory.getbasetemp() / f"{algorithm}.parquet"
    if not trace.exists():
        native.record({**JOIN, "build_tuples": 500, "probe_tuples": 2000, "algorithm": algorithm}, trace)
    path, watched = path_of(trace, first, count)
    assert not len(watched) or is_whole(path, watched)


def test_watching_changes_nothing(tmp_path: Path) -> None:
    trace = recorded(tmp_path, JOIN | {"algorithm": "group"})
    whole = native.replay(trace, THESIS)
    watched = Watched.of(trace, THESIS, 0, 1 << 40)
    last = -(-int(watched.columns["graduated_slot"][-1]) // watched.width)
    assert whole["cycles"] - whole["slots"]["drain"] // watched.width <= last <= whole["cycles"]
    assert watched.columns["mispredicted"].sum() == whole["branches"]["mispredicted"]


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ([], "--critical-path: name the machine"),
        (["--machine", "thesis-simulator", "--from", "999999999"], "--from 999999999: the trace has"),
        (["--machine", "itanium2-900"], "critical paths are those of out-of-order cores"),
        (["--machine", "thesis-simulator", "--by", "pc"], "a critical path is that of a trace"),
        (["--machine", "thesis-simulator", "--top", "3"], "a critical path is that of a trace"),
        (["--machine", "thesis-simulator", "--out", "path.gif"], "end the name in .png or .svg"),
        (["--machine", "thesis-simulator", "--dbms", "compiled"], "--dbms compiled: dbms has no effect on this run: it is for kernels"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, options: list[str], answer: str) -> None:
    trace = recorded(tmp_path, CHASE)
    told = CliRunner().invoke(app, ["explain", str(trace), "--critical-path", *options])
    assert told.exit_code == 2
    assert answer in " ".join(told.stderr.split())


@pytest.mark.parametrize("option", [["--events", "5"], ["--dbms", "compiled"]])
def test_options_of_the_path_are_refused_without_it(tmp_path: Path, option: list[str]) -> None:
    told = CliRunner().invoke(app, ["explain", str(tmp_path), *option])
    assert told.exit_code == 2
    assert f"{option[0]}: only with --critical-path" in told.stderr


def test_what_a_trace_calls_is_that_of_a_dbms(tmp_path: Path) -> None:
    """Without one it is not known what a scan's calls do; `compiled` does nothing in them, other profiles do."""
    trace = recorded(tmp_path, {"kernel": "table", "operation": "scan", "layout": "nsm", "records": 100})
    asked = ["explain", str(trace), "--critical-path", "--machine", "thesis-simulator", "--json"]
    assert "has no DBMS profile; name one" in CliRunner().invoke(app, asked).stderr
    cycles = []
    for dbms in ("compiled", "shore-pentium2"):
        told = CliRunner().invoke(app, [*asked, "--dbms", dbms])
        assert told.exit_code == 0, told.stderr
        found = json.loads(told.stdout)
        assert found["dbms"] == dbms
        cycles.append(sum(share["cycles"] for share in found["shares"]))
    assert cycles[0] < cycles[1]


@pytest.mark.parametrize("options", [["--top", "3"], ["--top", "3", "--by", "segment"]])
def test_the_number_of_places_is_refused_where_there_are_none(tmp_path: Path, options: list[str]) -> None:
    told = CliRunner().invoke(app, ["explain", str(tmp_path), *options])
    assert told.exit_code == 2
    assert "--top: only with --by pc" in told.stderr


def test_a_part_ends_with_its_trace(tmp_path: Path) -> None:
    trace = recorded(tmp_path, CHASE)
    events = native.trace_info(trace)["summary"]["events"]
    told = CliRunner().invoke(app, ["explain", str(trace), "--critical-path", "--machine", "thesis-simulator", "--events", "1000000"])
    assert told.exit_code == 0, told.stderr
    assert f"events 0 to {events:,} of" in " ".join(told.stdout.split())


def test_a_part_that_takes_no_cycle_has_no_path(tmp_path: Path) -> None:
    """The first event opens a phase."""
    trace = recorded(tmp_path, CHASE)
    told = CliRunner().invoke(app, ["explain", str(trace), "--critical-path", "--machine", "thesis-simulator", "--events", "1"])
    assert told.exit_code == 0, told.stderr
    assert told.stdout == "No instruction of the part takes a cycle: watch more events.\n"


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    trace, picture = recorded(tmp_path, JOIN | {"algorithm": "group"}), tmp_path / "path.svg"
    asked = ["explain", str(trace), "--critical-path", "--machine", "thesis-simulator", "--from", "60000", "--events", "500"]
    told = CliRunner().invoke(app, [*asked, "--out", str(picture)])
    assert told.exit_code == 0, told.stderr
    assert "Of " in told.stdout
    assert "instructions" in told.stdout
    assert picture.read_bytes().startswith(b"<?xml")
    found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert sum(share["cycles"] for share in found["shares"]) == found["path"][-1]["end"] - found["path"][0]["start"]


def test_the_picture_has_the_path_and_all_lines(tmp_path: Path) -> None:
    path, watched = path_of(recorded(tmp_path, JOIN | {"algorithm": "group"}), 60_000, 500)
    (axes,) = draw(r"a join of $\frac$", path, watched).axes
    assert axes.get_title() == r"a join of \$\frac\$"
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    of_path = [bar for bar in bars if bar.get_y() < 0]
    assert sum(bar.get_width() for bar in of_path) == path[-1].end - path[0].start
    columns = watched.columns
    coming = (columns["level"] > 0) & (columns["arrived"] > columns["translated"] + 1)
    assert len(bars) - len(of_path) == coming.sum()


def test_imported_traces_have_no_path(tmp_path: Path) -> None:
    dinero = tmp_path / "a.din"
    dinero.write_text("0 1000\n1 2000\n")
    trace = tmp_path / "a.parquet"
    assert CliRunner().invoke(app, ["trace", "import", str(dinero), "--format", "din", "-o", str(trace)]).exit_code == 0
    with pytest.raises(UserError, match="says nothing of dependences"):
        Watched.of(trace, THESIS, 0, 10)
