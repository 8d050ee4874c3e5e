//! Places in the code that tells whether a relation is nearly sorted.

use crate::join::filter::Site as Filter;
use crate::join::sites::Site as Join;

/// The sites before these, whether there are filters or not.
struct Before;

impl Before {
    const NAMES: [(); Join::NAMES.len() + Filter::NAMES.len()] =
        [(); Join::NAMES.len() + Filter::NAMES.len()];
}

crate::tracer::sites! {
    behind Before;
    InOrder = "is the key not less than the last?",
    KeptChange = "keep a tuple back that is in order",
    Kept = "a tuple that was kept back",
    OrderBufferFull = "is there no room for tuples out of order?",
}
