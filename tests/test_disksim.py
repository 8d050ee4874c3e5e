"""DiskSim's traces: what is read is what was written, and each mistake is told with its file, line and remedy."""

import gzip
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measured_traces import write_measured

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.disksim import (
    Arrival,
    Format,
    Measured,
    arrivals,
    as_arrivals,
    format_of,
    measured,
    write_arrivals,
)
from memwalk.simcore.storage.trace_lines import TraceLines

ASCII = "0.000000\t0\t4583176\t4\t0\n46.004\t2\t39\t8\t1\n"
VALIDATION = "W Hit    4583176   4    663.00000  45422.00000\nR Miss   3962268  12   6657.50000  0\n"

picoseconds = st.integers(0, 10**17)
places = {"block": st.integers(0, 2**40), "blocks": st.integers(1, 2**20), "write": st.booleans()}
a_measured = st.builds(
    Measured, buffer=st.sampled_from(["Hit", "Miss", "Doub", "Trip"]), response_ps=picoseconds, gap_ps=picoseconds, **places
)
an_arrival = st.builds(Arrival, arrival_ps=picoseconds, device=st.integers(0, 99), **places)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def written(tmp_path, text, name="a.trace"):
    path = tmp_path / name
    data = text.encode("latin-1")
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read_back(path, read=arrivals):
    with TraceLines(path) as lines:
        return list(read(lines))


def refused(path, read=arrivals):
    with pytest.raises(UserError) as error, TraceLines(path) as lines:
        list(read(lines))
    message = str(error.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize("name", ["a.trace", "a.trace.gz"])
def test_ascii_by_hand(tmp_path, name):
    with TraceLines(written(tmp_path, ASCII, name)) as lines:
        assert format_of(lines) is Format.ASCII
        assert list(arrivals(lines)) == [Arrival(0, 0, 4583176, 4, True), Arrival(46_004_000_000, 2, 39, 8, False)]
        assert lines.share == 1


@pytest.mark.parametrize("name", ["a.trace", "a.trace.gz"])
def test_validation_by_hand(tmp_path, name):
    with TraceLines(written(tmp_path, VALIDATION, name)) as lines:
        assert format_of(lines) is Format.VALIDATION
        requests = list(measured(lines))
    assert requests == [
        Measured(True, "Hit", 4583176, 4, 663_000_000, 45_422_000_000),
        Measured(False, "Miss", 3962268, 12, 6_657_500_000, 0),
    ]
    with TraceLines(tmp_path / name) as lines:
        assert [request.arrival_ps for request in as_arrivals(lines)] == [0, 46_085_000_000]


@in_one_folder
@given(requests=st.lists(an_arrival, min_size=1, max_size=20), packed=st.booleans())
def test_ascii_reads_back_as_written(tmp_path, requests, packed):
    path = tmp_path / ("a.trace.gz" if packed else "a.trace")
    requests.sort()
    write_arrivals(path, requests)
    assert read_back(path) == requests


@in_one_folder
@given(requests=st.lists(a_measured, min_size=1, max_size=20), packed=st.booleans())
def test_validation_reads_back_as_written(tmp_path, requests, packed):
    path = tmp_path / ("a.trace.gz" if packed else "a.trace")
    write_measured(path, requests)
    assert read_back(path, measured) == requests


def test_the_same_requests_give_the_same_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a.gz", "b.gz")]
    for path in paths:
        write_arrivals(path, [Arrival(5, 0, 1, 2, False)])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_flags_are_hexadecimal_and_blank_lines_are_nothing(tmp_path):
    with TraceLines(written(tmp_path, "\n  \n0 0 1 1 00000001\r\n\n0 0 1 1 0x0")) as lines:
        assert [request.write for request in arrivals(lines)] == [False, True]
        assert lines.number == 5


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 0 5 8", "4 fields where 5 belong: `time_ms device block blocks flags`"),
        ("nan 0 5 8 1", "time_ms `nan` is not a time of 0 or more"),
        ("1e10 0 5 8 1", "time_ms `1e10` is too large; it must be less than 4,611,686,018"),
        (f"1 0 {1 << 62} 8 1", "block `4611686018427387904` is too large; the most is 4611686018427387903"),
        ("inf 0 5 8 1", "time_ms `inf` is not"),
        ("-1 0 5 8 1", "time_ms `-1` is not"),
        ("1e99 0 5 8 1", "time_ms `1e99` is too large"),
        ("soon 0 5 8 1", "time_ms `soon` is not"),
        ("0.5 0 5 8 1", "time_ms `0.5` is before the request above; sort the trace by time"),
        ("1 -1 5 8 1", "device `-1` is not a whole number from 0 on"),
        ("1 0 5.5 8 1", "block `5.5` is not a whole number from 0 on"),
        ("1 0 5_0 8 1", "block `5_0` is not"),
        ("1_0 0 5 8 1", "time_ms `1_0` is not a time of 0 or more"),
        ("1 0 5 8 0_1", "flags `0_1` is neither 0 (write) nor 1 (read)"),
        ("1 0 " + "9" * 5000 + " 8 1", "more than 4096 characters, where one request stands on a line"),
        ("1 0 " + "9" * 30 + " 8 1", "is too large; the most is"),
        ("1 0 " + "x" * 4000 + " 8 1", f"block `{'x' * 80}...` is not a whole number"),
        ("1" * 4000 + "z 0 5 8 1", f"time_ms `{'1' * 80}...` is not"),
        ("4611686018.5 0 5 8 1", "time_ms `4611686018.5` is too large"),
        ("1 0 5 0 1", "blocks `0` is not a whole number from 1 on"),
        ("1 0 5 8 7", "flags `7` is neither 0 (write) nor 1 (read)"),
        ("1 0 5 8 R", "flags `R` is neither"),
        ("1 0 \xb2 8 1", "block `\xb2` is not"),
    ],
)
def test_a_bad_ascii_line_is_named(tmp_path, line, complaint):
    message = refused(written(tmp_path, f"1 0 5 8 1\n{line}\n1 0 5 8 1\n"))
    assert message.startswith(":2: ")
    assert complaint in message
    assert re.search(r"; the line is '.*'$", message)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("R Hit 5 8 100", "5 fields where 6 belong: `R|W buffer block blocks response_us gap_us`"),
        ("X Hit 5 8 100 0", "`X` is neither R (read) nor W (write)"),
        ("R 3 5 8 100 0", "buffer `3` is not a word such as Hit or Miss"),
        ("R Hit -5 8 100 0", "block `-5` is not"),
        ("R Hit 5 8 NaN 0", "response_us `NaN` is not a time"),
        ("R Hit 5 8 100 -1", "gap_us `-1` is not a time"),
        ("R " + "?" * 4000 + " 5 8 100 0", f"buffer `{'?' * 80}...` is not a word"),
        ("Q" * 4000 + " Hit 5 8 100 0", f"`{'Q' * 80}...` is neither R (read) nor W (write)"),
    ],
)
def test_a_bad_validation_line_is_named(tmp_path, line, complaint):
    message = refused(written(tmp_path, f"R Hit 5 8 100 0\n{line}\n"), measured)
    assert message.startswith(":2: ")
    assert complaint in message


