"""Our papers, read once for all tests: reading them takes seconds."""

from functools import cache

from memwalk.analysis.figures.load import Paper, load_papers


@cache
def every_paper() -> tuple[Paper, ...]:
    """Return every paper; nobody changes one."""
    return tuple(load_papers())


def the_paper(name: str) -> Paper:
    """Return the paper with an id."""
    (found,) = [one for one in every_paper() if one.id == name]
    return found
