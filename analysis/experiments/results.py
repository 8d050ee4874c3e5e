"""Result tables: one row per point, and the long breakdown by phase, segment and cause."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from memwalk.analysis.causes import SLOTS_ENDED
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.simulation import BYTE_USAGE, CORES, COUNTS, CURVE, STORAGE_STATISTICS
from memwalk.analysis.experiments.slower import BESIDE_TIME
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.storage_workloads.columns import PARAMETERS
from memwalk.simcore.engines.native import Statistics

BY_SITE = "sites"
"""Where the statistics of a replayed trace have its breakdown by site."""

_UNSIGNED = frozenset({"checksum"})
"""Columns of full 64-bit values; every other whole number fits a signed one."""

_TEXTS = frozenset({"experiment", "variant", "point", "phase", "segment", "site", "cause"})
_FRACTIONS = frozenset({"miss_ratio"})
"""With `_TEXTS` the columns of tables that may be empty which are no whole numbers."""

OTHER_CORES = "other_cores"
"""Who serves a line that comes from another core's caches."""


def table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the tidy result table: ``experiment``, ``variant``, ``point``, the parameters, the flattened statistics.

    ``statistics`` is keyed by point id. Parameters that a row does not have are missing values. Slots are graduation
    slots (issue width x cycles), times are cycles, everything else counts events; see docs/architecture.md.
    """
    flat = {row.point.id: _clock(row.point.machine) | flatten(statistics[row.point.id]) for row in rows}
    trees = [statistics[row.point.id] for row in rows]
    times = [tree.get(STORAGE_TIME, {}) | tree.get(BESIDE_TIME, {}) for tree in trees]
    records = [_place(row) | row.parameters | flat[row.point.id] | time for row, time in zip(rows, times, strict=True)]
    parameters = dict.fromkeys(key for row in rows for key in row.parameters)
    measured = dict.fromkeys([*(key for row in rows for key in flat[row.point.id]), *(key for time in times for key in time)])
    return _frame(records, ["experiment", "variant", "point", *parameters, *measured])


def _clock(machine: Mapping[str, Any]) -> dict[str, int]:
    """Return what turns cycles of a point into seconds, and slots into cycles; nothing if there is no machine."""
    return {"clock_hz": machine["clock_hz"], "issue_width": machine["core"]["issue_width"]} if machine else {}


def is_parameter(column: str) -> bool:
    """Tell what was asked for in a result table from what was found."""
    return column in ("experiment", "variant", "point") or column.startswith(tuple(f"{part}." for part in PARAMETERS))


def phase_slots(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Sum the breakdown by phase: a row per point in their order, and a column ``slots_in_<phase>`` for each phase of any."""
    records = []
    for row in rows:
        sums: dict[str, float] = {}
        for part in statistics[row.point.id].get("breakdown", ()):
            name = f"slots_in_{part['phase']}"
            sums[name] = sums.get(name, 0.0) + part["slots"]["total"]
        records.append(sums)
    return pd.DataFrame(records)


def breakdown_table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the long table: one row per point, phase, segment and cause, with its ``slots``; points on storage have none.

    ``accesses``, ``served_<level>``, ``walks`` and ``false_sharing`` belong to phase and segment: they are repeated for every cause.
    """
    return _long_table(rows, statistics, "breakdown", "segment")


def sites_table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the same table with the ``site`` that made the last access, which is where the code did so, in place of the segment."""
    return _long_table(rows, statistics, BY_SITE, "site")


def _long_table(rows: Sequence[Row], statistics: Mapping[str, Statistics], breakdown: str, place: str) -> pd.DataFrame:
    """Make a table of causes out of the statistics' ``breakdown``, whose parts name a ``place``."""
    records = []
    columns = dict.fromkeys(["experiment", "variant", "point", "phase", place, "cause", "slots", "accesses"])
    for row in _each_once(rows):
        tree = statistics[row.point.id]
        if STORAGE_STATISTICS in tree:
            continue
        levels = servers(tree)
        columns |= dict.fromkeys(f"served_{level}" for level in levels)
        for part in tree.get(breakdown, ()):
            shared = _place(row) | {"phase": part["phase"], place: part[place], "accesses": part["accesses"]}
            shared |= {f"served_{level}": count for level, count in zip(levels, part["served"], strict=True)}
            shared |= {name: part[name] for name in ("walks", "false_sharing") if name in part}
            records += [shared | {"cause": cause, "slots": slots} for cause, slots in causes(part["slots"]).items()]
    coherent = ["false_sharing"] if any("false_sharing" in record for record in records) else []
    return _frame(records, [*columns, "walks", *coherent])


