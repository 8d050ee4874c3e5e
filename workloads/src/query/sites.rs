//! The static places of the operators that events name; those of pages follow them.

crate::tracer::sites! {
    LowerBound = "predicate: lower bound",
    UpperBound = "predicate: upper bound",
    String = "predicate: string",
    OtherAttribute = "predicate: other attribute",
    List = "list of record numbers",
    Bucket = "hash bucket",
    Hash = "hash of the key",
    EntryKey = "hash entry: key",
    EntryRest = "hash entry: other attributes",
    EntryLink = "hash entry: next",
    Match = "hash entry: match?",
    GroupKey = "group key",
    Group = "group found?",
    Accumulator = "accumulator",
    Product = "product",
    Log = "log record",
    Output = "returned record",
}
