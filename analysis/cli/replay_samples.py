"""`memwalk replay --sample`: a trace's time, estimated from samples; in full if it is too short for them."""

import re
from dataclasses import dataclass
from pathlib import Path

from memwalk.analysis.cli import console, replay_tables
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.replay_in_full import run_in_full
from memwalk.analysis.traces.facts import TraceFacts
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, spec_error

_COUNT = re.compile("[0-9]{1,20}")
AUTO = "auto"
"""The plan that follows from the trace's length."""


@dataclass(frozen=True)
class SamplePlan:
    """Which instructions are measured, and how the user put it."""

    text: str
    numbers: dict[str, int] | None
    """``unit``, ``warmup`` and ``period``; None leaves the choice to the simulator."""

    @classmethod
    def of(cls, text: str) -> "SamplePlan":
        """Read `auto` or UNIT:WARMUP:PERIOD. Raises UserError."""
        if text == AUTO:
            return cls(text, None)
        parts = text.split(":")
        if len(parts) != 3 or not all(_COUNT.fullmatch(part) for part in parts):
            raise UserError(f"--sample {text}: give `{AUTO}` or UNIT:WARMUP:PERIOD in instructions, such as 1000:2000:100000")
        unit, warmup, period = map(int, parts)
        if unit < 1:
            raise UserError(f"--sample {text}: a unit of {unit} measures nothing; the least is 1")
        if period < unit + warmup:
            both = f"a unit of {unit} behind a warm-up of {warmup}"
            raise UserError(f"--sample {text}: a period of {period} is too short for {both}; the least is {unit + warmup}")
        if period > console.MOST:
            raise UserError(f"--sample {text}: a period of {period} is too long; the most is {console.MOST}")
        return cls(text, {"unit": unit, "warmup": warmup, "period": period})


def replay_samples(trace: Path, machine: Machine, plan: SamplePlan, *, json: bool) -> None:
    """Replay samples of ``trace`` and print the estimate. Raises UserError for a plan that gives too few units."""
    facts = TraceFacts.of(trace)
    with event_progress("replaying", facts.events) as progress:
        statistics = _sampled(trace, machine, plan, progress)
    if statistics is None:
        console.note(f"{trace}: too short for samples, so it is replayed in full")
        run_in_full(trace, machine, dependences=None, places={}, out=None, json=json)
        return
    if json:
        console.print_json(statistics | ({"traces": [facts.described()]} if facts.imported else {}))
        return
    replay_tables.print_sample(f"{trace} on {machine.name}", statistics)
    if facts.imported:
        replay_tables.print_lacks(facts, timed=True)


def _sampled(trace: Path, machine: Machine, plan: SamplePlan, progress: native.Progress) -> native.Statistics | None:
    """Return the estimate; None if a trace is too short for the plan that follows from its length."""
    try:
        return native.replay_sampled(trace, machine.native(), plan.numbers, progress)
    except native.SpecError as error:
        path, message = error.args
        if not path.startswith("sample."):
            raise spec_error(error, machine.source) from None
        if plan.numbers is not None:
            raise UserError(f"--sample {plan.text}: a period of {message}") from None
        return None
