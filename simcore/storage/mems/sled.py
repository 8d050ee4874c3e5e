"""How long a MEMStore's sled takes to move: full acceleration, then full braking, against springs that pull it to the middle.

The formulas are those of an oscillator: with springs of rate k (their acceleration per displacement, ``spring_factor`` times the
actuators' acceleration a at the end of the travel) the sled swings about +a/k while it is accelerated upwards and about -a/k while it
is braked. DiskSim's MEMS model integrates the same motion in 16 pieces; Griffin et al. (SIGMETRICS 2000) describe the device.
"""

from dataclasses import dataclass
from math import acos, hypot, pi, sqrt
from typing import NamedTuple

from memwalk.simcore.units import PS_PER_SECOND


class Motion(NamedTuple):
    """Where along Y the sled is, in nm from the middle, and which way it moves at the velocity of access: 1 is up, -1 down."""

    y_nm: int
    direction: int


@dataclass(frozen=True)
class Sled:
    """A spring-mounted sled with the same travel, actuators and springs in X and in Y."""

    travel_nm: int
    """From end to end."""
    acceleration: float
    """Of the actuators, in m/s2."""
    spring_factor: float
    """The springs' acceleration at the end of the travel by that of the actuators, 0 to less than 1."""
    velocity_nm_s: int
    """Speed along Y at which tips read and write."""
    settle_ps: int
    """Time for oscillations in X to die out, after every movement in X."""

    def x_seek_ps(self, start_nm: int, end_nm: int) -> int:
        """Return the time to move along X from rest to rest and to settle; nothing if there is no way to go."""
        return 0 if start_nm == end_nm else round(self._travel_s(start_nm, end_nm, 0) * PS_PER_SECOND) + self.settle_ps

    def y_seek_ps(self, start: Motion, end: Motion) -> tuple[int, int]:
        """Return the time to get from one motion to the other without turning around, and the time of the turnarounds.

        The sled leaves and arrives at the velocity of access. If it must turn, it does so where it is or, if its end lies ahead,
        there; with the end behind it and the same direction wanted it turns twice.
        """
        ahead = (end.y_nm - start.y_nm) * start.direction
        turns = 0
        if start.direction != end.direction:
            turns = self.turnaround_ps(start if ahead <= 0 else Motion(end.y_nm, start.direction))
        elif ahead < 0:
            turns = self.turnaround_ps(start) + self.turnaround_ps(Motion(end.y_nm, -end.direction))
        return round(self._travel_s(start.y_nm, end.y_nm, self.velocity_nm_s) * PS_PER_SECOND), turns

    def turnaround_ps(self, before: Motion) -> int:
        """Return the time to reverse a motion: springs help a sled that moves outward and hinder one that moves inward."""
        springs = self.spring_factor * before.y_nm * before.direction / (self.travel_nm / 2)
        return round(2 * self.velocity_nm_s / (self._acceleration_nm * (1 + springs)) * PS_PER_SECOND)

    def sweep(self, start: Motion, elapsed_ps: int) -> Motion:
        """Return the motion of a sled that sweeps from end to end, ``elapsed_ps`` after ``start``."""
        half = self.travel_nm // 2
        turn_ps = self.turnaround_ps(Motion(half, 1))
        one_way_ps = 2 * half * PS_PER_SECOND // self.velocity_nm_s + turn_ps
        left_ps = elapsed_ps % (2 * one_way_ps)
        y, direction = start
        while left_ps > 0:
            to_end_ps = (half - y * direction) * PS_PER_SECOND // self.velocity_nm_s
            if left_ps < to_end_ps:
                return Motion(y + direction * (left_ps * self.velocity_nm_s // PS_PER_SECOND), direction)
            y, direction = half * direction, -direction
            left_ps -= to_end_ps + turn_ps
        return Motion(y, direction)

    @property
    def _acceleration_nm(self) -> float:
        return self.acceleration * 1e9

    def _travel_s(self, start_nm: int, end_nm: int, velocity_nm_s: int) -> float:
        """Return the seconds from one place to another, with the same velocity towards the end at both."""
        x0, x1 = (start_nm, end_nm) if start_nm < end_nm else (-start_nm, -end_nm)
        a, v = self._acceleration_nm, velocity_nm_s
        if not self.spring_factor:
            return 2 * (sqrt(v * v + a * (x1 - x0)) - v) / a
        rate = self.spring_factor * a / (self.travel_nm / 2)
        omega = sqrt(rate)
        middle = a / rate  # of the swing while accelerated; -middle while braked
        switch = (x0 + x1) / 2 + rate * (x1 * x1 - x0 * x0) / (4 * a)  # the energies of both swings are equal there
        first, second = hypot(middle - x0, v / omega), hypot(middle + x1, v / omega)
        return (_swing(middle - x0, middle - switch, first) + _swing(middle + x1, middle + switch, second)) / omega


def settle_ps(time_constants: float, resonant_hz: float) -> int:
    """Return the time after which a resonance at ``resonant_hz`` has decayed by ``time_constants`` powers of e."""
    return round(time_constants / (2 * pi * resonant_hz) * PS_PER_SECOND)


def _swing(start: float, end: float, amplitude: float) -> float:
    """Return the angle that an oscillator turns between two displacements on the same half of its swing."""
    return acos(min(1.0, end / amplitude)) - acos(min(1.0, start / amplitude))
