"""Kernel `tpcc`: the mix of TPC-C by many users (Clotho, section 7.4)."""

from typing import Literal

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.oltp.placed import placed_users, tpcc_columns
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.workloads.programs import tpcc


class Tpcc(TpccSettings):
    """TPC-C alone."""

    kernel: Literal["tpcc"]

    def run(self, system: System) -> dict[str, float | int]:
        """Run for the time that is measured; returns throughput, what a transaction takes, and how busy processor and devices are.

        Raises UserError if the database does not fit onto the volume, or the layout not to it, or if no transaction ends meanwhile.
        """
        users = placed_users(self, system.layout())
        period = run(system, [users.alone(self.warm_up, self.measured)])[tpcc.MEASURED]
        columns = tpcc_columns(users, period) | {"disk_utilization": period.utilization}
        return {"seconds": seconds(self.measured)} | columns | io_columns(period.served)