def test_requests_beyond_the_time_that_a_trace_reaches_are_refused(tmp_path):
    """53 days are 2^62 ps: what is converted can be read again."""
    days = "R Hit 5 8 4.6e12 0\n"
    assert len(read_back(written(tmp_path, days + "R Hit 5 8 1 1\n"), as_arrivals)) == 2
    message = refused(written(tmp_path, 2 * days + "R Hit 5 8 1 1\n"), as_arrivals)
    assert message.startswith(":3: the request arrives 106 days after the first; convert a shorter trace")


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    assert refused(written(tmp_path, "")) == ": holds no requests; a trace has one on each line"
    assert "holds no requests" in refused(written(tmp_path, "\n\n", "blank.gz"))
    assert "No such file" in refused(tmp_path / "missing")
    assert "Is a directory" in refused(tmp_path)
    endless = written(tmp_path, "1 0 5 8 1\n" + "x" * 3_000_000, "endless")
    assert refused(endless).startswith(":2: more than 4096 characters")
    with (
        TraceLines(written(tmp_path, "a,b,c\n", "other")) as lines,
        pytest.raises(UserError, match=r"other:1: neither `time_ms.*` \(ASCII\) nor `R|W.*` \(validation\)"),
    ):
        format_of(lines)


def test_damaged_compression_is_refused(tmp_path):
    text = "".join(f"{time} 0 {time * 7919 % 100_003} 8 1\n" for time in range(20_000))
    whole = gzip.compress(text.encode())
    path = tmp_path / "a.gz"
    path.write_bytes(whole[: len(whole) // 2])
    assert re.match(r": compressed data end after line \d+: the file is not whole", refused(path))
    path.write_bytes(whole[:20_000] + bytes(100) + whole[20_100:])
    assert re.match(r"(:\d+: )|(: damaged gzip data after line \d+)", refused(path))
    path.write_bytes(whole[:-8] + bytes(8))
    assert "damaged gzip data after line 20000" in refused(path)


def test_a_trace_that_cannot_be_written_leaves_nothing(tmp_path):
    bad = written(tmp_path, "0 0 5 8 1\n0 0 x 8 1\n", "bad")
    with pytest.raises(UserError, match=r"cannot write .*: File exists"):
        write_arrivals(bad / "a.trace", [Arrival(5, 0, 1, 2, False)])
    path = tmp_path / "a.trace"
    with TraceLines(bad) as lines, pytest.raises(UserError, match="a whole number"):
        write_arrivals(path, arrivals(lines))
    assert [each.name for each in tmp_path.iterdir()] == ["bad"]
