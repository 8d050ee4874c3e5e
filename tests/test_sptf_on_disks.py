"""SPTF asks a disk about few of the requests that wait, and takes the one that it would take after asking about all."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from test_disk import DRIVES, MS, US, small

from memwalk.simcore.storage.disk import Disk
from memwalk.simcore.storage.queues import Request, Sptf

WAITING = st.lists(st.tuples(st.booleans(), st.integers(0, 2989)), min_size=1, max_size=60)
UNEVEN = {"seek": {"model": "points", "points": [(1, "2ms"), (3, "4ms"), (9, "2.5ms"), (11, "5ms")], "measured": True}}
"""A measured curve may fall."""
PAUSES = st.sampled_from([0, 50 * US, 1 * MS, 9 * MS])


class Asking(Sptf):
    """Notes what it takes, and what it would have taken after asking about every request."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Request] = []
        self.nearest: list[Request] = []

    def pop(self, now_ps, device):
        answers = [(device.positioning_ps(now_ps, one), one) for one in self._held]
        self.nearest.append(min(answers)[1])
        bounds = device.positioning_bounds(now_ps, self._held)
        assert all(bound <= answer for bound, (answer, _) in zip(bounds, answers, strict=True))
        self.taken.append(super().pop(now_ps, device))
        return self.taken[-1]


@given(WAITING, DRIVES, st.sampled_from([{}, UNEVEN]), st.lists(PAUSES, min_size=60, max_size=60))
def test_what_is_taken_is_nearest_of_all(
    requests: list[tuple[bool, int]], changes: dict[str, Any], seeks: dict[str, Any], pauses: list[int]
) -> None:
    disk, queue, now = small(**changes, **seeks), Asking(), 0
    for sequence, (write, block) in enumerate(requests):
        queue.push(Request(0, sequence, block, 10, write))
    for pause, _ in zip(pauses, requests, strict=False):
        request = queue.pop(now, disk)
        now = disk.serve(now, request.block, request.blocks, write=request.write) + pause
    assert queue.taken == queue.nearest


def test_a_disk_is_asked_about_few() -> None:
    class Counting(Disk):
        asked = 0

        def positioning_ps(self, now_ps, request):
            self.asked += 1
            return super().positioning_ps(now_ps, request)

    plain = small()
    disk, queue = Counting(plain.geometry, plain.drive), Sptf()
    for sequence in range(60):
        queue.push(Request(0, sequence, 50 * sequence, 1, False))
    queue.pop(0, disk)
    # From cylinder 0 another takes 2 ms and more. Blocks 0 to 150 are on it, and block 0 is under the head at once.
    assert disk.asked == 4
