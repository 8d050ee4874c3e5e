"""Count a real program's misses with cachegrind and, from its Lackey trace, with memwalk, on the very same run.

usage: python run_valgrind.py [NAME...] > cachegrind.csv

Needs memwalk on the path, valgrind and the programs below. Prints cachegrind's counts, the reference, as CSV; memwalk's counts,
their differences in percent and the rate of the import go to stderr. Exits with 1 if a difference exceeds TOLERANCE.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from oracles.lackey.comparison import EVENTS, TOLERANCE, reference_counts, trace_counts

from memwalk.simcore.engines import native

HERE = Path(__file__).parent
PROGRAMS = {
    # Nothing but the dynamic loader: short enough for its trace to be kept.
    "true": (["/bin/true"], ["/bin/true", "--version"]),
    "sqlite3": (["/usr/bin/sqlite3", ":memory:", ".read orders.sql"], ["/usr/bin/sqlite3", "--version"]),
}
"""What is run, and what tells its version."""
CACHEGRIND = ["--tool=cachegrind", "--cache-sim=yes", "--I1=32768,8,64", "--D1=16384,4,64", "--LL=2097152,8,64"]
LACKEY = ["--tool=lackey", "--basic-counts=no", "--trace-mem=yes"]


def valgrind(options: list[str], program: list[str]) -> subprocess.Popen[bytes]:
    """Start a program without any environment: its length would move the stack."""
    command = ["/usr/bin/valgrind", *options, *program]
    return subprocess.Popen(command, cwd=HERE, env={}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cachegrind(program: list[str], folder: Path) -> dict[str, str]:
    """Cachegrind's counts, by its own names."""
    out = folder / "cachegrind.out"
    if valgrind([*CACHEGRIND, f"--cachegrind-out-file={out}"], program).wait():
        raise SystemExit(f"{program[0]}: failed under cachegrind")
    lines = dict(line.split(": ", 1) for line in out.read_text().splitlines() if line.startswith(("events", "summary")))
    return dict(zip(lines["events"].split(), lines["summary"].split(), strict=True))


@contextmanager
def lackey(program: list[str], folder: Path) -> Iterator[Path]:
    """A pipe out of which the program's trace comes."""
    pipe = folder / "lackey"
    os.mkfifo(pipe)
    process = valgrind([*LACKEY, f"--log-file={pipe}"], program)
    yield pipe
    if process.wait():
        raise SystemExit(f"{program[0]}: failed under Lackey")


def memwalk(program: list[str], folder: Path) -> dict[str, int]:
    """Memwalk's counts of the program's Lackey trace; tells how fast the trace came in."""
    trace = folder / "trace.parquet"
    start = time.monotonic()
    with lackey(program, folder) as pipe:
        report = native.import_trace([str(pipe)], trace, {"format": "lackey", "instructions": "fetch"})
    rate = report["lines"] / (time.monotonic() - start) / 1e6
    size = trace.stat().st_size / report["trace"]["events"]
    note(f"{report['lines']:,} lines, {report['accesses']:,} accesses, {rate:.2f} M lines/s out of Lackey, {size:.2f} bytes/event")
    return trace_counts(trace)


def version(command: list[str]) -> str:
    """The first line that the command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["program", "version", "simulator", *EVENTS])
    worst = 0.0
    for name in sys.argv[1:] or PROGRAMS:
        program, tell_version = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            events = cachegrind(program, Path(folder))
            simulator = f"cachegrind ({version(['/usr/bin/valgrind', '--version'])})"
            out.writerow([name, version(tell_version), simulator, *(events[event] for event in EVENTS)])
            sys.stdout.flush()
            reference, counted = reference_counts(events), memwalk(program, Path(folder))
        for what, theirs in reference.items():
            difference = counted[what] / theirs - 1
            worst = max(worst, abs(difference))
            note(f"{name}: {what}: cachegrind {theirs:,}, memwalk {counted[what]:,}, {difference:+.3%}")
    return worst > TOLERANCE


if __name__ == "__main__":
    sys.exit(main())
