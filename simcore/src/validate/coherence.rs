//! Which machines can have coherent caches.

use super::{at_most_cycles, positive, require};
use crate::ledger::MAX_CACHES;
use crate::spec::{CoherenceSpec, MachineSpec, SpecError, WritePolicy};

impl CoherenceSpec {
    pub(super) fn validate(&self, machine: &MachineSpec) -> Result<(), SpecError> {
        let at = "coherence.transfer_cycles";
        positive(at, u64::from(self.transfer_cycles))?;
        at_most_cycles(at, self.transfer_cycles)?;
        require(machine.cores > 1, "coherence", || {
            "the machine has one core, and no other to be coherent with; give it `cores`, or leave the key out".to_owned()
        })?;
        let caches = &machine.caches;
        let own = caches.iter().rfind(|cache| !cache.shared);
        if let Some(own) = own {
            require(self.transfer_cycles > own.latency_cycles, at, || {
                format!(
                    "{} is not slower than {} ({} cycles), which is missed before another core is asked; give the full load-to-use latency",
                    self.transfer_cycles, own.name, own.latency_cycles
                )
            })?;
        }
        require(caches.len() < MAX_CACHES, "coherence", || {
            format!(
                "{} levels of caches are more than {}, the most that coherent ones may have",
                caches.len(),
                MAX_CACHES - 1
            )
        })?;
        for (level, cache) in caches.iter().enumerate() {
            let first = caches[0].line_bytes;
            require(
                cache.line_bytes == first,
                &format!("caches.{level}.line_bytes"),
                || {
                    format!(
                        "coherent caches have lines of one size; {} has {} bytes, and {} {first}",
                        cache.name, cache.line_bytes, caches[0].name
                    )
                },
            )?;
            let keeps = cache.write_policy == WritePolicy::WriteBack && cache.write_allocate;
            require(
                cache.shared || keeps,
                &format!("caches.{level}.write_policy"),
                || {
                    format!(
                        "{} is a core's own, and coherent caches of a core's own write back and allocate",
                        cache.name
                    )
                },
            )?;
        }
        Ok(())
    }
}
