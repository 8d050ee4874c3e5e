"""Experiments, results, cost models, claims, figures and the command line."""
