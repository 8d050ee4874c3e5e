"""Kernel `tpcc`: the mix of TPC-C by many users (Clotho, section 7.4)."""

from typing import Literal

import simpy

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.oltp.running import RunningTpcc
from memwalk.analysis.storage_workloads.oltp.settings import TpccSettings
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.system import System


class Tpcc(TpccSettings):
    """TPC-C alone."""

    kernel: Literal["tpcc"]

    def run(self, system: System) -> dict[str, float | int]:
        """Run for the time that is measured; returns throughput, what a transaction takes, and how busy processor and devices are.

        Raises UserError if the database does not fit onto the volume, or the layout not to it, or if no transaction ends meanwhile.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        running = RunningTpcc(env, volume, self)
        if self.warm_up:
            env.run(self.warm_up)
        volume.restart()
        running.restart()
        env.run(self.warm_up + self.measured)
        columns = running.columns() | {"disk_utilization": volume.utilization}
        return {"seconds": seconds(self.measured)} | columns | io_columns(volume.times)
