//! Traces of Ramulator 1 in its CPU modes, and of Ramulator 2's SimpleO3: instructions between accesses.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::{decimal, number, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "ramulator-cpu",
    title: "Ramulator 1, CPU mode (filtered or not); Ramulator 2, SimpleO3",
    grammar: "`N ADDRESS`, `N ADDRESS WRITEBACK` or `N ADDRESS R|W` after N instructions, addresses decimal or 0x...",
    unit: Unit::Lines,
    takes: &[],
    lost: &[
        "sizes (each access is one byte)",
        "instruction addresses",
        "dependences",
        "branch outcomes",
    ],
};

pub(super) struct RamulatorCpu;

impl LineFormat for RamulatorCpu {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let (Some(count), Some(address)) = (words.next(), words.next()) else {
            return Err(Fault::new("fewer than two words"));
        };
        let plain = u32::try_from(decimal(count)?)
            .map_err(|_| Fault::new("more than 4294967295 instructions"))?;
        let address = number(address)?;
        let third = words.next();
        if words.next().is_some() {
            return Err(Fault::new("more than three words"));
        }
        let writeback = match third {
            None | Some(b"R" | b"W") => None,
            Some(address) => Some(number(address)?),
        };
        events.plain_instructions(plain);
        events.instruction(None);
        match third {
            Some(b"W") => events.store(address, 1),
            _ => events.load(address, 1),
        }
        if let Some(address) = writeback {
            events.store(address, 1);
        }
        Ok(())
    }
}
