"""Finds and reads the figures of papers."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memwalk.analysis.experiments.schema import Experiment, panel_experiment
from memwalk.analysis.figures.schema import FigureFile, PaperFile
from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import configs
from memwalk.simcore.validation import nearest, validate
from memwalk.simcore.yaml_source import Sourced, load

PAPER_FILE = "paper.yaml"


@dataclass(frozen=True)
class Figure:
    """A figure file with its experiments put together."""

    paper: str
    file: FigureFile
    experiments: tuple[Experiment, ...]
    path: Path

    @property
    def id(self) -> str:
        """Full id, such as ``thesis-ch2/fig-2.13``."""
        return f"{self.paper}/{self.file.id}"


@dataclass(frozen=True)
class Paper:
    """A paper and its figures, in the order of the text."""

    file: PaperFile
    figures: tuple[Figure, ...]

    @property
    def id(self) -> str:
        """The paper's id."""
        return self.file.id


def papers_folder() -> Path:
    """Name the folder with a folder per paper."""
    return configs() / "papers"


def load_papers() -> list[Paper]:
    """Read every paper. Raises UserError, one line per mistake, with file, line and column."""
    return [load_paper(path.parent) for path in sorted(papers_folder().glob(f"*/{PAPER_FILE}"))]


def load_paper(folder: Path) -> Paper:
    """Read a paper's folder: ``paper.yaml`` and a file per figure. Raises UserError."""
    shared = load(folder / PAPER_FILE)
    paper = validate(PaperFile, shared)
    _same_name(shared, paper.id, folder.name)
    files = sorted((path for path in folder.glob("*.yaml") if path.name != PAPER_FILE), key=_in_text_order)
    figures = tuple(load_figure(path, paper.id, shared) for path in files)
    _once((claim.id, figure) for figure in figures for claim in figure.file.claims)
    _repeats_known(figures)
    return Paper(paper, figures)


def load_figure(path: Path, paper: str, shared: Sourced) -> Figure:
    """Read a figure file; its experiments may name parts of ``shared`` (the paper's file) as ``base``."""
    source = load(path)
    file = validate(FigureFile, source)
    _same_name(source, file.id, path.stem)
    experiments = tuple(
        panel_experiment(_with_bases(source.below(("experiments", name)), shared), name, path.parent) for name in file.experiments
    )
    return Figure(paper, file, experiments, path)


def find_figures(name: str, papers: Iterable[Paper]) -> list[Figure]:
    """Find the figures that ``name`` asks for: ``all``, a paper, or a figure with or without its paper before it.

    Raises UserError with the nearest names for an unknown one, and for a figure id that several papers have.
    """
    papers = list(papers)
    everything = [figure for paper in papers for figure in paper.figures]
    if name == "all":
        return everything
    found = [figure for figure in everything if name in (figure.paper, figure.id, figure.file.id)]
    if len({figure.paper for figure in found}) > 1:
        raise UserError(f"`{name}` is in several papers; name one of {', '.join(figure.id for figure in found)}")
    if not found:
        raise UserError(f"no figure or paper is called `{name}`; {_meant(name, papers, everything)}")
    return found


def _meant(name: str, papers: Sequence[Paper], figures: Sequence[Figure]) -> str:
    """Say which name was probably meant, or what names there are: of figures whose short names several papers have, the full ones."""
    called: dict[str, list[str]] = {one: [one] for one in ("all", *(paper.id for paper in papers), *(figure.id for figure in figures))}
    for figure in figures:
        called.setdefault(figure.file.id, []).append(figure.id)
    if close := difflib.get_close_matches(name, called, n=1):
        full = called[close[0]]
        return f"did you mean {' or '.join(f'`{one}`' for one in (full if len(full) > 1 else close))}?"
    ids = ", ".join(paper.id for paper in papers)
    return f"write all, a paper ({ids}) or one of the figures that `memwalk list figures` names"


def _with_bases(panel: Sourced, shared: Sourced) -> Sourced:
    """Lays the parts named by ``base`` under the panel, and keeps the variants that it lists, in its order."""
    bases = panel.data.get("base", [])
    merged = Sourced.uniform({}, panel.spot(()).value)
    for index, name in enumerate(bases if isinstance(bases, list) else [bases]):
        known = shared.data.get("bases", {})
        if name not in known:
            route = ("base", index) if isinstance(bases, list) else ("base",)
            raise panel.error(route, f"`{name}` is not a base of this paper; {nearest(str(name), known)}")
        merged = merged.merged(shared.below(("bases", name)))
    own = panel.without(["base"])
    chosen = own.data.get("variants")
    if isinstance(chosen, list):
        own = own.without(["variants"])
    merged = merged.merged(own)
    return _choose(merged, panel, chosen) if isinstance(chosen, list) else merged


def _choose(merged: Sourced, panel: Sourced, chosen: list[str]) -> Sourced:
    known = merged.data.get("variants", {})
    for index, name in enumerate(chosen):
        if name not in known:
            raise panel.error(("variants", index), f"`{name}` is not a series of the bases; {nearest(str(name), known)}")
    kept = merged.without(["variants"])
    for name in chosen:
        kept = kept.replaced(("variants", name), merged.below(("variants", name)))
    return kept


def _same_name(source: Sourced, given: str, name: str) -> None:
    if given != name:
        raise source.error(("id",), f"id `{given}` is not the file's name; write `{name}`")


def _once(claims: Iterable[tuple[str, Figure]]) -> None:
    seen: dict[str, Figure] = {}
    for name, figure in claims:
        if name in seen:
            raise UserError(f"{figure.path}: claim `{name}` is in {seen[name].path.name} already; give it once")
        seen[name] = figure


def _repeats_known(figures: Iterable[Figure]) -> None:
    claims = [(claim, figure) for figure in figures for claim in figure.file.claims]
    known = {claim.id for claim, _ in claims}
    for claim, figure in claims:
        for other in claim.repeated:
            if other not in known - {claim.id}:
                raise UserError(f"{figure.path}: claim {claim.id} repeats `{other}`, which is no other claim; {nearest(other, known)}")


def _in_text_order(path: Path) -> tuple[int, list[int], str]:
    """Sections, then tables and figures, by number."""
    kind, _, number = path.stem.partition("-")
    order = {"section": 0, "tab": 1, "fig": 2}.get(kind, 3)
    return order, [int(part) for part in number.split(".") if part.isdigit()], path.stem
