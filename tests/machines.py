"""Machines that many tests run, as the engines take them: whoever changes one changes a copy."""

from memwalk.simcore.machine import load_machine

THESIS = load_machine("thesis-simulator").native()
ZEN4 = load_machine("zen4-server").native()
