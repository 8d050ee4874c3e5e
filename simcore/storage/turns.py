"""Those who step one clock, each at times of its own: one goes on at a time, so that the clock is ahead of nobody's requests.

Each is a thread, since whoever asks for something may be deep in a run of its own. A thread waits while another one goes on, and who goes
on next follows from the times alone: threads decide nothing.
"""

import math
import threading
from collections.abc import Callable, Sequence, Sized
from contextlib import suppress
from contextvars import copy_context
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar

import simpy

T = TypeVar("T")

_Asked: TypeAlias = tuple[int, int, int, Callable[[int], None]]
"""When something is to begin, its order among what begins in the same picosecond, its number, and what begins it, at that time."""


class StoppedError(Exception):
    """Another one who steps the clock has failed: nothing comes any more."""


class Turn:
    """One who steps a clock, and says up to when he asks for nothing more. Times are the clock's."""

    def __init__(self, turns: "Turns", start_ps: int) -> None:
        """Ask for nothing before ``start_ps``."""
        self._turns = turns
        self.asked: list[_Asked] = []
        """What he has asked for and the clock has not come to, as a heap: the next is the first."""
        self._sequence = 0
        self.until_ps: float = start_ps - 1
        """Up to when the clock may go on for him."""
        self.arrived: Sized = ()
        """Holds something when he has what he waits for."""
        self._baton: SimpleQueue[None] = SimpleQueue()
        """Has something in it when he may go on."""

    @classmethod
    def alone(cls, env: simpy.Environment) -> "Turn":
        """Have one step a clock that nobody else steps."""
        return Turns(env).joined(0)

    def ask(self, at_ps: int, order: int, begin: Callable[[int], None]) -> None:
        """Have something begin at a time; in one picosecond what has the least order does first."""
        self._sequence += 1
        heappush(self.asked, (at_ps, order, self._sequence, begin))

    def begin(self) -> None:
        """Begin the next thing that he has asked for: its time has come."""
        at_ps, *_, begin = heappop(self.asked)
        begin(at_ps)

    def next_ps(self) -> float:
        """Return when the next thing happens, as far as anybody has asked for something by now."""
        return self._turns.next_ps()

    def go_on(self, until_ps: float, arrived: Sized) -> None:
        """Go on with all that happens up to ``until_ps``, before which he asks for nothing more, or until ``arrived`` holds something.

        Raises `StoppedError` if another one has failed, and what fails in the clock's events.
        """
        self.until_ps, self.arrived = until_ps, arrived
        self._turns.wait(self)

    def give(self) -> None:
        """Have him go on."""
        self._baton.put(None)

    def take(self) -> None:
        """Wait until he may go on. Raises `StoppedError` if another one has failed."""
        self._baton.get()
        self.look()

    def look(self) -> None:
        """Raise `StoppedError` if another one has failed: for who works long without asking for anything."""
        self._turns.look()


class Turns:
    """All who step a clock. In one picosecond those who joined first come first."""

    def __init__(self, env: simpy.Environment) -> None:
        """Step ``env``, as nobody else does meanwhile."""
        self._env = env
        self._members: list[Turn] = []
        self._failure: BaseException | None = None

    def joined(self, start_ps: int) -> Turn:
        """Have one more step the clock, who asks for nothing before ``start_ps``."""
        turn = Turn(self, start_ps)
        self._members.append(turn)
        return turn

    def run(self, each: Sequence[tuple[int, Callable[[Turn], T]]]) -> list[T]:
        """Have each step the clock from a time on, until what is called then returns; gives what they returned.

        The first one runs in this thread, which has the signals. Raises what the first to fail has raised; the others are stopped.
        """
        turns = [self.joined(start_ps) for start_ps, _ in each]
        found: dict[int, T] = {}

        def play(number: int) -> None:
            start_ps, run = each[number]
            try:
                self._begin(turns[number], start_ps, first=number == 0)
                found[number] = run(turns[number])
                self._leave(turns[number])
            except BaseException as failure:
                self._fail(failure)
            finally:
                is_over[number] = True
                look.put(None)

        # What a queue has given may be lost to a signal that comes at once: it only says that there is something to see.
        is_over = [False] * len(each)
        look: SimpleQueue[None] = SimpleQueue()
        # Each hears what this thread hears, such as where progress is told.
        others = [threading.Thread(target=copy_context().run, args=(play, number)) for number in range(1, len(each))]
        for other in others:
            other.start()
        try:
            play(0)
        except BaseException as failure:  # a signal, when it was over
            self._fail(failure)
        is_over[0] = True
        while not all(is_over):
            try:  # `Thread.join` takes a thread for ended when a signal comes, and one that comes right before a wait ends only the next
                while not all(is_over):
                    with suppress(Empty):
                        look.get(timeout=0.1)
            except BaseException as failure:  # a signal, which is for those who go on, too
                self._fail(failure)
        for other in others:
            other.join()
        if self._failure is not None:
            raise self._failure
        return [found[number] for number in range(len(each))]

    def next_ps(self) -> float:
        """Return when the next thing happens."""
        next_ps = self._env.peek()
        for turn in self._members:
            if turn.asked and turn.asked[0][0] < next_ps:
                next_ps = turn.asked[0][0]
        return next_ps

    def wait(self, mine: Turn) -> None:
        """Let the clock and the others go on until it is somebody's turn again."""
        self.look()
        chosen = self._chosen()
        if chosen is not mine:
            chosen.give()
            mine.take()

    def look(self) -> None:
        """Raise `StoppedError` if somebody has failed."""
        if self._failure is not None:
            raise StoppedError

    def _begin(self, mine: Turn, start_ps: int, *, first: bool) -> None:
        """Wait until the clock is where one begins, before all else that happens then."""
        if first:
            self.wait(mine)
        else:
            mine.take()
        if start_ps > self._env.now:
            self._env.run(until=start_ps)

    def _leave(self, mine: Turn) -> None:
        """Ask for nothing more; another one goes on, if there is one."""
        self._members.remove(mine)
        if self._members:
            self._chosen().give()

    def _fail(self, failure: BaseException) -> None:
        """Stop all: each notices when he asks for something, or is asked."""
        if self._failure is None:
            self._failure = failure
        for turn in list(self._members):  # one of them may be leaving
            turn.give()

    def _chosen(self) -> Turn:
        """Step the clock until one of those who all wait goes on: what he waits for is there, or he may ask for what comes next."""
        env, members = self._env, self._members
        while True:
            asking, asked_ps, least = members[0], math.inf, members[0]
            for turn in members:
                if turn.arrived:
                    return turn
                if turn.asked and turn.asked[0][0] < asked_ps:
                    asking, asked_ps = turn, turn.asked[0][0]
                if turn.until_ps < least.until_ps:
                    least = turn
            event = env.peek()
            if asked_ps <= event:
                if asked_ps > least.until_ps:
                    return least
                if asked_ps > env.now:
                    env.run(until=asked_ps)
                asking.begin()
            elif event > least.until_ps:
                return least
            else:
                env.step()
