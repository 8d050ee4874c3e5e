"""The simulated machine: machine files, units, and the engines that run a workload on a machine."""
