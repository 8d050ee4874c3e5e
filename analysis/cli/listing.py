"""`memwalk list`: what comes with memwalk."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console

app = typer.Typer(add_completion=False)


class Subject(StrEnum):
    """What can be listed."""

    machines = "machines"
    dbms = "dbms"
    devices = "devices"
    workloads = "workloads"
    figures = "figures"
    claims = "claims"


@app.command(epilog="Example: memwalk list machines --json")
def list_(
    subject: Annotated[Subject, typer.Argument(help="What to list.")],
    json: console.Json = False,
) -> None:
    """List machines, DBMS profiles, storage devices, workloads, paper figures or claims."""
    entries = {
        Subject.machines: _machines,
        Subject.dbms: _dbms,
        Subject.devices: _devices,
        Subject.workloads: _workloads,
        Subject.figures: _figures,
        Subject.claims: _claims,
    }[subject]()
    if json:
        console.print_json(entries)
        return
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    rows = [[entry.get(column) for column in columns] for entry in entries]
    console.print_table(f"{len(entries)} {subject.value}", columns, rows, numeric_from=len(columns))


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
