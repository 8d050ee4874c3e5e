"""DRAMSim3 alone on the requests of small runs: the reference that `simcore/tests/suite/dram_oracle.rs` is compared with.

Usage: python tests/oracles/dramsim3_standalone.py DRAMSIM3MAIN > tests/oracles/dramsim3_standalone.csv
where DRAMSIM3MAIN is DRAMSim3's own trace-driven program, built from the sources in the crate dramsim3 0.2.2:
    cmake -S ~/.cargo/registry/src/*/dramsim3-0.2.2/DRAMsim3 -B build -DCMAKE_BUILD_TYPE=Release
    cmake --build build --target dramsim3main
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REQUESTS = 1000
LINE_BYTES = 64
SEQUENTIAL, SCATTERED, SAME_BANK = 1, 2_654_435_761, 1 << 12
RUNS = ((SEQUENTIAL, 60), (SEQUENTIAL, 400), (SCATTERED, 60), (SCATTERED, 400), (SAME_BANK, 400))
"""Lines from one request to the next, modulo 2^24 lines (1000 of them are distinct), and the longest gap in cycles.

Sparse enough for the controller's queue never to be full: DRAMSim3 counts no time before it, memwalk does."""
PRESETS = ("ddr4-3200", "hbm2-2000")
DRAM = Path(__file__).resolve().parents[2] / "configs" / "dram"
COUNTERS = ("num_reads_done", "num_read_cmds", "num_read_row_hits", "num_act_cmds")


def requests(step: int, longest_gap: int) -> list[tuple[int, int]]:
    """Return address and cycle of each request: the number of plain instructions before it, and its own cycle."""
    made, cycle = [], -1
    for number in range(REQUESTS):
        cycle += number * number % longest_gap + 2
        made.append((number * step % 2**24 * LINE_BYTES, cycle))
    return made


def run(program: Path, preset: str, made: list[tuple[int, int]]) -> dict[str, float]:
    """Run DRAMSim3 and sum its counters over the channels."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "requests.trace"
        # The program hands a request over after the clock tick of its cycle, that is, in the next cycle.
        cycles = made[-1][1] + 100_000
        # It forgets the request in the last line, unless its time has come: so that is one that never comes.
        never = f"0x0 READ {2 * cycles}"
        trace.write_text("".join(f"0x{address:x} READ {cycle - 1}\n" for address, cycle in made) + never)
        command = [program, DRAM / f"{preset}.ini", "-c", str(cycles), "-o", folder, "-t", trace]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        channels = json.loads((Path(folder) / "dramsim3.json").read_text()).values()
    sums = {name: sum(channel[name] for channel in channels) for name in COUNTERS}
    latency = sum(channel["average_read_latency"] * channel["num_reads_done"] for channel in channels)
    return sums | {"read_latency_dram_cycles": round(latency)}


def main() -> None:
    """Write one line per preset, pattern and density of requests."""
    program = Path(sys.argv[1]).resolve()
    columns = ("preset", "step_lines", "longest_gap", *COUNTERS, "read_latency_dram_cycles")
    table = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    table.writeheader()
    for preset in PRESETS:
        for step, gap in RUNS:
            place = {"preset": preset, "step_lines": step, "longest_gap": gap}
            table.writerow(place | run(program, preset, requests(step, gap)))


if __name__ == "__main__":
    main()
