"""TPC-C while it runs: a database on a volume, its buffer pool and its users."""

from collections.abc import Mapping, Sequence

import simpy

from memwalk.analysis.storage_workloads.clotho.relation import PAGE_BYTES, two_dimensional
from memwalk.analysis.storage_workloads.columns import seconds
from memwalk.analysis.storage_workloads.oltp.a_pages import APageDatabase
from memwalk.analysis.storage_workloads.oltp.database import Database
from memwalk.analysis.storage_workloads.oltp.fill import StillStorage, fill
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.oltp.users import Users
from memwalk.analysis.storage_workloads.oltp.whole_pages import PageDatabase
from memwalk.analysis.storage_workloads.pool import frames_in
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import BufferPool, PoolStatistics
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.tables import Table
from memwalk.workloads.tpcc import Index, Terminals, tables

ROOM = 1.5
"""Space that tables and indexes have, over what they hold at the beginning: minutes of orders are some per cent of it."""


class RunningTpcc:
    """Users at work from the moment this is made; the pool is full by then."""

    def __init__(self, env: simpy.Environment, volume: MeteredVolume, settings: TpccSettings) -> None:
        """Place the database at the beginning of ``volume``, fill the pool in no time, and have the users begin.

        Raises UserError if the database does not fit onto the volume, or the layout not to it.
        """
        self._env = env
        storage = StillStorage(env, volume)
        frames = frames_in(settings.pool)
        self.pool = BufferPool(env, storage, frames, share_schemas=settings.share_schemas)
        terminals = Terminals(settings.warehouses, settings.users, settings.seed)
        self.database = _database(settings, self.pool, volume.volume, [*tables(settings.warehouses).values()], terminals.indexes)
        env.run(env.process(fill(self.pool, self.database, terminals, settings.fill_transactions, frames)))
        storage.running = True
        self.users = Users(env, self.pool, self.database, terminals, settings.page_access)
        self.restart()

    def restart(self) -> None:
        """Count from now on."""
        self._began_ps = int(self._env.now)
        self.pool.statistics = PoolStatistics()
        self.users.completed.clear()
        self.users.processor.busy_ps = 0

    def columns(self) -> dict[str, float | int]:
        """Return what was done since the last restart.

        ``tpmc`` counts new orders per minute, as the benchmark defines it (section 5.4.2), and ``transactions`` all of the mix.

        Raises UserError if a table has outgrown its space, or no transaction has ended.
        """
        if self.users.terminals.growth > ROOM - 1:
            raise UserError(
                "workload tpcc: new orders have outgrown the space of their table; have more warehouses, or measure for less time"
            )
        elapsed_ps = int(self._env.now) - self._began_ps
        completed, counts = self.users.completed, self.pool.statistics
        transactions = completed.total()
        if not transactions:
            raise UserError(f"workload tpcc: no transaction ended in the {seconds(elapsed_ps):g} s of the measurement; measure longer")
        return {
            "tpmc": 60 * completed["new-order"] / seconds(elapsed_ps),
            "transactions": transactions,
            "page_accesses_per_transaction": counts.fixes / transactions,
            "misses_per_transaction": counts.misses / transactions,
            "dirty_evictions_per_transaction": counts.dirty_evictions / transactions,
            "blocks_read_per_transaction": counts.blocks_read / transactions,
            "cpu_utilization": self.users.processor.busy_ps / elapsed_ps,
            "database_bytes": self.database.pages * PAGE_BYTES,
        }


def _database(settings: TpccSettings, pool: BufferPool, volume: Volume, schema: Sequence[Table], indexes: Mapping[str, Index]) -> Database:
    database: Database
    if settings.layout == "csm":
        database = APageDatabase(pool, two_dimensional(volume), schema, indexes, ROOM)
    else:
        database = PageDatabase(pool, settings.layout, schema, indexes, ROOM, reconstruction=settings.reconstruction)
    if database.blocks > volume.blocks:
        taken = f"{settings.warehouses} warehouses in {settings.layout} take {database.blocks} blocks"
        raise UserError(f"workload tpcc: {taken}, and the volume has {volume.blocks}; have fewer")
    return database
