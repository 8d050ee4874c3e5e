"""`python -m memwalk`: the command line."""

from memwalk.analysis.cli.entry import main

main()
