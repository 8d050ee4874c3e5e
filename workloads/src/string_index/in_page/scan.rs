//! Scans of a page, and prefetching of leaf nodes ahead of them along their chain.

use super::{InPageTree, PLACE};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::string_index::Site;
use crate::string_index::area::{LINK, STEP};
use crate::string_index::format::{Position, Scan};
use crate::tracer::{Dep, Trace};

/// The leaf node that was prefetched last; none behind the last of the page.
type Ahead = Option<(u32, Dep)>;

impl InPageTree {
    /// Scans a page from a position on; whether the scan is over.
    pub(super) fn scan_page<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, '_>,
    ) -> bool {
        let (mut number, mut dep, mut slot) = (from.node, from.dep, from.slot);
        let mut ahead = (scan.distance > 0).then_some((number, dep));
        for _ in 0..scan.distance {
            ahead = self.advance(trace, pool, page, ahead);
        }
        loop {
            let node = self.node(page, number, dep);
            if node.scan(trace, pool, slot, scan) {
                return true;
            }
            let next: Loaded<u16> = node.load_header(trace, pool, LINK);
            trace.work(STEP);
            trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
            if next.value == 0 {
                return false;
            }
            trace.work(PLACE);
            (number, dep, slot) = (next.value.into(), next.token.after(PLACE as u8), 0);
            ahead = self.advance(trace, pool, page, ahead);
        }
    }

    /// Prefetches one more leaf node, if the page has another.
    fn advance<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed, ahead: Ahead) -> Ahead {
        let (number, dep) = ahead?;
        let next: Loaded<u16> = self.node(page, number, dep).load_header(trace, pool, LINK);
        trace.work(STEP);
        trace.branch(Site::NodeLoop, next.value > 0, next.token.after(1));
        if next.value == 0 {
            return None;
        }
        trace.work(PLACE);
        let (number, dep) = (next.value.into(), next.token.after(PLACE as u8));
        self.prefetch(trace, pool, &self.node(page, number, dep));
        Some((number, dep))
    }
}
