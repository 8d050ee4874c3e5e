"""Count the misses of searches that run natively, with cachegrind, and print the reference CSV.

usage: python run_cachegrind.py > cachegrind.csv

Runs the example `native_searches` of the crate `workloads`, compiled for processors without AVX-512, which valgrind does not
know, with SEARCHES and twice as many: the difference is that of as many searches in warm caches, without start-up.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from oracles.native.searches import COLUMNS, SEARCHES, WORKLOAD

ROOT = Path(__file__).resolve().parents[3]
TARGET = "target/cachegrind"
CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=16384,4,64", "--LL=2097152,8,64"]


def build() -> Path:
    """Build the example."""
    command = ["cargo", "build", "--release", "--locked", "-p", "memwalk-workloads", "--example", "native_searches"]
    flags = os.environ | {"RUSTFLAGS": "-C target-cpu=x86-64-v3"}
    subprocess.run([*command, "--target-dir", TARGET], cwd=ROOT, env=flags, check=True)
    return ROOT / TARGET / "release" / "examples" / "native_searches"


def count(program: Path, operations: int) -> dict[str, int]:
    """Cachegrind's counts by event."""
    with tempfile.TemporaryDirectory() as folder:
        out, workload = Path(folder) / "out", Path(folder) / "workload.json"
        workload.write_text(json.dumps(WORKLOAD))
        tool = ["valgrind", "--quiet", "--tool=cachegrind", *CACHES, f"--cachegrind-out-file={out}"]
        subprocess.run([*tool, program, workload, str(operations)], check=True)
        lines = dict(line.split(": ", 1) for line in out.read_text().splitlines() if line.startswith(("events", "summary")))
    return {event: int(value) for event, value in zip(lines["events"].split(), lines["summary"].split(), strict=True)}


def main() -> None:
    program = build()
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    once, twice = count(program, SEARCHES), count(program, 2 * SEARCHES)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["simulator", "searches", *COLUMNS])
    out.writerow([f"cachegrind ({version})", SEARCHES, *(twice[event] - once[event] for event in COLUMNS)])


if __name__ == "__main__":
    main()
