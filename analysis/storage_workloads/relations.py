"""Tables and the queries that scan them, as storage workloads choose them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.limits import Attributes, Records, ScaleFactor, ValueBytes
from memwalk.simcore.validation import StrictModel, nearest
from memwalk.workloads.mbsm import Query
from memwalk.workloads.tables import Column, Table, tpch


class Uniform(StrictModel):
    """One relation of attributes of one size; query ``n`` reads the first n of them (MBSM, section 6.1)."""

    kind: Literal["uniform"]
    attributes: Attributes = Field(8, description="Attributes of the relation")
    attribute_bytes: ValueBytes = Field(8, description="Size of each")
    records: Records = 10_000_000

    def tables(self) -> dict[str, Table]:
        """Give the relation, by name."""
        columns = tuple(Column.fixed(f"a{number}", "integer", self.attribute_bytes) for number in range(1, self.attributes + 1))
        return {"r": Table("r", columns, self.records)}

    def queries(self) -> dict[str, Query]:
        """Give the queries by name."""
        names = self.tables()["r"].names
        return {str(number): Query(frozenset(names[:number])) for number in range(1, self.attributes + 1)}


class TpchTables(StrictModel):
    """The tables of TPC-H and its 22 queries, each of which scans the columns that it names (MBSM, section 6.2)."""

    kind: Literal["tpch"]
    scale_factor: ScaleFactor = Field(1.0, description="Scale of TPC-H")
    date_bytes: ValueBytes = Field(10, description="What a date takes: 10 as text (MBSM, Table 4)")

    def tables(self) -> dict[str, Table]:
        """Give the eight tables by name, the smallest first."""
        return tpch.tables(self.scale_factor, self.date_bytes)

    def queries(self) -> dict[str, Query]:
        """Give the queries by name."""
        return {name: Query(frozenset(columns)) for name, columns in tpch.QUERIES.items()}


class Given(StrictModel):
    """One relation ``r`` with columns and queries of one's own."""

    kind: Literal["given"]
    columns: dict[str, ValueBytes] = Field(min_length=1, max_length=512, description="Size of each column")
    reads: dict[str, list[str]] = Field(min_length=1, description="Columns that each query reads")
    records: Records = 1_000_000

    @model_validator(mode="after")
    def _known(self) -> "Given":
        for query, columns in self.reads.items():
            for column in columns:
                if column not in self.columns:
                    raise ValueError(f"query {query} reads `{column}`, which is no column; {nearest(column, self.columns)}")
        return self

    def tables(self) -> dict[str, Table]:
        """Give the relation, by name."""
        return {"r": Table("r", tuple(Column.fixed(name, "char", size) for name, size in self.columns.items()), self.records)}

    def queries(self) -> dict[str, Query]:
        """Give the queries by name."""
        return {name: Query(frozenset(columns)) for name, columns in self.reads.items()}


Relations = Annotated[Uniform | TpchTables | Given, Field(discriminator="kind")]
"""Tables with their queries; ``kind`` says which."""
