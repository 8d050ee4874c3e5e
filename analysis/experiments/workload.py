"""Workloads as experiments write them; the same names as in `workloads/src`, sizes with or without a unit."""

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, TypeAdapter, WithJsonSchema, model_validator

from memwalk.simcore.units import Bytes, Count, PositiveCount, Real, to_bytes, to_count
from memwalk.simcore.validation import StrictModel


def _size(value: Any) -> Any:
    return to_bytes(value) if isinstance(value, str) else value


def _fraction(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"`{value}` is no share; write more than 0 and at most 1")
    return value


def _warm_up(value: Any) -> Any:
    if value == "auto":
        return value
    try:
        count = to_count(value)
    except ValueError:
        count = 0
    if count < 1:
        raise ValueError(f"`{value}` is no warm-up; write `auto` or how many operations, 1 or more (or `caches: empty` for none)")
    return count


def _check_warm_up(caches: str, warm_up: int | str | None) -> None:
    """Raise ValueError for a warm-up that would have no effect."""
    if caches != "warm" and warm_up is not None:
        raise ValueError(f"warm_up is for warm caches, and caches is {caches}; remove it, or set caches: warm")


def _warmed(caches: str) -> dict[str, Any]:
    """Return what is meant where nothing is said about the warm-up."""
    return {"warm_up": "auto"} if caches == "warm" else {}


_SIZE_SCHEMA = WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, TypeAdapter(Bytes).json_schema()]})
Size = Annotated[PositiveCount, BeforeValidator(_size), _SIZE_SCHEMA]
"""A size in bytes: ``64`` or ``64B``."""
Share = Annotated[Real, AfterValidator(_fraction)]
"""A share in (0, 1]."""


WarmUp = Annotated[PositiveCount | Literal["auto"], BeforeValidator(_warm_up)]
"""Operations before the measurement: ``auto``, or so many."""


# Limits of the simulator's, where it keeps a number in 32 bits. The others it tells itself.
_NODE = 64
_LINE = 1024
_PAGE = 1 << 15
_WORD = 8
_ATTRIBUTES = 512


_Attributes = Annotated[PositiveCount, Field(le=_ATTRIBUTES)]


class Tree(StrictModel):
    """A B+-tree or CSB+-tree, its node width, and how it prefetches (thesis 2.2 and 2.3)."""

    kind: Literal["b+", "csb+"]
    node_lines: PositiveCount = Field(1, le=_NODE)
    prefetch: StrictBool = False
    jump_pointers: Literal["none", "external", "internal"] = "none"
    distance_nodes: PositiveCount | None = Field(None, le=_NODE, description="Leaves prefetched ahead; jump pointers only; 3 if absent")
    chunk_lines: PositiveCount | None = Field(None, le=_NODE, description="Lines per chunk; external jump pointers only; 3 if absent")
    chunk_fill: Share | None = Field(None, description="Share of a new chunk in use; external jump pointers only; 0.8 if absent")

    @model_validator(mode="after")
    def _applicable(self) -> "Tree":
        if self.jump_pointers == "none" and self.distance_nodes is not None:
            raise ValueError("distance_nodes is for trees with jump pointers; remove it or set jump_pointers")
        if self.jump_pointers != "external" and (self.chunk_lines is not None or self.chunk_fill is not None):
            raise ValueError("chunk_lines and chunk_fill are for external jump pointers; remove them or set jump_pointers: external")
        return self

    def native(self) -> dict[str, Any]:
        """Return the tree as the kernels take it, with the defaults that apply and nothing else."""
        given = self.model_dump(exclude_none=True)
        defaults: dict[str, Any] = {}
        if self.jump_pointers != "none":
            defaults["distance_nodes"] = 3
        if self.jump_pointers == "external":
            defaults |= {"chunk_lines": 3, "chunk_fill": 0.8}
        return defaults | given


