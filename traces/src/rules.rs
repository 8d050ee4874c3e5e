//! Which events a trace may hold: one definition for writing and for reading.

use crate::event::{Event, Kind, OpClass};
use crate::layout::Layout;

/// What an event of one kind may hold.
#[derive(Clone, Copy, Debug)]
struct Limits {
    address_max: u64,
    size_max: u16,
    words_min: u16,
}

/// The rules for the events of one trace.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    limits: [Limits; Kind::ALL.len()],
    sites: usize,
}

impl Rules {
    /// The rules that `layout` sets; it names at least one phase ([`Layout::problem`]).
    pub(crate) fn new(layout: &Layout) -> Self {
        let last = |names: &[String]| names.len().saturating_sub(1) as u64;
        let limits = Kind::ALL.map(|kind| Limits {
            address_max: match kind {
                Kind::Branch => 1,
                Kind::Mark => last(&layout.phases),
                Kind::Call => last(&layout.calls),
                _ => u64::MAX,
            },
            size_max: match kind {
                Kind::Op => OpClass::LAST as u16,
                _ => u16::MAX,
            },
            words_min: u16::from(kind.moves_words()),
        });
        Self {
            limits,
            sites: layout.sites.len(),
        }
    }

    /// The rules while the names of sites and phases are not yet known; there are no calls.
    pub(crate) fn unnamed() -> Self {
        let mut rules = Self::new(&Layout::default());
        rules.limits[Kind::Mark as usize].address_max = u64::MAX;
        rules.sites = usize::from(u16::MAX) + 1;
        rules
    }

    /// The highest address that an event of `kind` may have.
    pub(crate) fn address_max(&self, kind: Kind) -> u64 {
        self.limits[kind as usize].address_max
    }

    /// Whether `event` may be event number `index` of the trace. Has no branch: it runs once per event.
    #[inline]
    pub(crate) fn allow(&self, event: &Event, index: u64) -> bool {
        let limits = &self.limits[event.kind as usize];
        (event.address <= limits.address_max)
            & (event.size <= limits.size_max)
            & (event.words >= limits.words_min)
            & (usize::from(event.site) < self.sites)
            & (u64::from(event.dep) <= index)
    }

    /// Why [`Rules::allow`] says no, with the bad value and the right ones; nothing if it says yes.
    pub(crate) fn violation(&self, event: &Event, index: u64) -> Option<String> {
        let limits = &self.limits[event.kind as usize];
        let (kind, address, size) = (event.kind, event.address, event.size);
        if address > limits.address_max {
            let max = limits.address_max;
            return Some(match kind {
                Kind::Mark => format!("mark of phase {address}, but the last phase is {max}"),
                Kind::Call => format!("call {address}, but the last call is {max}"),
                _ => format!("branch outcome {address}; it is 1 for taken, 0 for not"),
            });
        }
        if size > limits.size_max {
            return Some(format!(
                "latency class {size}; the classes are 0 to {}",
                limits.size_max
            ));
        }
        if event.words < limits.words_min {
            return Some("words = 0; a load or store takes at least one word access".to_owned());
        }
        if usize::from(event.site) >= self.sites {
            return Some(format!(
                "site {}, but the layout names {} sites",
                event.site, self.sites
            ));
        }
        if u64::from(event.dep) > index {
            return Some(format!(
                "dep = {} points before the start of the trace; it is at most {index} here",
                event.dep
            ));
        }
        None
    }
}
