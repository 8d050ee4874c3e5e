//! Request traces of DRAMSim3 and DRAMSim2.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, shown};
use crate::import::numbers::{decimal, hexadecimal, words};
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "dramsim",
    title: "DRAMSim3 and DRAMSim2",
    grammar: "`ADDRESS READ|WRITE CYCLE`, address hexadecimal, cycle decimal",
    unit: Unit::Lines,
    takes: &[],
    lost: &[
        "sizes (each request is one byte)",
        "instructions",
        "dependences",
        "branch outcomes",
        "time",
    ],
};

pub(super) struct Dramsim;

impl LineFormat for Dramsim {
    const ABOUT: &'static About = &ABOUT;
    /// DRAMSim3 takes a line end at the end for one more request, so that files for it have none.
    const ENDS_LINES: bool = false;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let mut words = words(line);
        let (Some(address), Some(operation), Some(cycle), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Fault::new("not three words"));
        };
        let address = hexadecimal(address)?;
        decimal(cycle)?;
        match operation {
            b"READ" | b"read" | b"P_MEM_RD" | b"P_LOCK_RD" | b"P_FETCH" | b"IFETCH" => {
                events.load(address, 1);
            }
            b"WRITE" | b"write" | b"P_MEM_WR" | b"BOFF" => events.store(address, 1),
            // DRAMSim3 takes these, and any other word, for reads.
            b"W" | b"w" | b"R" | b"r" => {
                return Err(Fault::new(
                    "the operation is to be spelt out: READ or WRITE",
                ));
            }
            other => {
                return Err(Fault::new(format!("unknown operation `{}`", shown(other))));
            }
        }
        Ok(())
    }
}
