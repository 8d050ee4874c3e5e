"""Kernel `compound`: TPC-C beside a query of TPC-H on the same disks (Clotho, section 7.5)."""

from typing import ClassVar, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns
from memwalk.analysis.storage_workloads.limits import RunsAhead, SampleScaleFactor, ScaleFactor
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.oltp.tpcc import Tpcc
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.scattering import Scattering
from memwalk.analysis.storage_workloads.side_by_side import Side, columns_of, first_blocks, side_by_side
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.analysis.storage_workloads.tpch.query import query_work
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.system import System
from memwalk.workloads.clotho.layouts import DEFAULT_SCATTERING

COMPOUND = "compound"
"""The kernel."""
USERS, QUERY = "tpcc", "query"
"""What runs side by side."""


class Compound(TpccSettings):
    """Each alone, and then both together: TPC-C for the time measured, and the query again and again meanwhile.

    Two database systems run, each with a buffer pool and a processor of its own: they meet at the disks.
    """

    processes: ClassVar[bool] = True
    traffic: ClassVar[TrafficOf] = always()

    kernel: Literal["compound"]
    scattering: Scattering = DEFAULT_SCATTERING
    query: Literal["q1", "q6", "q12", "q14"] = Field("q1", description="Query of TPC-H")
    scale_factor: ScaleFactor = Field(1.0, description="Size of TPC-H; 1 is 1 GB")
    sample_scale_factor: SampleScaleFactor = Field(0.02, description="Database on which the query's processor time is simulated")
    runs_ahead: RunsAhead = Field(2, description="Runs of each file, a track of each disk, that the query reads ahead")

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says: TPC-C is measured twice, and the query runs at least twice."""
        return super().work() + self.measured // self.page_access + 2 * query_work(self.scale_factor, self.sample_scale_factor)

    def check(self, system: System) -> None:
        """Raise UserError for databases that the volume has no room for, as `Checked` says."""
        try:
            first_blocks(system, self._sides())
        except MisfitError as error:
            raise MisfitError(error.parameter, str(error)) from None

    def run(self, system: System) -> dict[str, float | int]:
        """Return times of the query and throughputs of TPC-C, alone and together, how many times worse they are, and columns of each.

        Raises UserError if the databases do not fit onto the volume, or the layout not to it, if what the query reads ahead does not
        fit into its pool, or if no new order ends in the time measured.
        """
        outcomes = side_by_side(system, sides := self._sides())
        users, query = outcomes[USERS], outcomes[QUERY]
        served = users.served + query.served
        return {
            "seconds": query.columns["seconds"],
            "query_seconds_alone": query.columns_alone["seconds"],
            "query_seconds_together": query.columns["seconds"],
            "query_runs_together": len(query.together),
            "query_slowdown": query.slowdown,
            "tpmc_alone": users.columns_alone["tpmc"],
            "tpmc_together": users.columns["tpmc"],
            "tpcc_slowdown": users.slowdown,
            "mean_slowdown": (query.slowdown + users.slowdown) / 2,
            "disk_utilization": users.together[0].measured.utilization_by_all,
            **io_columns(served),
            **columns_of(outcomes, sides),
        }

    def _sides(self) -> dict[str, Side]:
        """Say what runs side by side: the query from when TPC-C has been measured alone for as long as it is measured beside it."""
        users = Tpcc.model_construct(kernel="tpcc", **{name: getattr(self, name) for name in TpccSettings.model_fields})
        shared = {name: getattr(self, name) for name in ClothoTpch.model_fields if name != "kernel"}
        query = ClothoTpch.model_construct(kernel="clotho-tpch", **shared)
        return {USERS: Side(users), QUERY: Side(query, self.warm_up + self.measured, repeats=True)}
