//! When a memory operation got on, and whom the slots are charged to that it left empty.

use super::units::Release;
use crate::ledger::{Cause, Ledger};
use crate::miss_end::MissEnd;

/// When a memory operation got on, and who made it wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// Operands and a port were there.
    pub(crate) issue: u64,
    /// The address was translated.
    pub(crate) translated: u64,
    /// What it waited for to have a miss handler: the line whose end freed that.
    pub(crate) behind: MissEnd,
    /// The data can be used.
    pub(crate) complete: u64,
    /// Level that served the data; 0 if nothing had to be waited for.
    pub(crate) level: usize,
}

impl Timing {
    /// What waits for no data: issued to its unit in a cycle, and done in a later one.
    #[inline(always)]
    pub(super) fn of_units(issue: u64, complete: u64) -> Self {
        Self {
            issue,
            complete,
            ..Self::default()
        }
    }

    /// The same so many cycles later.
    pub(super) fn later(self, cycles: u64) -> Self {
        Self {
            issue: self.issue + cycles,
            translated: self.translated + cycles,
            complete: self.complete + cycles,
            ..self
        }
    }

    /// The same where the line comes in a cycle that was not known.
    pub(super) fn complete_at(self, complete: u64) -> Self {
        Self { complete, ..self }
    }

    /// A wait for an entry of the store buffer, which counts as one for the line that the entry's store waits for.
    #[inline]
    pub(super) fn of_store(release: Release) -> Self {
        Self {
            behind: release.behind,
            complete: release.cycle,
            level: release.level,
            ..Self::default()
        }
    }

    /// Splits the empty slots from `position` to completion among their causes and charges them to `place`, a row of
    /// the ledger. The front end delivered the instruction in cycle `restarted` after a misprediction, or `fetched`
    /// after a wait for code.
    #[inline(always)]
    pub(crate) fn charge(
        &self,
        ledger: &mut Ledger,
        place: u32,
        mut position: u64,
        restarted: u64,
        fetched: u64,
        width: u64,
    ) {
        let front_end = restarted.max(fetched) * width > position;
        let mut until = |cycle: u64| {
            let end = (cycle * width).max(position);
            let slots = end - position;
            position = end;
            slots
        };
        let complete = self.complete;
        let mut account = ledger.at(place);
        if front_end {
            account.charge(Cause::Branch, until(restarted.min(complete)));
            account.charge(Cause::Icache, until(fetched.min(complete)));
        }
        account.charge(Cause::Other, until(self.issue.min(complete)));
        account.charge(Cause::Dtlb, until(self.translated.min(complete)));
        if self.behind.level() > 0 {
            account.charge_level(
                self.behind.level(),
                until(self.behind.cycle().min(complete)),
            );
        }
        let rest = until(complete);
        if self.level == 0 {
            account.charge(Cause::Other, rest);
        } else {
            account.charge_level(self.level, rest);
        }
    }
}
