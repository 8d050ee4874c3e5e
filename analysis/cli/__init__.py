"""The command line: one module per command, listed in `analysis.cli.main`."""
