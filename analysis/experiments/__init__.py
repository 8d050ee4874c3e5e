"""Experiments: machine x workload x a grid of values, simulated point by point into one table."""
