"""`memwalk schema`: JSON Schemas of the YAML files, for editors."""

from enum import StrEnum
from typing import Annotated

import typer

from memwalk.analysis.cli import console

app = typer.Typer(add_completion=False)


class Kind(StrEnum):
    """Files that have a schema."""

    machine = "machine"
    dbms = "dbms"
    device = "device"
    experiment = "experiment"
    figure = "figure"


@app.command(epilog="Example: memwalk schema machine > machine.schema.json")
def schema(kind: Annotated[Kind, typer.Argument(help="Which file.")]) -> None:
    """Print the JSON Schema of a machine, DBMS profile, storage device, experiment or figure file."""
    match kind:
        case Kind.machine:
            from memwalk.simcore.machine_schema import json_schema as machine_schema

            console.print_json(machine_schema())
        case Kind.dbms:
            from memwalk.simcore.machine_schema import DbmsFile

            console.print_json(DbmsFile.model_json_schema())
        case Kind.device:
            from memwalk.simcore.storage.device_file import json_schema as device_schema

            console.print_json(device_schema())
        case Kind.experiment:
            from memwalk.analysis.experiments.schema import json_schema

            console.print_json(json_schema())
        case Kind.figure:
            from memwalk.analysis.figures.schema import FigureFile

            console.print_json(FigureFile.model_json_schema())