def _each_once(rows: Sequence[Row]) -> list[Row]:
    """Leave out rows whose point stands in the same variant before: what a long table says of it, it says once."""
    return list({tuple(_place(row).values()): row for row in rows}.values())


def servers(tree: Statistics) -> list[str]:
    """List who may serve a line: the data caches, nearest first, memory, and other cores, if they have to be asked."""
    others = [OTHER_CORES] if "coherence" in tree else []
    return [*(cache["name"] for cache in tree["caches"]), "memory", *others]


def cores_table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the table of cores: one row per point and ``core`` of runs on several, with the columns of `table`; its workload's are there."""
    records = []
    for row in _each_once(rows):
        for core, tree in enumerate(statistics[row.point.id].get(CORES, ())):
            records.append(_place(row) | {"core": core} | flatten(tree | {"workload": {}}))
    return _frame(records, list(dict.fromkeys(["experiment", "variant", "point", "core", *(key for record in records for key in record)])))


def curve_table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the table of miss curves: one row per point and capacity, with ``capacity_bytes``, ``ways``, ``misses``, ``miss_ratio``."""
    records = []
    for row in _each_once(rows):
        if curve := statistics[row.point.id].get(CURVE):
            steps = zip(*curve.values(), strict=True)
            records += [_place(row) | dict(zip(curve, step, strict=True)) for step in steps]
    return _frame(records, ["experiment", "variant", "point", "capacity_bytes", "ways", "misses", "miss_ratio"])


def usage_table(rows: Sequence[Row], statistics: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the table of byte usage: one row per point, phase and site, with ``lines`` and ``fetched`` and ``used`` bytes."""
    records = []
    for row in _each_once(rows):
        for part in statistics[row.point.id].get(BYTE_USAGE, {}).get("rows", []):
            bytes_ = {"fetched_bytes": part["fetched_bytes"], "used_bytes": part["used_bytes"]}
            records.append(_place(row) | {"phase": part["phase"], "site": part["site"], "lines": part["lines"]} | bytes_)
    return _frame(records, ["experiment", "variant", "point", "phase", "site", "lines", "fetched_bytes", "used_bytes"])


def causes(slots: Mapping[str, Any]) -> dict[str, int]:
    """List slots by cause, the data cache by serving level (``dcache_L2``); the values sum to the total."""
    parts: dict[str, int] = {}
    for name, value in slots.items():
        if name == "dcache":
            parts |= {f"dcache_{level}": count for level, count in value.items()}
        elif name != "total":
            parts[name] = value
    return parts


def flatten(statistics: Statistics) -> dict[str, Any]:
    """Turn a statistics tree into one row: ``slots_dcache_L2``, ``L1_misses``, ``dtlb_walks``, ``operations``, ...

    A workload on storage says itself which columns it has.
    """
    if STORAGE_STATISTICS in statistics:
        return dict(statistics[STORAGE_STATISTICS])
    slots = statistics["slots"]
    flat: dict[str, Any] = {name: statistics[name] for name in ("cycles", "instructions", "events")}
    flat["slots_total"] = slots["total"]
    for cause, count in causes(slots).items():
        if cause.startswith("dcache_") and "slots_dcache" not in flat:
            flat["slots_dcache"] = sum(slots["dcache"].values())
        flat[f"slots_{cause}"] = count
    for cache in statistics["caches"]:
        counts = {key: value for key, value in cache.items() if key not in ("name", "prefetchers", "shared")}
        counts |= {f"prefetches_{key}": value for key, value in cache.get("prefetchers", {}).items()}
        flat |= {f"{cache['name']}_{key}": value for key, value in counts.items()}
    flat |= _code(statistics)
    dtlb = statistics["dtlb"]
    flat["dtlb_accesses"] = dtlb["accesses"]
    flat |= {f"dtlb_hits_{level}": count for level, count in enumerate(dtlb["hits"], start=1)}
    flat |= {f"dtlb_{key}": dtlb[key] for key in ("walks", "walk_reads") if key in dtlb}
    for group in ("branches", "prefetches", "bus"):
        flat |= {f"{group}_{key}": value for key, value in statistics[group].items()}
    for memory in statistics.get("memories", ()):
        flat |= {f"memory_{memory['name']}_{key}": count for key, count in memory.items() if key != "name"}
    for group in ("coherence", "readings"):
        flat |= {f"{group}_{key}": count for key, count in statistics.get(group, {}).items()}
    if "cache_flushes" in statistics:
        flat["cache_flushes"] = statistics["cache_flushes"]
    if usage := statistics.get(BYTE_USAGE):
        flat |= {name: sum(row[name] for row in usage["rows"]) for name in ("fetched_bytes", "used_bytes")}
    for cache in statistics.get(COUNTS, {}).get("caches", ()):
        flat |= {f"{COUNTS}_{cache['name']}_{key}": cache[key] for key in ("accesses", "hits", "misses", "write_backs")}
    if cores := statistics.get(CORES):
        flat[CORES] = len(cores)
        longest = max(core["slots"]["total"] for core in cores)
        flat[SLOTS_ENDED] = len(cores) * longest - slots["total"]
    flat |= statistics["workload"]
    return flat


