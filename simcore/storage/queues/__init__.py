"""Queue policies: which of the waiting requests a device serves next."""

from simcore.storage.queues.c_look import CLook
from simcore.storage.queues.fcfs import Fcfs
from simcore.storage.queues.queue import Queue, Request
from simcore.storage.queues.sptf import Sptf

FCFS = "fcfs"
QUEUES: dict[str, type[Queue]] = {FCFS: Fcfs, "c-look": CLook, "sptf": Sptf}
"""The policies by the names that users write."""

__all__ = ["FCFS", "QUEUES", "CLook", "Fcfs", "Queue", "Request", "Sptf"]
