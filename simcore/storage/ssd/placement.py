"""Which program of a flash page each block of a drive lies in."""

from collections.abc import Iterator


class Placement:
    """Programs are numbered, and go to the planes in turn: so a program's number says its plane.

    The drive has been filled once, block after block: page 0 by program 0, page 1 by program 1. What is written goes into the
    programs behind these, in the order in which it comes, wherever its block was before.

    A page keeps 8 bytes for each of its blocks from its first write on, 2% of what it holds.
    """

    def __init__(self, blocks: int, page_blocks: int) -> None:
        """Lay out a drive of ``blocks`` blocks that is full, in pages of ``page_blocks``."""
        self.page_blocks = page_blocks
        self.filling = -(-blocks // page_blocks)
        """The program that written blocks wait for."""
        self._filled = 0
        self._rewritten: dict[int, list[int]] = {}  # the programs of the blocks of a page

    def room(self) -> int:
        """Return how many blocks the program that is filling has room for: one at least."""
        return self.page_blocks - self._filled

    def write(self, block: int, blocks: int) -> bool:
        """Put blocks into the program that is filling, at most as many as there is `room` for; returns whether that is full now."""
        for page, first, taken in self._pages(block, blocks):
            programs = self._rewritten.setdefault(page, [page] * self.page_blocks)
            programs[first : first + taken] = [self.filling] * taken
        self._filled += blocks
        is_full = self._filled == self.page_blocks
        if is_full:
            self._filled = 0
            self.filling += 1
        return is_full

    def programs(self, block: int, blocks: int) -> dict[int, int]:
        """Cut blocks by the programs that they lie in: how many of them each has, whichever pages these are of."""
        programs: dict[int, int] = {}
        for page, first, taken in self._pages(block, blocks):
            rewritten = self._rewritten.get(page)
            if rewritten is None:
                programs[page] = taken
            else:
                for program in rewritten[first : first + taken]:
                    programs[program] = programs.get(program, 0) + 1
        return programs

    def _pages(self, block: int, blocks: int) -> Iterator[tuple[int, int, int]]:
        """Cut blocks at the ends of pages: each page, the first of its blocks that is wanted, and how many."""
        end = block + blocks
        while block < end:
            page, first = divmod(block, self.page_blocks)
            taken = min(end - block, self.page_blocks - first)
            yield page, first, taken
            block += taken
