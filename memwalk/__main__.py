"""`python -m memwalk`: the command line."""

from memwalk.analysis.cli.main import main

main()