class Index(StrictModel):
    """Searches, insertions, deletions or scans on a tree index."""

    kernel: Literal["index"]
    operation: Literal["search", "insert", "delete", "scan"]
    tree: Tree
    word_bytes: Size = Field(4, le=_WORD, description="Size of a key, a pointer and a tupleID: 4 or 8")
    line_bytes: Size = Field(64, le=_LINE)
    keys: PositiveCount = Field(description="Index entries before the operations")
    fill: Share = 1.0
    maturity: Literal["bulkloaded", "mature"] = "bulkloaded"
    operations: PositiveCount
    range: PositiveCount | None = Field(None, description="TupleIDs per scan; scans only")
    buffer_bytes: Size | None = Field(None, description="Return buffer that a scan fills again and again; scans only; 4KiB if absent")
    caches: Literal["warm", "empty", "cold"] = Field(
        "warm", description="Before the first operation: warmed up, or empty; or cold: emptied before every operation"
    )
    warm_up: WarmUp | None = Field(
        None, description="Operations before the measurement; warm caches only; `auto` if absent: until misses are steady"
    )
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "Index":
        _check_warm_up(self.caches, self.warm_up)
        if self.operation == "scan" and self.range is None:
            raise ValueError("a scan needs `range`, the tupleIDs it returns")
        for name, value in (("range", self.range), ("buffer_bytes", self.buffer_bytes)):
            if self.operation != "scan" and value is not None:
                raise ValueError(f"{name} is for scans, and operation is {self.operation}; remove it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload as the kernels take it."""
        defaults = _warmed(self.caches) | ({"buffer_bytes": 4096} if self.operation == "scan" else {})
        return defaults | self.model_dump(exclude_none=True) | {"tree": self.tree.native()}


class _Pointers(StrictModel):
    lines: PositiveCount = Field(description="Lines visited")
    line_bytes: Size = Field(128, le=_LINE)
    word_bytes: Size = Field(8, le=_WORD)
    page_bytes: Size = Field(16384, le=1 << 30)
    pages: PositiveCount = 64
    seed: Count = 1

    def native(self) -> dict[str, Any]:
        """Return the workload as the kernels take it."""
        return self.model_dump()


class PointerArray(_Pointers):
    """Visits lines through an array of pointers, prefetching ahead: measures T_next (thesis 2.4.4)."""

    kernel: Literal["pointer-array"]
    distance_lines: Count = Field(description="Lines prefetched ahead; 0 does not prefetch")


class PointerChase(_Pointers):
    """Follows a chain of pointers from line to line: measures T1, and the cost of a TLB miss (thesis 2.4.1)."""

    kernel: Literal["pointer-chase"]
    tlb: Literal["warm", "cold"] = "warm"


Reconstruction: TypeAlias = Annotated[
    Literal["index", "merge", "position"],
    Field(description="dsm: values found through an index on record numbers, or stored alone and scanned together or read by position"),
]


class Table(StrictModel):
    """A relation in pages: scans, point queries and updates. Attributes are numbered from 1; so many in a row are meant."""

    kernel: Literal["table"]
    operation: Literal["scan", "point", "update"]
    layout: Literal["nsm", "pax", "dsm", "standard-row", "super-row", "super-column"]
    reconstruction: Reconstruction = "index"
    page_bytes: Size = Field(8192, le=_PAGE)
    header_bytes: Size = Field(32, le=_PAGE, description="Bytes at the beginning of a page that hold no records")
    attributes: _Attributes = 8
    attribute_bytes: Size = Field(8, le=_WORD, description="Size of every attribute: 4 or 8")
    records: PositiveCount
    predicates: _Attributes = Field(1, description="Attributes with a predicate; the first selects, the others hold always")
    first_predicate: _Attributes = 1
    selectivity: Real = Field(0.1, ge=0, le=1, description="Share of the records that the first predicate selects")
    projected: _Attributes = Field(1, description="Attributes that are read, or changed by an update")
    first_projected: _Attributes = Field(1, description="The first of these")
    aggregate: StrictBool = Field(True, description="Whether a scan sums up what it reads, or returns it")
    point_queries: PositiveCount = 10_000
    abstraction: list[PositiveCount] = Field(default_factory=list, description="Stores for reading: tuples per tuple of the level above")
    level_attributes: list[_Attributes] = Field(default_factory=list, description="Stores for reading: attributes of each level")
    prefetch_bytes: Size = Field(256 << 20, description="Super tuples of columns: memory to read ahead into, shared by the columns")
    caches: Literal["warm", "empty", "cold"] = Field(
        "empty", description="Before the first operation: warmed up, or empty; or cold: emptied before every point query"
    )
    warm_up: WarmUp | None = Field(
        None, description="Point queries, or scans of the whole relation, before the measurement; warm caches only; `auto` if absent"
    )
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "Table":
        _check_warm_up(self.caches, self.warm_up)
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload as the kernels take it."""
        return _warmed(self.caches) | self.model_dump(exclude_none=True)


TpchTable = Literal["lineitem", "orders", "partsupp", "part", "customer", "supplier", "nation", "region"]

_RANGE = {"predicates": ["l_partkey"], "selectivity": 0.1}
_OF_QUERY: dict[str, dict[str, Any]] = {
    "rs": _RANGE | {"project": ["l_extendedprice"]},
    "update": _RANGE | {"change": ["l_extendedprice"]},
    "load": {"tables": list(get_args(TpchTable))},
}
"""Parameters that only some queries of TPC-H have, with their defaults."""


class Tpch(StrictModel):
    """A query of TPC-H, a range selection, a load or an update on its generated tables."""

    kernel: Literal["tpch"]
    query: Literal["q1", "q6", "q12", "q14", "rs", "load", "update"]
    layout: Literal["nsm", "pax", "dsm"]
    reconstruction: Reconstruction = "index"
    scale_factor: Real = Field(gt=0, description="Size of the database: 0.1 is 100 MB of text")
    page_bytes: Size = Field(8192, le=_PAGE)
    pool_bytes: Size = Field(128 << 20, description="Buffer pool: pages of a larger table share its frames")
    heap_bytes: Size = Field(64 << 20, description="What hash tables may take before partitions go to storage")
    threshold: Real = Field(0.0, ge=0, le=1, description="PAX: share of a page that must be free to reorganize it")
    tables: list[TpchTable] | None = Field(None, description="Loads only; all if absent")
    predicates: list[str] | None = Field(None, description="Attributes of Lineitem; the first selects, the others hold always")
    selectivity: Real | None = Field(None, ge=0, le=1, description="Share of the line items that the first predicate selects")
    project: list[str] | None = Field(None, description="Attributes that a range selection returns")
    change: list[str] | None = Field(None, description="Attributes that an update adds 1 to")
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "Tpch":
        for name in ("tables", "predicates", "selectivity", "project", "change"):
            if getattr(self, name) is not None and name not in _OF_QUERY.get(self.query, {}):
                those = " and ".join(query for query, own in _OF_QUERY.items() if name in own)
                raise ValueError(f"{name} is for {those}, and query is {self.query}; remove it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload as the kernels take it, with the defaults that apply and nothing else."""
        return _OF_QUERY.get(self.query, {}) | self.model_dump(exclude_none=True)


Workload = Annotated[Index | PointerArray | PointerChase | Table | Tpch, Field(discriminator="kernel")]
"""Any workload; ``kernel`` says which."""
