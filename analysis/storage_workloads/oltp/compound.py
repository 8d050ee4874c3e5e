"""Kernel `compound`: TPC-C beside a query of TPC-H on the same disks (Clotho, section 7.5)."""

from typing import Literal

import simpy
from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import RunsAhead, SampleScaleFactor, ScaleFactor
from memwalk.analysis.storage_workloads.oltp.running import RunningTpcc
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.pool import frames_in
from memwalk.analysis.storage_workloads.tpch.query import Query, query_work
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import BufferPool, Steps
from memwalk.simcore.storage.system import System


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
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        running = RunningTpcc(env, volume, self)
        query = Query(
            self.query,
            self.layout,
            volume.volume,
            system.machine,
            scale_factor=self.scale_factor,
            sample=self.sample_scale_factor,
            reconstruction=self.reconstruction,
            first_block=running.database.blocks,
        )
        query.check_pool(self.pool, self.runs_ahead)
        query_alone = self._alone(system, query)
        if self.warm_up:
            env.run(self.warm_up)
        running.restart()
        env.run(self.warm_up + self.measured)
        tpmc_alone = _new_orders(running, "alone")

        times_ps: list[int] = []
        asking = env.process(self._again_and_again(env, query, volume, times_ps))
        running.restart()
        volume.restart()
        env.run(asking)
        tpmc_together = _new_orders(running, f"beside {self.query}")
        query_together = seconds(sum(times_ps)) / len(times_ps)
        query_slowdown = query_together / query_alone
        tpcc_slowdown = tpmc_alone / tpmc_together
        return {
            "seconds": query_together,
            "query_seconds_alone": query_alone,
            "query_seconds_together": query_together,
            "query_runs_together": len(times_ps),
            "query_slowdown": query_slowdown,
            "tpmc_alone": tpmc_alone,
            "tpmc_together": tpmc_together,
            "tpcc_slowdown": tpcc_slowdown,
            "mean_slowdown": (query_slowdown + tpcc_slowdown) / 2,
            "disk_utilization": volume.utilization,
        } | io_columns(volume.times)

    def _alone(self, system: System, query: Query) -> float:
        env = simpy.Environment()
        env.run(env.process(query.go(env, self._pool_of_query(env, MeteredVolume(env, system)), self.runs_ahead)))
        return seconds(int(env.now))

    def _again_and_again(self, env: simpy.Environment, query: Query, volume: MeteredVolume, times_ps: list[int]) -> Steps:
        """Run the query, each time on a cold pool, until the time to be measured has passed; the last run is finished."""
        end_ps = int(env.now) + self.measured
        while env.now < end_ps:
            began_ps = int(env.now)
            yield from query.go(env, self._pool_of_query(env, volume), self.runs_ahead)
            times_ps.append(int(env.now) - began_ps)

    def _pool_of_query(self, env: simpy.Environment, volume: MeteredVolume) -> BufferPool:
        return BufferPool(env, volume, frames_in(self.pool))


def _new_orders(running: RunningTpcc, when: str) -> float:
    """Return the new orders per minute since the last restart. Raises UserError if there are none to be compared with."""
    tpmc = running.columns()["tpmc"]
    if not tpmc:
        raise UserError(f"workload compound: {when}, TPC-C completed no new order; measure longer")
    return tpmc
