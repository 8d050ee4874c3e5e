"""Engines run a workload or a trace on a machine and return statistics."""
