//! Formats of one access or instruction per line.

use crate::import::about::About;
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;

/// Reads one line of a format.
pub(super) trait LineFormat {
    /// What the lines are.
    const ABOUT: &'static About;
    /// Whether the last line ends as all others do: if not, the file may be cut short.
    const ENDS_LINES: bool = true;

    /// Tells `events` what the line, which is not blank, says.
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault>;

    /// Why the trace may end in the middle, as far as its last line tells.
    fn doubt(&self) -> Option<String> {
        None
    }
}

/// Reads all lines; blank ones are passed over.
pub(super) fn decode<F: LineFormat>(
    format: &mut F,
    input: &mut Input,
    events: &mut Emitter<'_>,
) -> Result<(), ImportError> {
    while let Some(line) = input.next_line()? {
        if line.trim_ascii_start().is_empty() {
            continue;
        }
        if let Err(fault) = format.line(line, events) {
            let line = line.to_vec();
            let fault = match input.unfinished_line() {
                true => fault.with("the file ends in the middle of this line"),
                false => fault,
            };
            let place = input.line_place();
            return Err(ImportError::malformed(place, &line, fault, F::ABOUT));
        }
        events.flush_if_full()?;
    }
    let cut = "its last line has no line end: the trace may be cut short, and the line's last number with it";
    let cut = (F::ENDS_LINES && input.unfinished_line()).then(|| cut.to_owned());
    for doubt in cut.into_iter().chain(format.doubt()) {
        events.warn(format!("{}: {doubt}", input.line_place()));
    }
    Ok(())
}
