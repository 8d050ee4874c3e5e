"""Kernel `tpcc`: the mix of TPC-C by many users (Clotho, section 7.4)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.oltp.placed import placed_database, tpcc_columns, users_of
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.programs import tpcc


class Tpcc(TpccSettings, OneProgram):
    """TPC-C by itself: throughput in the time that is measured, what a transaction takes, and how busy processor and devices are."""

    throughput: ClassVar[str] = "tpmc"

    kernel: Literal["tpcc"]

    @property
    def warm_up_ps(self) -> int:
        """Time before the measurement."""
        return self.warm_up

    def warmed_up_for(self, warm_up_ps: int) -> "Tpcc":
        """Return the same with another time before the measurement."""
        return self.model_copy(update={"warm_up": warm_up_ps})

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place the database, as `OneProgram` says."""
        database = placed_database(self, volume, first_block)

        def begin() -> Begun:
            users = users_of(self, database)

            def columns(periods: Mapping[str, Period]) -> Columns:
                period = periods[tpcc.MEASURED]
                measured = {"seconds": seconds(period.elapsed_ps)} | tpcc_columns(users, period)
                return measured | {"disk_utilization": period.utilization} | io_columns(period.served)

            return Begun([users.client(self.warm_up, self.measured)], columns)

        return Placed(database.end_block, lambda _: begin)
