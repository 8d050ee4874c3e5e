"""`memwalk replay` of traces without time, and of several on the cores of a machine."""

from collections.abc import Callable

from memwalk.analysis.cli import console, replay_tables
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.replay_request import ReplayRequest
from memwalk.analysis.traces.facts import DIFFERS
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Progress, Statistics
from memwalk.simcore.machine import spec_error


def replay_counts(request: ReplayRequest, *, json: bool) -> None:
    """Count hits and misses of a trace, or of an array of addresses, and print them."""
    machine = request.machine.native()
    in_turn = [one.in_turn for one in request.facts if one.in_turn]

    def count(progress: Progress) -> Statistics:
        counted = native.count(request.first, machine, progress)
        return counted | {DIFFERS: [*counted.get(DIFFERS, ()), *in_turn]} if in_turn else counted

    _replay(request, count, replay_tables.print_counts, json=json)


def replay_cores(request: ReplayRequest, *, json: bool) -> None:
    """Replay traces side by side and print what each core did."""
    machine, shared = request.machine.native(), request.shared_addresses

    def replay(progress: Progress) -> Statistics:
        return native.replay_cores(request.traces, machine, progress, shared_addresses=shared)

    _replay(request, replay, replay_tables.print_cores, json=json)


def _replay(
    request: ReplayRequest, replay: Callable[[Progress], Statistics], show: Callable[[str, Statistics], None], *, json: bool
) -> None:
    with event_progress("replaying", request.events) as progress:
        try:
            statistics = replay(progress)
        except native.SpecError as error:
            raise spec_error(error, request.machine.source) from None
    if json:
        described = [one.described() for one in request.imported]
        console.print_json(statistics | ({"traces": described} if described else {}))
        return
    show(f"{', '.join(map(str, request.traces))} on {request.machine_name}", statistics)
    for one in request.imported:
        replay_tables.print_lacks(one, timed=request.is_timed)
