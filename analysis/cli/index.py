"""`memwalk index`: builds page files of indexes in disk pages, and looks at them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.experiments.resolve import resolve_workload
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file
from memwalk.simcore.machine import Setting
from memwalk.simcore.units import in_units
from memwalk.simcore.yaml_source import Place, Sourced

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Build page files of indexes in disk pages, and look at them.",
    epilog="Example: memwalk index build keys.pages --structure slotted --keys 1000000 --page-size 16KiB",
)

_DECLARED = {one.name: one.facts() for one in kernels()["disk-index"].parameters}
"""What the kernel says of its parameters, by name."""
_PAGE_SIZES = f"from {in_units(_DECLARED['page_bytes']['minimum'])} to {in_units(_DECLARED['page_bytes']['maximum'])}"

File = Annotated[Path, typer.Argument(help="Page file.")]


def _option(parameter: str, meaning: str) -> Any:
    """Make an option of a parameter, which takes the numbers that the kernel takes."""
    declared = _DECLARED[parameter]
    return typer.Option(min=declared["minimum"], max=declared["maximum"], help=meaning)


@app.command(
    epilog="Example: memwalk index build keys.pages --structure disk-first --keys 1000000 --page-size 16KiB"
    " --nonleaf-lines 2 --leaf-lines 12"
)
def build(
    *,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Page file to write.")],
    structure: Annotated[str, typer.Option(help=f"{_DECLARED['structure']['values']}.")],
    keys: Annotated[int, _option("keys", "Entries of the index.")],
    page_size: Annotated[str, typer.Option(metavar="SIZE", help=f"Size of a page, a power of two {_PAGE_SIZES}.")] = "16KiB",
    key_size: Annotated[int, _option("key_bytes", f"Bytes of a key: {_DECLARED['key_bytes']['values']}.")] = 4,
    line_size: Annotated[int, _option("line_bytes", "Bytes of a cache line.")] = 64,
    nonleaf_lines: Annotated[int | None, _option("nonleaf_lines", "disk-first: lines of a non-leaf node.")] = None,
    leaf_lines: Annotated[int | None, _option("leaf_lines", "disk-first: lines of a leaf node.")] = None,
    node_lines: Annotated[int | None, _option("node_lines", "cache-first: lines of a node.")] = None,
    subarray_lines: Annotated[int | None, _option("subarray_lines", "micro-index: lines of keys for each key of the micro-index.")] = None,
    fill: Annotated[float, _option("fill", "Share of the entries that the bulkload fills.")] = 1.0,
    bulkloaded_share: Annotated[
        float | None,
        _option("bulkloaded_share", "Share of keys that is bulkloaded, all if absent; others are inserted in random order."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=console.MOST, help="Seed of that order; 1 if absent.")] = None,
    json: console.Json = False,
) -> None:
    """Build an index and write it into a page file, from which runs can start: `page_file` of kernel disk-index.

    Keys are those of the kernel's workloads. docs/page-files.md says what is in the file.
    """
    if seed is not None and bulkloaded_share in (None, 1.0):
        raise UserError(f"--seed {seed}: has no effect, for all keys are bulkloaded; remove it, or give a --bulkloaded-share below 1")
    expect_new_file(output, makes_folder=False)
    given = {
        "keys": ("--keys", keys),
        "page_bytes": ("--page-size", page_size),
        "key_bytes": ("--key-size", key_size),
        "line_bytes": ("--line-size", line_size),
        "nonleaf_lines": ("--nonleaf-lines", nonleaf_lines),
        "leaf_lines": ("--leaf-lines", leaf_lines),
        "node_lines": ("--node-lines", node_lines),
        "subarray_lines": ("--subarray-lines", subarray_lines),
        "fill": ("--fill", fill),
        "maturity": ("--bulkloaded-share", None if bulkloaded_share is None else "mature"),
        "bulkloaded_share": ("--bulkloaded-share", bulkloaded_share),
        "seed": ("--seed", seed),
    }
    for one in kernels()["disk-index"].parameters:
        option, value = given.get(one.name, ("", None))
        if option and value is None and one.is_required and structure in one.applies.get("structure", ()):
            raise UserError(f"{option} is missing; --structure {structure} needs it")
    start = Place(f"--structure {structure}", names_value=True)
    # What is done to an index is no part of its file.
    plain = {"kernel": "disk-index", "operation": "search", "operations": 1, "caches": "empty", "structure": structure}
    settings = [Setting(("workload",), Sourced.uniform(plain, start))]
    said = [(name, option, value) for name, (option, value) in given.items() if value is not None]
    settings += [Setting(("workload", name), Sourced.uniform(value, Place(option, names_value=True))) for name, option, value in said]
    workload = resolve_workload(settings, start).values
    console.warn_of_build()
    # Every key is looked at once more before it is written.
    steps = native.estimate_work(workload)["building"] + keys
    with event_progress("building", steps, "steps") as show:
        facts = native.build_index(workload, output, show)
    console.print_fields(f"built {output}", facts, json=json)


@app.command(epilog="Example: memwalk index info keys.pages --json")
def info(file: File, json: console.Json = False) -> None:
    """Show what a page file says of its index."""
    console.print_fields(str(file), native.index_info(file), json=json)


@app.command(epilog="Example: memwalk index check keys.pages")
def check(file: File, json: console.Json = False) -> None:
    """Read all of a page file: checksums, and of every page what an index relies on. The first page that is wrong is named."""
    keys = native.index_info(file)["parameters"]["keys"]
    with event_progress("checking", keys, "keys") as show:
        facts = native.check_index(file, show)
    console.print_fields(f"{file}: whole and sound", facts, json=json)
