"""`memwalk explain`: where the time of a result goes."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli import critical_path as path_of
from memwalk.analysis.explain.by import OF_CODE, By

if TYPE_CHECKING:
    from memwalk.analysis.explain.breakdown import Explanation
    from memwalk.analysis.explain.time_breakdown import StorageExplanation, TimeBreakdown
    from memwalk.analysis.explain.usage import SiteUsage

app = typer.Typer(add_completion=False)


_PLACES = 20
"""Places in the code that are shown unless somebody says how many."""
_NAMES = {By.SEGMENT: "data structure", By.PHASE: "phase", By.PC: "instruction", By.LINE: "source line"}
"""What is above their names."""


@app.command(
    epilog="Example: memwalk explain out/search-tree-size --variant B+; memwalk explain out/mine --by line --program ./mine; "
    "memwalk explain join.parquet --critical-path --machine thesis-simulator --out path.svg"
)
def explain(
    result: Annotated[
        Path, typer.Argument(help="Results folder, results.parquet, or points/<id>.json; with --critical-path a trace file.")
    ],
    *,
    variant: Annotated[str | None, typer.Option(help="Explain this variant only.")] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="Put together what has the same data structure, phase, or place in the code: the instruction's address, or its line."
        ),
    ] = None,
    program: Annotated[Path | None, typer.Option(help="With --by line, the program that was recorded, compiled with -g.")] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1, max=console.MOST, metavar="N", help=f"With --by pc or line, show so many places, {_PLACES} if absent; --json has all."
        ),
    ] = None,
    critical_path: Annotated[
        bool, typer.Option("--critical-path", help="Show what waited for what in a part of a recorded trace.")
    ] = False,
    machine: Annotated[str | None, typer.Option(help="With --critical-path, a machine's name or path.")] = None,
    dbms: Annotated[
        str | None, typer.Option(help="With --critical-path, the host DBMS that the trace calls: a profile's name, or a path to a profile.")
    ] = None,
    from_: Annotated[int | None, typer.Option("--from", min=0, max=console.MOST, metavar="N", help="Events before the part.")] = None,
    events: Annotated[
        int | None, typer.Option(min=1, max=path_of.MOST_EVENTS, help=f"Events of the part; {path_of.DEFAULT_EVENTS} if absent.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Draw the path here: a name that ends in .png or .svg.")] = None,
    json: console.Json = False,
) -> None:
    """Say where the time goes: phase x data structure x cause, in cycles per operation.

    Causes are what the oldest instruction waited for. `served` counts the loads and stores per operation by the level
    that served them, other cores behind memory; `walks` the page-table walks per operation. Where the experiment observes
    bytes, a second table has those that each place in the kernel fetched into the last cache, and how many of them anybody
    used. With storage, a table of seconds has the processor's causes and the wait for storage: queue, overhead, seek,
    rotation, transfer, bus.

    With --critical-path, the chain of what was waited for in a part of a trace: instructions, lines and who asked for them,
    mispredictions, a full reorder buffer.
    """
    from memwalk.analysis.explain.breakdown import explain as explained
    from memwalk.simcore.errors import UserError

    of_path = {"--machine": machine, "--dbms": dbms, "--from": from_, "--events": events, "--out": out}
    if critical_path:
        if any(option is not None for option in (variant, by, program, top)):
            raise UserError("--variant, --by, --program, --top: for results; a critical path is that of a trace")
        if machine is None:
            raise UserError("--critical-path: name the machine, such as --machine thesis-simulator")
        count = path_of.DEFAULT_EVENTS if events is None else events
        path_of.explain_path(result, machine, from_ or 0, count, dbms=dbms, out=out, json=json)
        return
    if unused := [option for option, value in of_path.items() if value is not None]:
        raise UserError(f"{', '.join(unused)}: only with --critical-path")
    if top is not None and by not in OF_CODE:
        raise UserError("--top: only with --by pc or line, which has a row for each place in the code; leave it out")
    if program is not None and by is not By.LINE:
        raise UserError("--program: only with --by line, which reads the lines from it; leave it out")
    explanations = explained(result, variant, by, program)
    if json:
        console.print_json({"points": [_plain(one) for one in explanations]})
        return
    for one in explanations:
        _print_point(one, by, _PLACES if top is None else top)


def _plain(one: "Explanation | StorageExplanation") -> dict[str, object]:
    """Turn everything about one point, and what is said of it, into plain values."""
    from memwalk.analysis.explain.breakdown import Explanation

    plain = asdict(one) | {"headline": one.headline()}
    if isinstance(one, Explanation) and one.prefetching is not None:
        plain["prefetching"] |= {"sentence": one.prefetching.sentence()}
    return plain


def _print_point(one: "Explanation | StorageExplanation", by: By | None, top: int) -> None:
    """Print everything about one point: slots, byte usage and seconds, as far as it has them."""
    from memwalk.analysis.explain.breakdown import Explanation

    named = ", ".join(f"{name}={value}" for name, value in one.varying.items())
    title = " ".join(text for text in (one.experiment, one.variant, f"[{one.point}]", named) if text)
    if isinstance(one, Explanation):
        _print_slots(title, one, by, top)
        typer.echo(f"{one.headline()}\n{one.lines()}")
        if one.prefetching is not None:
            typer.echo(one.prefetching.sentence())
        if sentence := one.false_sharing():
            typer.echo(sentence)
        _print_slowdown(one.slowdown)
        typer.echo()
        if one.usage:
            _print_usage(one.usage)
        title = "Seconds, with the I/O"
    if one.time is not None:
        _print_time(title, one.time)
        if not isinstance(one, Explanation):
            _print_slowdown(one.slowdown)
        typer.echo()


def _print_slowdown(slowdown: float | None) -> None:
    """Say how much slower somebody is beside others than alone; nothing if there are no others."""
    if slowdown is not None:
        longer = f"{slowdown:.3g}"
        typer.echo(f"Beside the others it takes {'' if longer == '1' else f'{longer} times '}as long as alone.")


def _print_slots(title: str, one: "Explanation", by: By | None, top: int) -> None:
    """Print the slots of one point, without the columns that would show 0 only; of places in the code the ``top`` dearest."""
    causes = [cause for cause, cycles in one.causes.items() if cycles >= one.shown]
    served = {level: sum(part.served.get(level, 0.0) for part in one.parts) for part in one.parts for level in part.served}
    levels = [level for level, count in served.items() if count >= one.shown]
    falsely = sum(part.false_sharing for part in one.parts)
    shared = ["false\nsharing"] if falsely >= one.shown else []
    names = [_NAMES[by]] if by else ["phase", "data structure"]
    columns = [
        *names,
        "cycles" if one.operations is None else "cycles/op",
        "share",
        *(cause.replace("_", "\n") for cause in causes),
        *(f"served\n{level}".replace("_", "\n") for level in levels),
        "walks",
        *shared,
    ]
    rows = [
        [
            *([part.phase or part.segment] if by else [part.phase, part.segment]),
            one.written(part.cycles),
            f"{part.share:.1%}",
            *(one.written(part.causes.get(cause, 0.0)) for cause in causes),
            *(one.written(part.served.get(level, 0.0)) for level in levels),
            one.written(part.walks),
            *(one.written(part.false_sharing) for _ in shared),
        ]
        for part in (one.parts[:top] if by in OF_CODE else one.parts)
    ]
    if len(rows) < len(one.parts):
        rows.append([f"({len(one.parts) - len(rows):,} more)"])
    walks = sum(part.walks for part in one.parts)
    total = [one.written(one.cycles), "100.0%", *(one.written(one.causes[cause]) for cause in causes)]
    total += [*(one.written(served[level]) for level in levels), one.written(walks), *(one.written(falsely) for _ in shared)]
    rows.append(["all", *[""] * (len(names) - 1), *total])
    console.print_table(title, columns, rows, numeric_from=len(names))


def _print_usage(usage: "tuple[SiteUsage, ...]") -> None:
    """Print what each site fetched into the observed cache, which is not that of the machine, and what was used of it."""
    columns = ["phase", "fetched by", "lines/op", "bytes fetched/op", "bytes used/op", "used"]
    rows = [[one.phase, one.site, *_decimals(one.lines, one.fetched_bytes, one.used_bytes), f"{one.used_share:.1%}"] for one in usage]
    title = "Bytes fetched into an LRU cache like the last that sees every access and no hardware prefetcher, and bytes of them used"
    console.print_table(title, columns, rows, numeric_from=2)
    typer.echo()


def _print_time(title: str, time: "TimeBreakdown") -> None:
    """Print the seconds of a run by cause, the wait for storage by part of the requests."""
    from memwalk.analysis.explain.time_breakdown import IO_STALL

    lines = [(name, value) for name, value in time.causes.items() if value > 0]
    if lines and lines[-1][0] == IO_STALL:
        lines += [(f"  {part}", value) for part, value in time.io.items() if value > 0]
    lines.append(("all", time.seconds))
    rows = [[name, f"{value:,.6f}", f"{value / time.seconds if time.seconds else 0:.1%}"] for name, value in lines]
    console.print_table(title, ["cause", "seconds", "share"], rows)
    typer.echo(time.headline())


def _decimals(*values: float) -> list[str]:
    return [f"{value:,.2f}" for value in values]
