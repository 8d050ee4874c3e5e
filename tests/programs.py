"""Clients of programs without a simulator: what they say, and what a test answers."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from memwalk.traces.storage import Client, Command, Fix


class Frame(NamedTuple):
    """A page that is fixed."""

    pages: range


def listed(client: Client, answers: Callable[[Command], Any] = lambda _: None, most: int = 100_000) -> list[Command]:
    """List what a client says, up to ``most`` commands; pages that it fixes are alone in their frames."""
    said: list[Command] = []

    def answer(command: Command) -> Any:
        return Frame(range(command.page, command.page + 1)) if isinstance(command, Fix) else answers(command)

    said.extend(islice(_said(client, answer), most))
    return said


def in_turns(clients: Iterable[Client]) -> list[list[Command]]:
    """List what clients say that take turns, one command each."""
    each: list[list[Command]] = []
    waiting = []
    for number, client in enumerate(clients):
        each.append([])
        waiting.append((number, _said(client, lambda _: None)))
    while waiting:
        number, commands = waiting.pop(0)
        if (command := next(commands, None)) is not None:
            each[number].append(command)
            waiting.append((number, commands))
    return each


def watched(client: Client, seen: Callable[[Command, Any], object]) -> Client:
    """Have ``seen`` hear of each command of a client and of the answer."""
    answer = None
    while True:
        try:
            command = client.send(answer)
        except StopIteration:
            return
        answer = yield command
        seen(command, answer)


def _said(client: Client, answers: Callable[[Command], Any]) -> Iterator[Command]:
    answer = None
    while True:
        try:
            command = client.send(answer)
        except StopIteration:
            return
        yield command
        answer = answers(command)
