//! Any text, read by the user's regular expression.

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError, shown};
use crate::import::numbers::{hexadecimal, number};
use crate::import::text::LineFormat;
use regex::bytes::{CaptureLocations, Regex};

pub(super) static ABOUT: About = About {
    name: "regex",
    title: "any text, with --pattern",
    grammar: "text of which some lines match --pattern",
    unit: Unit::Lines,
    takes: &[Choice::Pattern, Choice::Fetch],
    lost: &[
        "whatever the pattern does not name",
        "dependences",
        "branch outcomes",
        "time",
    ],
};

/// The groups that a pattern may name.
const GROUPS: [&str; 5] = ["address", "hex_address", "kind", "size", "pc"];

/// The numbers of a pattern's groups.
pub(super) struct Pattern {
    regex: Regex,
    /// Filled again for each line.
    found: CaptureLocations,
    address: Option<usize>,
    hex_address: Option<usize>,
    kind: Option<usize>,
    size: Option<usize>,
    pc: Option<usize>,
}

impl Pattern {
    /// Compiles `pattern` and checks its groups.
    pub(super) fn new(pattern: Option<&str>) -> Result<Self, ImportError> {
        let help = "such as `(?P<kind>[RW]) (?P<address>0x[0-9a-f]+)`";
        let Some(pattern) = pattern else {
            let message = format!("the format regex needs --pattern, {help}");
            return Err(ImportError::Options(message));
        };
        let regex = Regex::new(pattern).map_err(|error| {
            let error = error.to_string();
            let cause = error
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ");
            ImportError::Options(format!("--pattern `{pattern}`: {cause}"))
        })?;
        let group = |name: &str| regex.capture_names().position(|other| other == Some(name));
        let unknown = regex
            .capture_names()
            .flatten()
            .find(|name| !GROUPS.contains(name));
        if let Some(unknown) = unknown {
            let known = GROUPS.join(", ");
            let message =
                format!("--pattern `{pattern}`: unknown group `{unknown}`; the groups are {known}");
            return Err(ImportError::Options(message));
        }
        let found = Self {
            found: regex.capture_locations(),
            address: group("address"),
            hex_address: group("hex_address"),
            kind: group("kind"),
            size: group("size"),
            pc: group("pc"),
            regex: regex.clone(),
        };
        if found.address.is_none() == found.hex_address.is_none() {
            let message = format!(
                "--pattern `{pattern}`: name one group `address` (decimal or 0x...) or `hex_address`, {help}"
            );
            return Err(ImportError::Options(message));
        }
        Ok(found)
    }
}

impl LineFormat for Pattern {
    const ABOUT: &'static About = &ABOUT;

    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        if self.regex.captures_read(&mut self.found, line).is_none() {
            events.skip();
            return Ok(());
        }
        let text = |group: Option<usize>| {
            let (begin, end) = self.found.get(group?)?;
            Some(&line[begin..end])
        };
        let address = match (text(self.address), text(self.hex_address)) {
            (Some(address), _) => number(address)?,
            (None, Some(address)) => hexadecimal(address)?,
            (None, None) => return Err(Fault::new("the pattern matches without an address")),
        };
        let size = text(self.size).map_or(Ok(1), number)?;
        if size == 0 {
            return Err(Fault::new("an access of 0 bytes"));
        }
        let kind = text(self.kind).unwrap_or(b"R").to_ascii_lowercase();
        let access = !matches!(kind.as_slice(), b"i" | b"fetch" | b"2");
        if let (true, Some(pc)) = (access, text(self.pc)) {
            events.instruction(Some((hexadecimal(pc)?, 1)));
        }
        match kind.as_slice() {
            b"r" | b"rd" | b"read" | b"l" | b"ld" | b"load" | b"0" => events.load(address, size),
            b"w" | b"wr" | b"write" | b"s" | b"st" | b"store" | b"1" => events.store(address, size),
            b"m" | b"modify" => events.modify(address, size),
            _ if !access => events.instruction(Some((address, size))),
            kind => {
                let known = "R, W, M (modify) or I (instruction)";
                let kind = shown(kind);
                return Err(Fault::new(format!("unknown kind `{kind}`; known: {known}")));
            }
        }
        Ok(())
    }
}
