//! A column of addresses in text: CSV with or without a header, or one address per line.

use crate::import::about::{About, Choice, Unit};
use crate::import::emitter::Emitter;
use crate::import::error::Fault;
use crate::import::numbers::number;
use crate::import::text::LineFormat;

pub(super) static ABOUT: About = About {
    name: "csv",
    title: "CSV column of addresses",
    grammar: "fields parted by commas, of which one is an address, decimal or 0x...",
    unit: Unit::Lines,
    takes: &[Choice::Column],
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

/// What some programs write before text, to say that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Columns that are taken for the address if the user names none.
pub(super) const USUAL_NAMES: [&str; 2] = ["address", "addr"];

/// Letters of a column's name that may all be hexadecimal digits, as in `add`.
const SHORT_NAME: usize = 3;

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
        let wanted = self.wanted.as_deref();
        // In a line of data a number says where the column stands, whatever the fields hold.
        let place = wanted.and_then(|wanted| numbered(&names, wanted));
        let holds_address = |&index: &usize| number(names[index].as_bytes()).is_ok();
        if let Some(index) = place.filter(holds_address) {
            return Ok((index, false));
        }
        let index = choose(&names, wanted)?;
        let name = &names[index];
        if holds_address(&index) {
            return Ok((index, false));
        }
        if wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(name)) || may_be_header(name) {
            return Ok((index, true));
        }
        Err(Fault::new(format!(
            "`{name}` is no address and no header, which begins with a letter or `_` and is no hexadecimal number"
        )))
    }
}

impl LineFormat for Csv {
    const ABOUT: &'static About = &ABOUT;

    #[inline]
    fn line(&mut self, line: &[u8], events: &mut Emitter<'_>) -> Result<(), Fault> {
        let (line, index) = match self.index {
            Some(index) => (line, index),
            None => {
                let line = without_mark(line);
                let (index, header) = self.begin(line)?;
                self.index = Some(index);
                if header {
                    events.skip();
                    return Ok(());
                }
                (line, index)
            }
        };
        let Some(field) = fields(line).nth(index) else {
            return Err(Fault::new(format!("fewer than {} fields", index + 1)));
        };
        events.load(number(field)?, 1);
        Ok(())
    }
}

/// Text without the mark that may stand at its beginning.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Which of the columns holds the addresses: the wanted one, the usual one or the only one.
pub(super) fn choose(names: &[String], wanted: Option<&str>) -> Result<usize, Fault> {
    let found = match wanted {
        Some(name) => match (called(names, name), numbered(names, name)) {
            (Ok(None) | Err(_), Some(number)) => Some(number),
            (found, _) => found?,
        },
        None if names.len() == 1 => Some(0),
        None => match called(names, USUAL_NAMES[0])? {
            None => called(names, USUAL_NAMES[1])?,
            found => found,
        },
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

/// The column that a number from 1 on tells.
fn numbered(names: &[String], wanted: &str) -> Option<usize> {
    let number: usize = wanted.parse().ok()?;
    (1..=names.len()).contains(&number).then(|| number - 1)
}

/// Whether a field is the name of a column, and not an address that is written wrongly. A name may consist of few letters that are digits, too.
fn may_be_header(field: &str) -> bool {
    let begins = |letter: char| letter.is_alphabetic() || letter == '_';
    let is_digit = |letter: char| letter.is_ascii_hexdigit();
    let is_hexadecimal = field.chars().all(is_digit)
        && (field.len() > SHORT_NAME || field.contains(|letter: char| letter.is_ascii_digit()));
    field.starts_with(begins) && !is_hexadecimal
}

/// The column called `name`, if there is one. Large and small letters tell names apart only where two differ in nothing else.
fn called(names: &[String], name: &str) -> Result<Option<usize>, Fault> {
    let find = |is_called: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let names = names.iter().enumerate();
        let found = names.filter(|(_, other)| is_called(other));
        found.map(|(index, _)| index).collect()
    };
    let mut found = find(&|other| other == name);
    if found.is_empty() {
        found = find(&|other| other.eq_ignore_ascii_case(name));
    }
    match found[..] {
        [] => Ok(None),
        [index] => Ok(Some(index)),
        _ => Err(Fault::new(format!(
            "{} columns are called `{name}`; give --column the number of one, counted from 1",
            found.len()
        ))),
    }
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
