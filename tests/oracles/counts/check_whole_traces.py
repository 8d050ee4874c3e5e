"""Check memwalk against published simulators on the four address traces at full length.

usage: python check_whole_traces.py

Makes each trace of 20 million reads, checks its bytes, and compares the misses of the thesis's hierarchy with
`set-associative.csv`, and those of fully associative caches with `fully-associative.csv`. Exits with 1 at a difference.
"""

import csv
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from oracles.address_traces import LINE, SHA256, TRACES, addresses

from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine


def _references(name: str) -> dict[str, dict[str, str]]:
    with (Path(__file__).parent / name).open(newline="") as file:
        return {row["trace"]: row for row in csv.DictReader(file)}


def main() -> int:
    machine = load_machine("thesis-simulator").native()
    hierarchies, capacities = _references("set-associative.csv"), _references("fully-associative.csv")
    wrong = 0
    for name in TRACES:
        trace = addresses(name)
        same_bytes = hashlib.sha256(trace.astype("<u8").tobytes()).hexdigest() == SHA256[name]
        caches = native.count(trace, machine)["caches"]
        counted = {f"{cache['name']}_misses": cache["misses"] for cache in caches}
        curve = native.miss_curve(trace, LINE)
        at = {lines: int(curve[min(int(lines), len(curve) - 1)]) for lines in capacities[name] if lines.isdigit()}
        same_counts = all(int(hierarchies[name][column]) == value for column, value in counted.items())
        same_curve = all(int(capacities[name][lines]) == value for lines, value in at.items())
        wrong += not (same_bytes and same_counts and same_curve)
        sys.stdout.write(f"{name}: bytes {same_bytes}, counts {same_counts} {counted}, curve {same_curve} {at}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
