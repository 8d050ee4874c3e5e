"""Kernel `tpcc`: the mix of TPC-C by many users on a database that the buffer pool holds a part of (Clotho, section 7.4)."""

from typing import Any, Literal

import simpy
from pydantic import Field

from analysis.storage_workloads.columns import seconds
from analysis.storage_workloads.oltp.a_pages import APageDatabase
from analysis.storage_workloads.meter import MeteredVolume
from analysis.storage_workloads.oltp.fill import StillStorage, fill
from analysis.storage_workloads.oltp.users import Users
from analysis.storage_workloads.oltp.whole_pages import PageDatabase
from analysis.storage_workloads.system import System
from simcore.storage.pool import BufferPool, PoolStatistics
from simcore.units import Bytes, Picoseconds, Count, PositiveCount
from simcore.validation import StrictModel
from workloads.tpcc import Terminals, tables

class Tpcc(StrictModel):
    kernel: Literal["tpcc"]
    layout: Literal["nsm", "pax", "dsm", "csm"]
    warehouses: PositiveCount = 10
    users: PositiveCount = 100
    pool_bytes: Bytes = 128<<20
    warm_up: Picoseconds = 60 * 10**12
    measured: Picoseconds = 120 * 10**12
    page_access: Picoseconds = 400_000_000
    seed: Count = 1
    full: bool = True
    fill_transactions: Count = 5000

    def native(self) -> dict[str, Any]:
        return self.model_dump()

    def run(self, system: System) -> dict[str, float | int]:
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        frames=self.pool_bytes // 8192
        still = StillStorage(env, volume)
        pool = BufferPool(env, still, frames, share_schemas=self.full)
        terminals = Terminals(self.warehouses, self.users, self.seed)
        tabs = [*tables(self.warehouses).values()]
        if self.layout == "csm":
            database = APageDatabase(pool, volume.volume, tabs, terminals.indexes, 1.5)
        else:
            database = PageDatabase(pool, self.layout, tabs, terminals.indexes, 1.5)
        env.run(env.process(fill(pool, database, terminals, self.fill_transactions, frames)))
        still.running = True
        users = Users(env, pool, database, terminals, self.page_access)
        env.run(self.warm_up)
        volume.restart(); pool.statistics = PoolStatistics(); users.completed.clear(); users.processor.busy_ps = 0
        env.run(self.warm_up + self.measured)
        n = users.completed.total()
        s = pool.statistics
        el = seconds(self.measured)
        return {"tpmc": users.completed["new-order"]*60/el, "tx": n, "fixes": s.fixes/n, "misses": s.misses/n, "dirty": s.dirty_evictions/n, "arms": volume.utilization, "cpu": users.processor.busy_ps/self.measured, "db_pages": database.pages} | volume.times.columns()
