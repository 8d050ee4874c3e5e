"""The command line: one module per command, listed in `memwalk.analysis.cli.main`."""
