"""Kernel `compound`: TPC-C beside a query of TPC-H on the same disks (Clotho, section 7.5)."""

from typing import Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import RunsAhead, SampleScaleFactor, ScaleFactor
from memwalk.analysis.storage_workloads.oltp.placed import placed_users, tpcc_columns
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.tpch.query import placed_query, query_work
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.run import Period, run
from memwalk.simcore.storage.system import System
from memwalk.workloads.programs import query, tpcc


class Compound(TpccSettings):
    """Each alone, and then both together: TPC-C for the time measured, and the query again and again meanwhile.

    Two database systems run, each with a buffer pool and a processor of its own: they meet at the disks.
    """

    kernel: Literal["compound"]
    query: Literal["q1", "q6", "q12", "q14"] = "q1"
    scale_factor: ScaleFactor = Field(1.0, description="Size of TPC-H; 1 is 1 GB")
    sample_scale_factor: SampleScaleFactor = Field(0.02, description="Database on which the query's processor time is simulated")
    runs_ahead: RunsAhead = Field(2, description="Runs of each file, a track of each disk, that the query reads ahead")

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says: TPC-C is measured twice, and the query runs at least twice."""
        return super().work() + self.measured // self.page_access + 2 * query_work(self.scale_factor, self.sample_scale_factor)

    def run(self, system: System) -> dict[str, float | int]:
        """Return times of the query and throughputs of TPC-C, alone and together, and how many times worse they are together.

        Raises UserError if the databases do not fit onto the volume, or the layout not to it, if what the query reads ahead does not
        fit into its pool, or if no new order ends in the time measured.
        """
        volume = system.layout()
        users = placed_users(self, volume)
        asked = placed_query(
            self.query,
            self.layout,
            volume,
            system.machine,
            scale_factor=self.scale_factor,
            sample_scale_factor=self.sample_scale_factor,
            reconstruction=self.reconstruction,
            first_block=users.database.blocks,
        )
        asked.check_pool(self.pool, self.runs_ahead)
        (alone,) = run(system, [query.query(asked.scans, users.frames, self.runs_ahead)]).values()
        query_alone = seconds(alone.elapsed_ps)
        periods = run(system, [users.beside(asked.scans, self.runs_ahead, warm_up_ps=self.warm_up, measured_ps=self.measured)])
        tpmc_alone = _new_orders(users, periods[tpcc.MEASURED], "alone")
        together = periods[tpcc.TOGETHER]
        tpmc_together = _new_orders(users, together, f"beside {self.query}")
        times_asked = together.completed[tpcc.QUERY]
        query_together = seconds(together.elapsed_ps) / times_asked
        query_slowdown = query_together / query_alone
        tpcc_slowdown = tpmc_alone / tpmc_together
        return {
            "seconds": query_together,
            "query_seconds_alone": query_alone,
            "query_seconds_together": query_together,
            "query_runs_together": times_asked,
            "query_slowdown": query_slowdown,
            "tpmc_alone": tpmc_alone,
            "tpmc_together": tpmc_together,
            "tpcc_slowdown": tpcc_slowdown,
            "mean_slowdown": (query_slowdown + tpcc_slowdown) / 2,
            "disk_utilization": together.utilization,
        } | io_columns(together.served)


def _new_orders(users: tpcc.Users, period: Period, when: str) -> float:
    """Return the new orders per minute of a period. Raises UserError if there are none to be compared with."""
    tpmc = tpcc_columns(users, period)["tpmc"]
    if not tpmc:
        raise UserError(f"workload compound: {when}, TPC-C completed no new order; measure longer")
    return tpmc
