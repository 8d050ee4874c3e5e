//! Code addresses for traces that have sites instead.

/// Where the code of site 0 begins: where neither our kernels nor usual programs keep data.
pub const CODE_BASE: u64 = 1 << 44;

/// Code given to each site.
const SITE_BYTES: u64 = 256;
/// Size of an instruction.
pub(super) const INSTRUCTION_BYTES: u64 = 4;
/// Plain instructions of a site before they begin again.
const PLAIN: u64 = SITE_BYTES / INSTRUCTION_BYTES - 1;

/// The address of the instruction that is the event at `site`: the last of the site's code.
#[must_use]
pub fn instruction_address(site: u16) -> u64 {
    CODE_BASE + u64::from(site) * SITE_BYTES + PLAIN * INSTRUCTION_BYTES
}

/// The address of plain instruction `index` (from 0) before the event at `site`.
pub(super) fn plain_address(site: u16, index: u64) -> u64 {
    CODE_BASE + u64::from(site) * SITE_BYTES + index % PLAIN * INSTRUCTION_BYTES
}
