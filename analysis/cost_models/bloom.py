"""Bloom filters of inspector joins: equations 5.2 to 5.6."""

from __future__ import annotations

import math

HASHES = 3
"""Hash functions d of the thesis's filters."""
MB = 10**6
"""Megabytes as in Table 5.3."""
BITS = 8


def false_positive_rate(bits_per_key: float, hashes: int = HASHES) -> float:
    """Return the share of tests of keys that are not there that find all bits set (equation 5.2); filters have many bits."""
    if bits_per_key <= 0 or hashes < 1:
        raise ValueError(f"{bits_per_key} bits per key and {hashes} hash functions; both are positive")
    return float((1 - math.exp(-hashes / bits_per_key)) ** hashes)


def bits_per_key(false_positives: float, hashes: int = HASHES) -> float:
    """Return the bits of a filter for each of its keys at a false positive rate: equation 5.2 the other way round (Table 5.2)."""
    if hashes < 1:
        raise ValueError(f"hashes is {hashes}; a filter has one hash function at least")
    # Of a tiny rate, 1 less its root is 1.
    return -hashes / math.log1p(-(_rate(false_positives) ** (1 / hashes)))


def individual_rate(false_positives: float, sub_partitions: int) -> float:
    """Return the rate of each filter of a sub-partition with which all together pass as many probe tuples as one filter (equation 5.6)."""
    if sub_partitions < 1:
        raise ValueError(f"sub_partitions is {sub_partitions}; there is one at least")
    return _rate(false_positives) / sub_partitions


def filter_megabytes(keys: float, false_positives: float, sub_partitions: int = 1, hashes: int = HASHES) -> float:
    """Return the size of all filters of a relation of ``keys`` (equations 5.3 and 5.4), in MB of 10^6 bytes."""
    return keys * bits_per_key(individual_rate(false_positives, sub_partitions), hashes) / BITS / MB


def space_increase(false_positives: float, sub_partitions: int, hashes: int = HASHES) -> float:
    """Return how many times the space of one filter the filters of sub-partitions take (equation 5.5)."""
    return bits_per_key(individual_rate(false_positives, sub_partitions), hashes) / bits_per_key(false_positives, hashes)


def _rate(false_positives: float) -> float:
    if not 0 < false_positives < 1:
        raise ValueError(f"false_positives is {false_positives}; a rate is above 0 and below 1")
    return false_positives
