"""TPC-C on a system: its users, and the columns of what they did."""

from memwalk.analysis.storage_workloads.columns import seconds
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.placed import frames_in, rows_for
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.clotho.relation import PAGE_BYTES
from memwalk.workloads.programs import tpcc
from memwalk.workloads.tpcc import MIX, Terminals
from memwalk.workloads.tpcc.database import Database


def placed_database(settings: TpccSettings, volume: Volume, first_block: int) -> Database:
    """Place the database from ``first_block`` on. Raises UserError if it does not fit, or the layout not to the volume."""
    rows = rows_for(settings.layout, volume)
    database = tpcc.database(settings.layout, _terminals(settings), rows, settings.reconstruction, first_block=first_block)
    if database.end_block > volume.blocks:
        taken = f"{settings.warehouses} warehouses in {settings.layout} take {database.end_block - first_block} blocks"
        behind = f" behind {first_block} others" if first_block else ""
        raise MisfitError("warehouses", f"workload tpcc: {taken}{behind}, and the volume has {volume.blocks}; have fewer")
    return database


def users_of(settings: TpccSettings, database: Database) -> tpcc.Users:
    """Have users of a database, for one run."""
    return tpcc.Users(
        database,
        _terminals(settings),
        frames_in(settings.pool),
        settings.share_schemas,
        settings.fill_transactions,
        settings.page_access,
    )


def _terminals(settings: TpccSettings) -> Terminals:
    return Terminals(settings.warehouses, settings.users, settings.seed)


def tpcc_columns(users: tpcc.Users, period: Period) -> dict[str, float | int]:
    """Return what users did in a period.

    ``tpmc`` counts new orders per minute, as the benchmark defines it (section 5.4.2), and ``transactions`` all of the mix.

    Raises UserError if a table has outgrown its space, or no transaction has ended.
    """
    if users.outgrown:
        remedy = "have more warehouses, fewer fill_transactions, or measure for less time"
        raise UserError(f"workload tpcc: new orders have outgrown the space of their table; {remedy}")
    completed, counts = period.completed, period.pools[tpcc.POOL]
    transactions = sum(completed[kind] for kind in MIX)
    if not transactions:
        passed = seconds(period.elapsed_ps)
        raise UserError(f"workload tpcc: no transaction ended in the {passed:g} s of the measurement; measure longer")
    return {
        "tpmc": 60 * completed["new-order"] / seconds(period.elapsed_ps),
        "transactions": transactions,
        "page_accesses_per_transaction": counts.fixes / transactions,
        "misses_per_transaction": counts.misses / transactions,
        "dirty_evictions_per_transaction": counts.dirty_evictions / transactions,
        "blocks_read_per_transaction": counts.blocks_read / transactions,
        "cpu_seconds": seconds(period.busy_ps),
        "cpu_utilization": period.busy_ps / period.elapsed_ps,
        "database_bytes": users.database.pages * PAGE_BYTES,
    }