def _code(statistics: Statistics) -> dict[str, Any]:
    """List what is known of code: ``instruction_cache_misses``, ``instruction_cache_served_<level>``, ``calls_<name>``, ...

    ``retired_<n>`` are the cycles in which n instructions graduated.
    """
    cache, calls = dict(statistics.get("instruction_cache", {})), statistics.get("calls", {})
    by_level = cache.pop("served", {})
    served = {f"served_{level}": count for level, count in by_level.items()}
    flat = {f"instruction_cache_{key}": value for key, value in (cache | served).items()}
    flat |= _misses_by_kind(statistics, by_level)
    flat |= {f"calls_{key}": value for key, value in calls.items() if key != "runs"}
    flat |= {f"calls_{name}": count for name, count in calls.get("runs", {}).items()}
    return flat | {f"retired_{number}": cycles for number, cycles in enumerate(statistics.get("retired", []))}


def _misses_by_kind(statistics: Statistics, served: Mapping[str, int]) -> dict[str, int]:
    """Split the misses of the levels that code and data share: ``L2_code_misses``, ``L2_data_misses``.

    ``served`` are misses of the instruction cache by who had the line; nothing if there is none. Other cores are asked before what
    all share.
    """
    flat: dict[str, int] = {}
    if not served:
        return flat
    behind = sum(served.values()) - served.get(OTHER_CORES, 0)
    for cache in statistics["caches"][1:]:
        level = cache["name"]
        behind -= served[level]
        flat[f"{level}_code_misses"] = behind + (0 if cache.get("shared") else served.get(OTHER_CORES, 0))
        flat[f"{level}_data_misses"] = cache["misses"] - flat[f"{level}_code_misses"]
    return flat


def parameter_columns(results: pd.DataFrame) -> list[str]:
    """List the columns of a result table that hold parameters."""
    return [name for name in results.columns if is_parameter(name) and "." in name]


def varying_in_variants(results: pd.DataFrame) -> list[str]:
    """List the parameter columns of a result table that take more than one value in some variant: the others follow from its name."""
    variants = [rows for _, rows in results.groupby(["experiment", "variant"], dropna=False)]
    return [name for name in parameter_columns(results) if any(rows[name].nunique(dropna=False) > 1 for rows in variants)]


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Write a table as Parquet. The same table gives the same bytes: no time, host or worker enters."""
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), content, compression="zstd")
    return content.getvalue()


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `parquet_bytes` made."""
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame


def _place(row: Row) -> dict[str, Any]:
    return {"experiment": row.experiment, "variant": row.variant, "point": row.point.id}


def _frame(records: list[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({name: _series(name, [record.get(name) for record in records]) for name in columns})


def _series(name: str, values: list[Any]) -> "pd.Series[Any]":
    """Make a column whose type depends on its kind of value only: missing whole numbers do not turn it to floats.

    A column without values has the type that it has with some, so that tables can be read together.
    """
    present = [value for value in values if value is not None]
    complete = len(present) == len(values)
    if not present and (name in _TEXTS or name in _FRACTIONS):
        return pd.Series(values, dtype="str" if name in _TEXTS else "float64")
    if present and all(isinstance(value, bool) for value in present):
        return pd.Series(values, dtype="bool" if complete else "boolean")
    if all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        kind = "UInt64" if name in _UNSIGNED else "Int64"
        return pd.Series(values, dtype=kind.lower() if complete else kind)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pd.Series(values, dtype="float64")
    return pd.Series([None if value is None else str(value) for value in values], dtype="str")
