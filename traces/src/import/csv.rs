//! A column of addresses in text: CSV with or without a header, or one address per line.

use crate::import::about::{About, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::number;
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "csv",
    title: "CSV column of addresses",
    grammar: "fields parted by commas, of which one is an address, decimal or 0x...",
    unit: Unit::Lines,
    lost: LOST,
};

/// What bare addresses do not say.
pub(super) const LOST: &[&str] = &[
    "kinds (each access is a load)",
    "sizes (each access is one byte)",
    "instructions",
    "dependences",
    "branch outcomes",
    "time",
];

/// Columns that are taken for the address if the user names none.
pub(super) const USUAL_NAMES: [&str; 2] = ["address", "addr"];

pub(super) struct Csv {
    /// Name of the column, or its number from 1.
    wanted: Option<String>,
    index: Option<usize>,
}

impl Csv {
    pub(super) fn new(wanted: Option<&str>) -> Self {
        Self {
            wanted: wanted.map(str::to_owned),
            index: None,
        }
    }

    /// Finds the column in the first line, and says whether that is a header.
    fn begin(&mut self, line: &[u8]) -> Result<(usize, bool), Fault> {
        let names: Vec<String> = fields(line)
            .map(|field| String::from_utf8_lossy(field).into_owned())
            .collect();
        let index = choose(&names, self.wanted.as_deref())?;
        Ok((index, number(names[index].as_bytes()).is_err()))
    }
}

impl LineFormat for Csv {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let index = match self.index {
            Some(index) => index,
            None => {
                let (index, header) = self.begin(line)?;
                self.index = Some(index);
                if header {
                    return Ok(());
                }
                index
            }
        };
        let Some(field) = fields(line).nth(index) else {
            return Err(Fault::new(format!("fewer than {} fields", index + 1)));
        };
        events.load(number(field)?, 1);
        Ok(())
    }
}

/// Which of the columns holds the addresses: the wanted one, the usual one or the only one.
pub(super) fn choose(names: &[String], wanted: Option<&str>) -> Result<usize, Fault> {
    let called = |name: &str| {
        names
            .iter()
            .position(|other| other.eq_ignore_ascii_case(name))
    };
    let numbered = |name: &str| {
        let number: usize = name.parse().ok()?;
        (1..=names.len()).contains(&number).then(|| number - 1)
    };
    let found = match wanted {
        Some(name) => called(name).or_else(|| numbered(name)),
        None if names.len() == 1 => Some(0),
        None => USUAL_NAMES.into_iter().find_map(called),
    };
    found.ok_or_else(|| {
        let listed = names.join("`, `");
        match wanted {
            Some(name) => Fault::new(format!("no column `{name}` among `{listed}`")),
            None => Fault::new(format!(
                "which column holds the addresses? Give --column one of `{listed}`"
            )),
        }
    })
}

/// The fields of a line, without blanks and quotes around them.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    line.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    })
    .map(|field| {
        let field = field.trim_ascii();
        field
            .strip_prefix(b"\"")
            .and_then(|field| field.strip_suffix(b"\""))
            .unwrap_or(field)
    })
}
