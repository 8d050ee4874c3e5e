"""The machines that an experiment names, with what it sets in them: each file is read once, and each distinct machine checked once."""

from collections.abc import Sequence
from pathlib import Path

from memwalk.analysis.experiments.canonical import canonical
from memwalk.simcore.config_files import ConfigNotFoundError
from memwalk.simcore.dbms import PART
from memwalk.simcore.machine import Machine, MachineLayers, Setting, build_machine, read_machine
from memwalk.simcore.yaml_source import Sourced


class Machines:
    """Reads the machines of one experiment."""

    def __init__(self, source: Sourced, folder: Path) -> None:
        """``source`` is the experiment, and ``folder`` where relative paths begin."""
        self._source = source
        self._folder = folder
        self._layers: dict[str, MachineLayers] = {}
        self._machines: dict[str, Machine] = {}

    def machine(self, settings: Sequence[Setting]) -> Machine | None:
        """Lay what is set of the machine over the one that is named; None if none is. Raises UserError with the place of each mistake."""
        machine, dbms = (self._named(part, settings) for part in ("machine", PART))
        overrides = [Setting(one.route[1:], one.value) for one in settings if one.route[0] == "machine" and len(one.route) > 1]
        if machine is None:
            if dbms is not None or overrides:
                unused = dbms or overrides[0].value
                raise unused.error((), "is for a machine, and the experiment has none; name one as `machine` or remove it")
            return None
        names = canonical([machine.data, dbms and dbms.data])
        key = canonical([names, [[setting.route, setting.value.data] for setting in overrides]])
        if key not in self._machines:
            if names not in self._layers:
                self._layers[names] = self._read(machine, dbms)
            self._machines[key] = build_machine(self._layers[names], overrides)
        return self._machines[key]

    def _named(self, part: str, settings: Sequence[Setting]) -> Sourced | None:
        """Return the name that the experiment and its settings give for a part, if they give one."""
        chosen = [setting.value for setting in settings if setting.route == (part,)]
        if not chosen and part in self._source.data:
            chosen = [self._source.below((part,))]
        if not chosen or (part == PART and chosen[-1].data is None):
            return None
        if not isinstance(chosen[-1].data, str):
            raise chosen[-1].error((), f"{part} is given by name or path, as text")
        return chosen[-1]

    def _read(self, machine: Sourced, dbms: Sourced | None) -> MachineLayers:
        """Read the files; one that is not there is a mistake of whoever named it."""
        folder = self._folder
        try:
            layers = read_machine(machine.data, folder)
        except ConfigNotFoundError as error:
            raise machine.error((), str(error)) from None
        if dbms is None:
            return layers
        try:
            return layers.with_dbms(dbms.data, folder)
        except ConfigNotFoundError as error:
            raise dbms.error((), str(error)) from None
