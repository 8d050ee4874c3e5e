//! What the fuzz targets share: an import whose outcome does not matter, as long as there is one.

use std::io::Cursor;
use traces::Counter;
use traces::import::{Choice, Format, Import, Instructions, Options};

/// Imports `bytes` as `format` and drops the events.
pub fn import(format: &str, pattern: Option<&str>, bytes: &[u8]) {
    let known = Format::from_name(format);
    let fetches = known.is_some_and(|format| format.about().takes.contains(&Choice::Fetch));
    let options = Options {
        format: format.to_owned(),
        instructions: match fetches {
            true => Instructions::Fetch,
            false => Instructions::Count,
        },
        pattern: pattern.map(str::to_owned),
        ..Options::default()
    };
    let source = Box::new(Cursor::new(bytes.to_vec()));
    if let Ok(import) = Import::from_reader("fuzz", source, options) {
        let _ = import.run(&mut Counter::default());
    }
}
