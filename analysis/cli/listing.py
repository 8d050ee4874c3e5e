"""`memwalk list`: what comes with memwalk."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import nearest

app = typer.Typer(add_completion=False)


class Subject(StrEnum):
    """What can be listed."""

    machines = "machines"
    dbms = "dbms"
    devices = "devices"
    workloads = "workloads"
    parameters = "parameters"
    figures = "figures"
    claims = "claims"


@app.command(epilog="Example: memwalk list parameters index --json")
def list_(
    subject: Annotated[Subject, typer.Argument(help="What to list.")],
    of: Annotated[str | None, typer.Argument(help="With parameters: the kernel that has them; absent: the kernels.")] = None,
    json: console.Json = False,
) -> None:
    """List machines, DBMS profiles, storage devices, workloads, parameters of a kernel, paper figures or claims."""
    if of is not None and subject is not Subject.parameters:
        raise UserError(f"`{of}`: only parameters are of something; `memwalk list {subject.value}` lists them all")
    if of is not None:
        _list_parameters(of, json=json)
        return
    entries = {
        Subject.machines: _machines,
        Subject.dbms: _dbms,
        Subject.devices: _devices,
        Subject.workloads: _workloads,
        Subject.parameters: _kernels,
        Subject.figures: _figures,
        Subject.claims: _claims,
    }[subject]()
    if json:
        console.print_json(entries)
        return
    what = "kernels with parameters; `memwalk list parameters KERNEL` lists them" if subject is Subject.parameters else subject.value
    _print(f"{len(entries)} {what}", entries)


def _print(title: str, entries: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    rows = [[entry.get(column) for column in columns] for entry in entries]
    console.print_table(title, columns, rows, numeric_from=len(columns))


def _list_parameters(kernel: str, *, json: bool) -> None:
    from memwalk.analysis.experiments.parameters import dotted_parameters, kernels
    from memwalk.analysis.experiments.storage_parameters import list_parameters
    from memwalk.analysis.storage_workloads import list_kernels

    on_storage = dict(list_kernels())
    if kernel in on_storage:
        listed = list_parameters(kernel)
        if json:
            console.print_json(listed)
            return
        shown = [one | {"default": "required" if one["required"] else one["default"]} for one in listed]
        _print(f"{len(listed)} parameters of {kernel}", [{key: one[key] for key in one if key != "required"} for one in shown])
        return
    if kernel not in kernels():
        raise UserError(f"`{kernel}` is no kernel; {nearest(kernel, [*kernels(), *on_storage])}")
    parameters = list(dotted_parameters(kernels()[kernel].parameters))
    if json:
        console.print_json([{"name": path} | one.facts() for path, one in parameters])
        return
    _print(f"{len(parameters)} parameters of {kernel}", [{"name": path} | one.summary() for path, one in parameters])


def _machines() -> list[dict[str, Any]]:
    from memwalk.simcore.machine import load_machine, machine_names

    machines = [load_machine(name) for name in machine_names()]
    return [{"name": one.name, "description": one.description, **one.derived()} for one in machines]


def _dbms() -> list[dict[str, Any]]:
    from memwalk.simcore.dbms import describe_dbms

    return describe_dbms()


def _devices() -> list[dict[str, Any]]:
    from memwalk.simcore.storage import BLOCK_BYTES, device_names, load_device

    def entry(name: str) -> dict[str, Any]:
        device = load_device(name)
        gigabytes = round(device.device().blocks * BLOCK_BYTES / 1e9, 1)
        return {"name": name, "kind": device.kind, "capacity (GB)": gigabytes, "description": device.description}

    return [entry(name) for name in device_names()]


def _workloads() -> list[dict[str, Any]]:
    from memwalk.analysis.storage_workloads import list_kernels
    from memwalk.simcore.engines import native

    on_machines = [(kernel["name"], "machine", kernel["description"]) for kernel in native.list_workloads()]
    on_storage = [(name, "storage", does) for name, does in list_kernels()]
    return [{"kernel": name, "runs on": what, "does": does} for name, what, does in [*on_machines, *on_storage]]


def _kernels() -> list[dict[str, Any]]:
    return [{"kernel": one["kernel"], "does": one["does"]} for one in _workloads()]


def _figures() -> list[dict[str, Any]]:
    from memwalk.analysis.figures.load import load_papers

    return [
        {"id": figure.id, "title": figure.file.title, "where": figure.file.where, "claims": len(figure.file.claims)}
        for paper in load_papers()
        for figure in paper.figures
    ]


def _claims() -> list[dict[str, Any]]:
    from memwalk.analysis.figures.load import load_papers

    return [
        {"id": claim.id, "class": claim.class_, "figure": figure.id}
        for paper in load_papers()
        for figure in paper.figures
        for claim in figure.file.claims
    ]
