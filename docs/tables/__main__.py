"""Simulate what tables need, and write them or compare them: `python -m docs.tables --check searches-by-pool`."""

import argparse
import sys
from pathlib import Path

from docs.tables import indexes, joins, layouts, memory, storage, strings
from docs.tables.markdown import lines, replace, tables
from docs.tables.registry import TABLES
from docs.tables.results import ROOT

SUBJECTS = [indexes, joins, layouts, memory, storage, strings]
"""Modules whose tables are registered."""
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")})


def main() -> int:
    """Return 1 if a table that is compared is another."""
    parser = argparse.ArgumentParser("python -m docs.tables", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TABLE", help=f"all if absent; {', '.join(TABLES)}")
    parser.add_argument("--check", action="store_true", help="compare, and change nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "tables", help="results; what is there is not simulated again")
    parser.add_argument("--jobs", help="processes; all cores if absent")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(TABLES):
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    wanted = arguments.names or list(TABLES)
    jobs = ["--jobs", arguments.jobs] if arguments.jobs else []
    for run in dict.fromkeys(run for name in wanted for run in TABLES[name].runs):
        run.simulate(arguments.out, jobs)
    made = {name: lines(TABLES[name].make(arguments.out)) for name in wanted}
    changed = 0
    for page in PAGES:
        there = {name: table for name, table in tables(page).items() if name in made}
        for name, table in there.items():
            if table != made[name]:
                changed += 1
                print(f"{page.relative_to(ROOT)}: {name}")
                print(*(f"- {line}" for line in table if line not in made[name]), sep="\n")
                print(*(f"+ {line}" for line in made[name] if line not in table), sep="\n")
        if there and not arguments.check:
            replace(page, made)
    return int(arguments.check and changed > 0)


if __name__ == "__main__":
    sys.exit(main())
