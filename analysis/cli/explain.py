"""`memwalk explain`: where the time of a result goes."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwalk.analysis.cli import console

if TYPE_CHECKING:
    from memwalk.analysis.breakdown import Explanation
    from memwalk.analysis.time_breakdown import StorageExplanation, TimeBreakdown
    from memwalk.analysis.usage import SiteUsage

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: memwalk explain out/search-tree-size --variant B+")
def explain(
    result: Annotated[Path, typer.Argument(help="Results folder, results.parquet, or points/<id>.json.")],
    variant: Annotated[str | None, typer.Option(help="Explain this variant only.")] = None,
    json: console.Json = False,
) -> None:
    """Say where the time goes: phase x data structure x cause, in cycles per operation.

    Causes are what the oldest instruction waited for. `served` counts the loads and stores per operation by the level
    that served them; `walks` the page-table walks per operation. With `observe: [bytes]` in the experiment, a second table has
    the bytes that each place in the kernel fetched into the last cache, and how many of them anybody used. With storage, a
    table of seconds has the processor's causes and the wait for storage: queue, overhead, seek, rotation, transfer, bus.
    """
    from memwalk.analysis.breakdown import explain as explained

    explanations = explained(result, variant)
    if json:
        console.print_json({"points": [asdict(one) | {"headline": one.headline()} for one in explanations]})
        return
    for one in explanations:
        _print_point(one)


def _print_point(one: "Explanation | StorageExplanation") -> None:
    """Print everything about one point: slots, byte usage and seconds, as far as it has them."""
    from memwalk.analysis.breakdown import Explanation

    named = ", ".join(f"{name}={value}" for name, value in one.parameters.items())
    title = " ".join(text for text in (one.experiment, one.variant, f"[{one.point}]", named) if text)
    if isinstance(one, Explanation):
        _print_slots(title, one)
        typer.echo(one.headline() + "\n")
        if one.usage:
            _print_usage(one.usage)
        title = "Seconds, with the I/O"
    if one.time is not None:
        _print_time(title, one.time)


def _print_slots(title: str, one: "Explanation") -> None:
    """Print the slots of one point, without the columns that would show 0.00 only."""
    from memwalk.analysis.breakdown import SHOWN

    causes = [cause for cause, cycles in one.causes.items() if cycles >= SHOWN]
    served = {level: sum(part.served.get(level, 0.0) for part in one.parts) for part in one.parts for level in part.served}
    levels = [level for level, count in served.items() if count >= SHOWN]
    columns = [
        "phase",
        "data structure",
        "cycles/op",
        "share",
        *(cause.replace("_", "\n") for cause in causes),
        *(f"served\n{level}" for level in levels),
        "walks",
    ]
    rows = [
        [
            part.phase,
            part.segment,
            *_decimals(part.cycles),
            f"{part.share:.1%}",
            *_decimals(*(part.causes.get(cause, 0.0) for cause in causes)),
            *_decimals(*(part.served.get(level, 0.0) for level in levels), part.walks),
        ]
        for part in one.parts
    ]
    walks = sum(part.walks for part in one.parts)
    total = [*_decimals(one.cycles), "100.0%", *_decimals(*(one.causes[cause] for cause in causes))]
    rows.append(["all", "", *total, *_decimals(*(served[level] for level in levels), walks)])
    console.print_table(title, columns, rows, numeric_from=2)


def _print_usage(usage: "tuple[SiteUsage, ...]") -> None:
    """Print what each site fetched into the last cache, and what was used of it."""
    columns = ["phase", "fetched by", "lines/op", "bytes fetched/op", "bytes used/op", "used"]
    rows = [[one.phase, one.site, *_decimals(one.lines, one.fetched_bytes, one.used_bytes), f"{one.used_share:.1%}"] for one in usage]
    console.print_table("Bytes fetched into the last cache, and bytes of them used", columns, rows, numeric_from=2)
    typer.echo()


def _print_time(title: str, time: "TimeBreakdown") -> None:
    """Print the seconds of a run by cause, the wait for storage by part of the requests."""
    from memwalk.analysis.time_breakdown import IO_STALL

    lines = [(name, value) for name, value in time.causes.items() if value > 0]
    if lines and lines[-1][0] == IO_STALL:
        lines += [(f"  {part}", value) for part, value in time.io.items() if value > 0]
    lines.append(("all", time.seconds))
    rows = [[name, f"{value:,.6f}", f"{value / time.seconds if time.seconds else 0:.1%}"] for name, value in lines]
    console.print_table(title, ["cause", "seconds", "share"], rows)
    typer.echo(time.headline() + "\n")


def _decimals(*values: float) -> list[str]:
    return [f"{value:,.2f}" for value in values]
