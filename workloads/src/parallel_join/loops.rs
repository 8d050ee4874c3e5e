//! Loops over tuples, which all phases of all joins have.

use super::costs::LOOP;
use super::sites::Site;
use crate::tracer::{Dep, Trace};

/// A loop over tuples goes on.
#[inline]
pub(super) fn next_tuple<T: Trace>(trace: &mut T) {
    trace.work(LOOP);
    trace.branch(Site::TuplesLeft, true, Dep::NONE);
}

/// It ends.
#[inline]
pub(super) fn last_tuple<T: Trace>(trace: &mut T) {
    trace.branch(Site::TuplesLeft, false, Dep::NONE);
}
