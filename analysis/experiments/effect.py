"""Settings without effect: what the user wrote and no run depends on is refused by name.

A value in an experiment's base, variants, grid, repetitions and scales, or behind ``--set``, must have an effect on a row that it is
laid on; one row is enough, so that a base can carry what some of its variants use. What null of a later layer takes away is not laid on
(`layers.not_taken_away`). Defaults, and what another file says (a machine's, a device's, the bases that a paper's figures share), are
never refused. Nor is a value that a run goes by where another one would give the same: a buffer that is larger than what comes into
it, or more cores than threads. Whoever varies a size looks for where it begins to matter.

`rules.RULES` says which parameters not every run depends on.

More is refused row by row: parameters that are no part of a point unless they apply (`range` of a search).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.experiments.layers import within
from memwalk.analysis.experiments.rules import RULES, Rule, has_effect
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.storage_workloads.together import PROGRAMS, TOGETHER
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Place, Route, dotted


@dataclass(frozen=True)
class _Written:
    """A value that a rule is about, and where the user wrote it."""

    rule: Rule
    route: Route
    place: Place
    program: str = ""
    """Which of several workloads the rule is about; empty for the run as a whole."""

    def has_effect(self, run: Run) -> bool:
        """Tell whether the run depends on it."""
        return has_effect(self.rule, replace(run.program(self.program), route=self.route))

    def refusal(self) -> str:
        """Say where it stands, that it has no effect, and what it is for."""
        return f"{self.place}: {dotted(self.route)} has no effect on this run: it is for {self.rule.is_for}; remove it"


class Effects:
    """Watches the rows of an experiment go by, and knows in the end what none of them depends on."""

    def __init__(self, file: str = "") -> None:
        """Watch what is written in a file, and on the command line."""
        self._file = file
        self._of_setting: dict[tuple[Route, int], list[_Written]] = {}
        self._kept: list[Setting] = []
        self._without: dict[_Written, None] = {}
        self._with: set[_Written] = set()

    def see(self, settings: Iterable[Setting], run: Run) -> None:
        """Take in one row: the settings laid on it, and what came of them."""
        for setting in settings:
            for written in self._written(setting):
                if written in self._with:
                    continue
                if written.has_effect(run):
                    self._with.add(written)
                    self._without.pop(written, None)
                else:
                    self._without[written] = None

    def check(self) -> None:
        """Raise UserError, one line for each value that no row depends on."""
        lines = dict.fromkeys(one.refusal() for one in self._without)
        if text := "\n".join(lines):
            raise UserError(text)

    def _written(self, setting: Setting) -> list[_Written]:
        """List what rules say of a setting; found once, since rows share settings."""
        key = (setting.route, id(setting))
        if key not in self._of_setting:
            self._kept.append(setting)  # so that its id stays its own
            self._of_setting[key] = [one for one in _concerned(setting) if not one.place.line or one.place.file == self._file]
        return self._of_setting[key]


def _concerned(setting: Setting) -> Iterator[_Written]:
    """Find the rules about a setting, or about what is in it if it is a map."""
    for inner in within(setting.value.data):
        route = (*setting.route, *inner)
        program, own = _of_program(route)
        for rule in RULES:
            of_program = program and rule.kernel not in ("", TOGETHER)
            concerned = own if of_program else route
            if inner and rule.is_needed:
                continue
            at_last = not inner or len(rule.path.split(".")) == len(concerned)
            if at_last and rule.concerns(concerned) and setting.value.get(inner) not in rule.neutral:
                yield _Written(rule, route, setting.value.spot(inner).value, program if of_program else "")


def _of_program(route: Route) -> tuple[str, Route]:
    """Tell which of several workloads a route is in, and its way in it as if it was the only one; no name if there is one workload."""
    for before in (("workload", PROGRAMS), (BESIDE,)):
        if len(route) > len(before) and route[: len(before)] == before:
            return str(route[len(before)]), ("workload", *route[len(before) + 1 :])
    return "", route


def refuse_without_effect(settings: Iterable[Setting], run: Run) -> None:
    """Raise UserError if one run does not depend on what was set for it."""
    effects = Effects()
    effects.see(settings, run)
    effects.check()
