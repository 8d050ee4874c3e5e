"""Queue policies: which of the waiting requests a device serves next."""

from typing import Literal, TypeAlias, get_args

from memwalk.simcore.storage.queues.c_look import CLook
from memwalk.simcore.storage.queues.fcfs import Fcfs
from memwalk.simcore.storage.queues.queue import Queue, Request, nobody
from memwalk.simcore.storage.queues.sptf import AgedSptf, Sptf

QueueKind: TypeAlias = Literal["fcfs", "c-look", "sptf", "aged-sptf"]
"""Names of the policies, as users write them."""

QUEUES: dict[str, type[Queue]] = dict(zip(get_args(QueueKind), (Fcfs, CLook, Sptf, AgedSptf), strict=True))
"""The policies by these names."""
FCFS: QueueKind = "fcfs"
SPTF: QueueKind = "sptf"
AGED_SPTF: QueueKind = "aged-sptf"

__all__ = ["AGED_SPTF", "FCFS", "QUEUES", "SPTF", "AgedSptf", "CLook", "Fcfs", "Queue", "QueueKind", "Request", "Sptf", "nobody"]
