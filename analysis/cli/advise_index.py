"""`memwalk advise index`: which index in disk pages, and which page size, suit a machine, its memory and its storage."""

from typing import Annotated

import typer

from memwalk.analysis.cli import advise_index_tables, console

EXAMPLE = (
    "Example: memwalk advise index --machine zen4-server --storage nvme-ssd --keys 20000000 --memory 64MiB --key-bytes 4"
    " --searches 9 --inserts 1\n\nIf some keys are popular: memwalk advise index --machine zen4-server --storage nvme-ssd --keys 20000000"
    " --memory 64MiB --skew 0.99"
)
# Limits are the kernel's (tests/test_option_ranges.py). It is not asked for them here, as help would wait for it.
_MOST_KEYS = 200_000_000
_WEIGHT = 1e6


def index(
    *,
    machine: Annotated[str, typer.Option(help="A machine's name or path.")],
    storage: Annotated[str, typer.Option(help="A storage device's name or path.")],
    keys: Annotated[int, typer.Option(min=1000, max=_MOST_KEYS, help="Entries of the index.")],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for pages of the index, such as 64MiB.")],
    key_bytes: Annotated[int, typer.Option(min=4, max=20, help="Size of a key: 4, 8 or 20.")] = 4,
    page_sizes: Annotated[str, typer.Option(metavar="SIZES", help="Page sizes to choose from.")] = "4KiB,8KiB,16KiB,32KiB",
    searches: Annotated[float | None, typer.Option(min=0, max=_WEIGHT, help="Weight of searches; 1 if no other operation has one.")] = None,
    scans: Annotated[float, typer.Option(min=0, max=_WEIGHT, help="Weight of scans.")] = 0.0,
    inserts: Annotated[float, typer.Option(min=0, max=_WEIGHT, help="Weight of insertions.")] = 0.0,
    range_: Annotated[int | None, typer.Option("--range", min=1, max=_MOST_KEYS, help="Entries that a scan reads; 1000 if absent.")] = None,
    cores: Annotated[int, typer.Option(min=1, max=256, help="Cores that do operations at the same time, with one pool.")] = 1,
    optimistic: Annotated[
        bool, typer.Option("--optimistic", help="Who reads a page takes no latch and counts no pin (latching: optimistic).")
    ] = False,
    skew: Annotated[
        float, typer.Option(min=0, max=2, help="Zipf's exponent of how often keys are searched for, or scans begin at them.")
    ] = 0.0,
    sample: Annotated[int, typer.Option(min=1000, max=_MOST_KEYS, help="Most keys simulated; the rest is what models say.")] = 20_000_000,
    set_: console.MachineSets = [],  # noqa: B006 (Typer copies it)
    json: console.Json = False,
) -> None:
    """Rank indexes in disk pages and page sizes, by simulated and by predicted time of an operation on a core, and say why.

    Widths of nodes are those that cost models choose for the machine. docs/advise.md says what is predicted.
    """
    from memwalk.analysis.advice.indexes.rank import advise
    from memwalk.analysis.advice.indexes.reasons import reasons
    from memwalk.analysis.advice.indexes.task import IndexTask
    from memwalk.analysis.cli.machine_settings import machine_of_cores, with_cores
    from memwalk.analysis.cli.sizes import bytes_of, each_once
    from memwalk.analysis.experiments.parameters import kernels
    from memwalk.simcore.errors import UserError
    from memwalk.simcore.storage import load_device

    key_sizes = kernels()["disk-index"].parameter("key_bytes").facts()
    if key_bytes not in key_sizes["names"]:
        raise UserError(f"--key-bytes {key_bytes}: keys have {key_sizes['values']} bytes")
    if range_ is not None and not scans:
        raise UserError(f"--range {range_}: there are no scans; give them a weight with --scans")
    sizes = each_once("--page-sizes", page_sizes, _page_size)
    loaded = machine_of_cores(machine, set_, cores)
    if searches is None:
        searches = 0.0 if scans or inserts else 1.0
    console.warn_of_build()
    task = IndexTask(
        machine=with_cores(loaded, cores),
        device=load_device(storage),
        keys=keys,
        memory_bytes=bytes_of("--memory", memory),
        key_bytes=key_bytes,
        page_sizes=sizes,
        mix={"search": searches, "scan": scans, "insert": inserts},
        scan_range=1000 if range_ is None else range_,
        sample=sample,
        optimistic=optimistic,
        skew=skew,
    )
    ranked = advise(task, lambda what: console.note(f"simulating {what}"))
    said = reasons(ranked, task)
    if json:
        console.print_json(advise_index_tables.tree(task, ranked, said))
    else:
        advise_index_tables.print_ranked(task, ranked, said)


def _page_size(text: str) -> int:
    from memwalk.analysis.cli.sizes import bytes_of
    from memwalk.analysis.experiments.parameters import kernels
    from memwalk.simcore.errors import UserError
    from memwalk.simcore.units import in_units

    size = bytes_of("--page-sizes", text.strip())
    declared = kernels()["disk-index"].parameter("page_bytes").facts()
    least, most = declared["minimum"], declared["maximum"]
    if size.bit_count() != 1 or not least <= size <= most:
        raise UserError(f"--page-sizes: {text.strip()} is no page size; it is a power of two from {in_units(least)} to {in_units(most)}")
    return size
