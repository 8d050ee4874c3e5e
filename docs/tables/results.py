"""What tables are made from: experiments, as `memwalk run` runs them, and their results."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from memwalk.analysis.experiments.manifest import BREAKDOWN, RESULTS
from memwalk.analysis.experiments.results import read_table
from memwalk.analysis.experiments.store import POINTS
from memwalk.analysis.reproduce import machine_facts

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """An experiment of `configs/experiments`, and what is set otherwise, as ``--set`` takes it."""

    experiment: str
    settings: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """What `memwalk run` is called with."""
        settings = [word for setting in self.settings for word in ("--set", setting)]
        return [f"configs/experiments/{self.experiment}.yaml", *settings]

    def folder(self, out: Path) -> Path:
        """Where its results are."""
        return out / "-".join([self.experiment, *(setting.replace("/", "-") for setting in self.settings)])

    def simulate(self, out: Path, jobs: list[str]) -> None:
        """Simulate what is not there yet. Raises CalledProcessError if that fails, after the command has said why."""
        command = [sys.executable, "-m", "memwalk", "run", *self.arguments, "--out", str(self.folder(out)), *jobs]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    def results(self, out: Path) -> pd.DataFrame:
        """Return a row for each point, with what stands in no table of results.

        What a simulated DRAM counted is added as `dram_...`, the slots of phases as `slots_in_...`.
        """
        results = read_table(self.folder(out) / RESULTS)
        counted = pd.DataFrame([self._dram(out, point) for point in results["point"]], index=results.index)
        slots = read_table(self.folder(out) / BREAKDOWN).groupby(["point", "phase"])["slots"].sum().unstack()
        return results.join(counted.add_prefix("dram_")).join(slots.add_prefix("slots_in_"), on="point")

    def _dram(self, out: Path, point: str) -> dict[str, int]:
        found = json.loads((self.folder(out) / POINTS / f"{point}.json").read_text())
        counts: dict[str, int] = found.get("statistics", {}).get("dram") or {}
        return counts


def cycles(row: pd.Series) -> float:
    """Return cycles of an operation."""
    return float(row["cycles"] / row["operations"])


def phase_cycles(row: pd.Series, phase: str) -> float:
    """Return cycles of an operation in a phase, of a run on one core."""
    return cycles(row) * float(row[f"slots_in_{phase}"] / row["slots_total"])


def share(row: pd.Series, cause: str) -> float:
    """Return the share of slots that went to a cause."""
    return float(row[f"slots_{cause}"] / row["slots_total"])


def microseconds(row: pd.Series) -> float:
    """Return microseconds of an operation, with what it waits for storage if there is one."""
    seconds = row.get("seconds")
    if seconds is None or pd.isna(seconds):
        seconds = row["cycles"] / machine_facts(row["machine.name"])["clock_hz"]
    return float(1e6 * seconds / row["operations"])
