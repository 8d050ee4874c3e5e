"""What happened in a part of a program's run, summed up as it happens."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.pool import PoolStatistics


@dataclass(frozen=True)
class Period:
    """What happened in a period of a program's run."""

    began_ps: int
    elapsed_ps: int
    asked: IoTimes
    """What clients asked for without a pool; a request over several devices counts once, with the times of the part that ended last."""
    served: IoTimes
    """What devices served for the program, for its clients and its pools."""
    disks: int
    """Devices that the program's volume lies on."""
    serving_ps: int
    """Time in which these served the program, summed over them."""
    disks_busy_ps: int
    """Time in which these served anybody, summed over them."""
    pools: Mapping[str, PoolStatistics]
    """What its buffer pools did, by name."""
    busy_ps: int
    """Time in which the processor that its clients share worked."""
    completed: Counter[str]
    """What clients completed, by kind."""

    @property
    def utilization(self) -> float:
        """Share of the time in which a device serves the program, on average over its devices."""
        return self._share(self.serving_ps)

    @property
    def utilization_by_all(self) -> float:
        """Share of the time in which a device serves anybody, on average over the program's devices."""
        return self._share(self.disks_busy_ps)

    def _share(self, busy_ps: int) -> float:
        return busy_ps / (self.elapsed_ps * self.disks) if self.elapsed_ps else 0.0


@dataclass
class Counts:
    """What is summed up in a period that is not over."""

    name: str = ""
    began_ps: int = 0
    asked: IoTimes = field(default_factory=IoTimes)
    pools: dict[str, PoolStatistics] = field(default_factory=dict)
    completed: Counter[str] = field(default_factory=Counter)
