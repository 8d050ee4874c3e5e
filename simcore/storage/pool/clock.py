"""CLOCK: the frames stand in a ring, and a hand gives each one that was used since it last came by a second chance.

Frames whose use is to come, as their pages were read ahead, are spared as long as there are others.
"""


class Clock:
    """Chooses the frame to empty. Frames are numbers; pins keep a frame from being chosen."""

    def __init__(self, frames: int) -> None:
        """Begin with the hand at frame 0, nothing used and nothing pinned."""
        self._used = bytearray(frames)
        self._pins = [0] * frames
        self._expected = bytearray(frames)
        self._hand = 0

    def use(self, frame: int) -> None:
        """Note that a frame was used."""
        self._used[frame] = 1
        self._expected[frame] = 0

    def expect(self, frame: int) -> None:
        """Spare a frame until it is used, or nobody will use it."""
        self._expected[frame] = 1

    def expect_no_more(self, frame: int) -> None:
        """Note that nobody will use a frame for which it was spared."""
        self._expected[frame] = 0

    def pin(self, frame: int) -> None:
        """Keep a frame until as many :meth:`unpin` as pins have come."""
        self._pins[frame] += 1

    def unpin(self, frame: int) -> None:
        """Take back a pin."""
        self._pins[frame] -= 1

    def pinned(self, frame: int) -> bool:
        """Say whether somebody keeps a frame."""
        return self._pins[frame] > 0

    def victim(self) -> int | None:
        """Move the hand to the next frame that is neither pinned nor used, and past it; None if all are pinned.

        Used frames on the way lose their mark. Two rounds decide: the first one clears all marks. If all frames that are not pinned are
        spared for their use, one of them is taken nevertheless.
        """
        victim = self._next(spare=True)
        return self._next(spare=False) if victim is None else victim

    def _next(self, *, spare: bool) -> int | None:
        frames = len(self._pins)
        for _ in range(2 * frames):
            frame = self._hand
            self._hand = (frame + 1) % frames
            if self._pins[frame] or (spare and self._expected[frame]):
                continue
            if not self._used[frame]:
                return frame
            self._used[frame] = 0
        return None
