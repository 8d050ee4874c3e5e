//! Pages that are read optimistically: nothing that other threads look at is changed, as long as pages stay in their frames.
//!
//! Each frame has a version, in place of its pin count. Who reads the page looks at it before and after, and would start over if the page had
//! left meanwhile (Leis et al., "LeanStore", ICDE 2018; "The ART of practical synchronization", DaMoN 2016). Here it never has: the plan of
//! which page is in which frame counts who reads, as with pins, but no event tells of it.

use super::frames::{Frame, Frames, PAGE, PINS};
use super::latch_sites::Site as LatchSite;
use super::latched::{Latches, PINS_BYTES};
use super::page_latches::InFrame;
use super::{STEP, Site};
use crate::place::Place;
use crate::tracer::{Dep, Trace};

impl Latches {
    /// The frame that a page is in, whose version is noted, and whether the page was asked for ahead and nobody has waited for it yet.
    #[inline]
    pub(super) fn begin_reading<T: Trace>(
        self,
        trace: &mut T,
        frames: &mut Frames,
        page: u32,
        dep: Dep,
    ) -> Option<(Frame, bool)> {
        let (number, waits) = frames.look_up(trace, page, dep)?;
        self.await_page(trace, frames, InFrame { page, number }, waits);
        let version = self.version(trace, frames, number, LatchSite::Version, waits);
        trace.branch(self.site(LatchSite::VersionFree), false, version);
        // The frame may have been another page's before its version was read.
        let place: Place<u32> = frames.field(number, PAGE);
        let found = frames
            .control
            .load(trace, Site::DescriptorPage, place, waits);
        let is_same = found.value == page;
        trace.branch(
            self.site(LatchSite::SamePage),
            is_same,
            found.token.after(1),
        );
        let coming = self.refer(trace, frames, number, waits);
        frames.count_users(number, 1);
        Some((frames.frame(trace, number, waits), coming))
    }

    /// Looks whether the page is still the one that was read.
    #[inline]
    pub(super) fn end_reading<T: Trace>(self, trace: &mut T, frames: &mut Frames, number: u32) {
        let site = LatchSite::VersionAgain;
        let version = self.version(trace, frames, number, site, Dep::NONE);
        trace.branch(self.site(LatchSite::VersionSame), true, version);
        frames.count_users(number, -1);
    }

    /// Loads a frame's version and compares it. Returns what the comparison waits for.
    fn version<T: Trace>(
        self,
        trace: &mut T,
        frames: &Frames,
        number: u32,
        site: LatchSite,
        waits: Dep,
    ) -> Dep {
        let version: Place<u16> = frames.field(number, PINS);
        let site = self.site(site);
        let token = trace.load(site, version.address, PINS_BYTES, 1, waits);
        trace.work(STEP);
        token.after(1)
    }

    /// Gives a frame its next version: whoever reads its page has read in vain.
    pub(super) fn make_void<T: Trace>(self, trace: &mut T, version: Place<u16>) {
        let site = self.site(LatchSite::VersionStep);
        trace.exchange(site, version.address, PINS_BYTES, Dep::NONE);
    }
}
