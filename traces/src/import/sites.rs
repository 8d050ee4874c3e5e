//! Addresses of instructions as sites: who made an access.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Site of an event of which the trace does not say whose it is.
pub(super) const UNKNOWN: u16 = 0;
/// Site of the instructions that come after the table is full.
const OTHER: u16 = u16::MAX;
/// Instructions that have a site of their own: the first of a trace.
const MOST: usize = OTHER as usize - 1;

const UNKNOWN_NAME: &str = "(unknown)";
const OTHER_NAME: &str = "(other)";

/// Sites by the addresses of instructions. A site's name is the address, in hexadecimal.
#[derive(Debug, Default)]
pub(super) struct Sites {
    numbers: HashMap<u64, u16, BuildHasherDefault<Multiplied>>,
    addresses: Vec<u64>,
    /// The instruction that runs, and its site once something asked for that.
    address: Option<u64>,
    site: Option<u16>,
    /// Events at [`OTHER`].
    others: u64,
}

impl Sites {
    /// From here on the instruction at `address` runs; nothing if that is not known.
    #[inline]
    pub(super) fn enter(&mut self, address: Option<u64>) {
        self.address = address;
        self.site = None;
    }

    /// Site of an event of the instruction that runs.
    #[inline]
    pub(super) fn take(&mut self) -> u16 {
        let site = match self.site {
            Some(site) => site,
            None => self.look_up(),
        };
        self.site = Some(site);
        self.others += u64::from(site == OTHER);
        site
    }

    fn look_up(&mut self) -> u16 {
        let Some(address) = self.address else {
            return UNKNOWN;
        };
        if let Some(site) = self.numbers.get(&address) {
            return *site;
        }
        if self.addresses.len() == MOST {
            return OTHER;
        }
        self.addresses.push(address);
        let site = self.addresses.len() as u16;
        self.numbers.insert(address, site);
        site
    }

    /// How many instructions have a site of their own.
    pub(super) fn known(&self) -> u64 {
        self.addresses.len() as u64
    }

    /// Events of instructions that have none.
    pub(super) fn others(&self) -> u64 {
        self.others
    }

    /// Names of the sites, in the order of their numbers.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.addresses.len() + 2);
        names.push(UNKNOWN_NAME.to_owned());
        names.extend(self.addresses.iter().map(|address| format!("{address:#x}")));
        if self.others > 0 {
            names.push(OTHER_NAME.to_owned());
        }
        names
    }
}

/// A hash of one number by multiplication; the table is bounded, so that bad keys cost little.
#[derive(Debug, Default)]
pub(super) struct Multiplied(u64);

impl Hasher for Multiplied {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        // 2^64 over the golden ratio; the upper half, which is mixed best, comes down.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_beyond_the_table_share_a_site() {
        let mut sites = Sites::default();
        assert_eq!(sites.take(), UNKNOWN);
        for address in 0..MOST as u64 + 3 {
            sites.enter(Some(0x40_0000 + address));
            let expected = (address + 1).min(u64::from(OTHER)) as u16;
            assert_eq!((sites.take(), sites.take()), (expected, expected));
        }
        sites.enter(Some(0x40_0001));
        assert_eq!(sites.take(), 2);
        let names = sites.names();
        assert_eq!(names.len(), 1 << 16);
        assert_eq!(
            (names[2].as_str(), names[usize::from(OTHER)].as_str()),
            ("0x400001", OTHER_NAME)
        );
        assert_eq!((sites.known(), sites.others()), (65_534, 6));
    }
}
