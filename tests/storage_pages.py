"""Pages of a small device, as cores and runs of tests have them from storage."""

from dataclasses import replace
from pathlib import Path

from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import PageSpec, TimedPages

WAY_SECONDS = 4.9e-3
"""What a page elsewhere takes longer on it than the one behind the last."""
DEVICE = """\
schema_version: 1
description: a small device
source: made up for tests
kind: sequential-random
page_bytes: 8KiB
sequential_page: 100us
random_page: 5ms
"""

US = 1_000_000
SINGLY = PageSpec(16)


FAR = 1 << 63


class OneCore(TimedPages):
    """Pages of one core, which has nothing else to do while it waits."""

    def reads(self, page: int, at_ps: int) -> tuple[int, tuple[int, ...]]:
        """Read a page; until when the core waits, and for what."""
        self.read(0, page, at_ps)
        return self._waits()

    def prefetches(self, page: int, at_ps: int) -> None:
        """Ask for a page ahead."""
        self.prefetch(0, page, at_ps)
        assert self.advance(at_ps) is None

    def writes(self, page: int, at_ps: int) -> tuple[int, tuple[int, ...]]:
        """Write a page; until when the core waits, and for what."""
        self.write(0, page, at_ps)
        return self._waits()

    def finishes(self, at_ps: int) -> tuple[int, tuple[int, ...]]:
        """End the program; until when the core waits, and for what."""
        self.finish(0, at_ps)
        return self._waits()

    def _waits(self) -> tuple[int, tuple[int, ...]]:
        arrival = self.advance(FAR)
        assert arrival is not None
        assert (arrival.core, arrival.first) == (0, True)
        return arrival.end_ps, arrival.parts


def pages_of(folder: Path, device: str = DEVICE, spec: PageSpec = SINGLY, disks: int = 1) -> OneCore:
    """Pages of 8 KB on a device that takes 100 us for the page that follows and 5 ms for another, or pairs of them on several in turn."""
    (folder / "device.yaml").write_text(device)
    one = System(load_device("./device.yaml", folder))
    system = one if disks == 1 else replace(one, disks=disks, volume="striped", stripe_blocks=32)
    return OneCore(system.switched_on(), spec, "device")
