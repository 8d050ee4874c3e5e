"""CLOCK: the frames stand in a ring, and a hand gives each one that was used since it last came by a second chance."""


class Clock:
    """Chooses the frame to empty. Frames are numbers; pins keep a frame from being chosen."""

    def __init__(self, frames: int) -> None:
        """Begin with the hand at frame 0, nothing used and nothing pinned."""
        self._used = bytearray(frames)
        self._pins = [0] * frames
        self._hand = 0

    def use(self, frame: int) -> None:
        """Note that a frame was used."""
        self._used[frame] = 1

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

        Used frames on the way lose their mark. Two rounds decide: the first one clears all marks.
        """
        frames = len(self._pins)
        for _ in range(2 * frames):
            frame = self._hand
            self._hand = (frame + 1) % frames
            if self._pins[frame]:
                continue
            if not self._used[frame]:
                return frame
            self._used[frame] = 0
        return None
