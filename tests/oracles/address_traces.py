"""Four address traces that other simulators were run on: the same bytes on every machine and under every NumPy.

Random numbers are SplitMix64 of a counter, so NumPy's own generators do not matter. Every address is that of a read, from
`BASE` on.

- `seq` reads word after word of 8 bytes, round and round through 256 MiB.
- `rand` reads any of the words of 256 MiB, all equally often.
- `zipf` reads the starts of 2**20 lines of 64 bytes, the k-th most frequent in proportion to k**-0.99, scattered over memory.
- `btree` walks from the root to a leaf of a tree of 64-byte nodes with 8 children, laid out level by level, once for each of
  many leaves drawn at random: the nodes of a bulk-loaded B+-tree of ten million keys, 8 to a leaf.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

BASE = 0x1000_0000
LENGTH = 20_000_000
"""Accesses of each trace when it is used whole."""
LINE = 64
WORD = 8
REGION = 256 << 20
ZIPF_LINES, ZIPF_EXPONENT = 1 << 20, 0.99
TREE_KEYS, FANOUT = 10_000_000, 8

SHA256 = {
    "seq": "b13c09d380c8f7d5040f46687b756e1ad86fcfe20984ddb77d92841d87005baa",
    "rand": "d2108fd7b5c367608bab8ae7acc7f5de366b6b8b313a108bef16726e5d4d981a",
    "zipf": "61fe226717cfb30e13fe694510b73eafaf2f8a216e3505fc080bf409f870f7b9",
    "btree": "1b912b499242616bd15fdc47c17b29a017d8fe7949d2927441814f479cbc505f",
}
"""Of the little-endian addresses of each whole trace."""


def splitmix64(stream: int, count: int) -> Words:
    """The first ``count`` outputs of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), seeded by the number of the stream."""
    seed = stream * 0xD134_2543_DE82_EF95 % 2**64
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15) + np.uint64(seed)
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58_476D_1CE4_E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D0_49BB_1331_11EB)
    return state ^ state >> np.uint64(31)


def uniform(stream: int, count: int, bound: int) -> Words:
    """``count`` numbers below ``bound``, itself below 2**32: the high half of a product with 32 random bits."""
    return (splitmix64(stream, count) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)


def seq(count: int) -> Words:
    return np.arange(count, dtype=np.uint64) * np.uint64(WORD) % np.uint64(REGION)


def rand(count: int) -> Words:
    return uniform(1, count, REGION // WORD) * np.uint64(WORD)


def zipf(count: int) -> Words:
    weights = np.arange(1, ZIPF_LINES + 1, dtype=np.float64) ** -ZIPF_EXPONENT
    cumulated = np.cumsum(weights)
    fractions = (splitmix64(2, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    ranks = np.searchsorted(cumulated, fractions * cumulated[-1], side="right")
    places = np.argsort(splitmix64(3, ZIPF_LINES), kind="stable").astype(np.uint64)
    return places[np.minimum(ranks, ZIPF_LINES - 1)] * np.uint64(LINE)


def btree(count: int) -> Words:
    nodes = [-(-TREE_KEYS // FANOUT)]
    while nodes[-1] > 1:
        nodes.append(-(-nodes[-1] // FANOUT))
    leaves = uniform(4, -(-count // len(nodes)), nodes[0])
    walks = np.empty((len(leaves), len(nodes)), dtype=np.uint64)
    first_node = 0
    for level, height in enumerate(reversed(range(len(nodes)))):
        walks[:, level] = np.uint64(first_node) + leaves // np.uint64(FANOUT**height)
        first_node += nodes[height]
    return walks.reshape(-1)[:count] * np.uint64(LINE)


TRACES: dict[str, Callable[[int], Words]] = {"seq": seq, "rand": rand, "zipf": zipf, "btree": btree}


def addresses(name: str, count: int = LENGTH) -> Words:
    """Make one trace, or its beginning."""
    return TRACES[name](count) + np.uint64(BASE)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in TRACES:
        np.save(folder / f"{name}.npy", addresses(name))
