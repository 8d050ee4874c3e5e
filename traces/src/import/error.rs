//! What can go wrong with an import, each in one line that names the file, the place, the text and what would be right.

use crate::gem5::Gem5Error;
use crate::import::about::{About, Amount};
use crate::sink::SinkError;
use std::io;
use thiserror::Error;

/// Why a foreign trace could not be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The operating system refused, or compressed data is damaged.
    #[error("{file}: {cause}")]
    Io {
        /// The file.
        file: String,
        /// What was refused, and what can be done.
        cause: String,
    },
    /// The file holds nothing at all.
    #[error("{file}: the file is empty; there is nothing to import")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file is of the format and names no memory access.
    #[error("{file}: no memory access among its {read}; {} is {}", about.name, about.grammar)]
    NoAccess {
        /// The file.
        file: String,
        /// How much was read.
        read: Amount,
        /// The format.
        about: &'static About,
    },
    /// A line or record that is none of the format.
    #[error("{place}: {cause}{}; {} is {}{hint}", beside(cause, text), about.name, about.grammar)]
    Malformed {
        /// File and line or record.
        place: String,
        /// What is wrong.
        cause: String,
        /// The line or record, shortened.
        text: String,
        /// The format.
        about: &'static About,
        /// What the file looks like instead; empty if nothing is known.
        hint: String,
    },
    /// The file stops before its end.
    #[error("{place}: the trace is cut short: {cause}; copy or record it again")]
    Truncated {
        /// File and record.
        place: String,
        /// How that shows.
        cause: String,
    },
    /// No format, or several formats, accept what stands in the file.
    #[error("{file}: {cause}; choose one with --format")]
    Unrecognized {
        /// The file.
        file: String,
        /// What the file looks like.
        cause: String,
    },
    /// Options that contradict each other or the file.
    #[error("{0}")]
    Options(String),
    /// A gem5 trace is damaged.
    #[error(transparent)]
    Gem5(#[from] Gem5Error),
    /// The events could not be taken.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl ImportError {
    pub(super) fn no_access(file: &str, read: Amount, about: &'static About) -> Self {
        Self::NoAccess {
            file: file.to_owned(),
            read,
            about,
        }
    }

    pub(super) fn malformed(
        place: String,
        text: &[u8],
        cause: Fault,
        about: &'static About,
    ) -> Self {
        Self::Malformed {
            place,
            text: shown(cause.text.as_deref().unwrap_or(text)),
            cause: cause.cause,
            about,
            hint: String::new(),
        }
    }

    /// File and line of a line that is none of the format; empty of other errors.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Malformed { place, .. } => place,
            _ => "",
        }
    }

    pub(super) fn io(file: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::Interrupted {
            return Self::Sink(SinkError::Interrupted);
        }
        Self::Io {
            file: file.to_owned(),
            cause: error.to_string(),
        }
    }
}

/// What is wrong with one line or record, without its place.
#[derive(Debug)]
pub(super) struct Fault {
    cause: String,
    /// What to show in place of the record, if a text of several records is wrong.
    text: Option<Vec<u8>>,
}

impl Fault {
    #[cold]
    pub(super) fn new(cause: impl Into<String>) -> Self {
        Self {
            cause: cause.into(),
            text: None,
        }
    }

    /// The fault with one more circumstance.
    pub(super) fn with(self, circumstance: &str) -> Self {
        Self {
            cause: format!("{} ({circumstance})", self.cause),
            text: self.text,
        }
    }

    /// The fault of a text that is shown in place of the record.
    pub(super) fn of(self, text: &[u8]) -> Self {
        Self {
            text: Some(text.to_vec()),
            ..self
        }
    }

    /// What is wrong, in words.
    pub(super) fn into_cause(self) -> String {
        self.cause
    }

    /// The error of a trace that stops too early because of this.
    pub(super) fn truncated(self, place: String) -> ImportError {
        let cause = self.cause;
        ImportError::Truncated { place, cause }
    }
}

/// Characters of a line that a message shows.
const SHOWN: usize = 60;

/// Text for a message: printable, and not too long.
pub(super) fn shown(text: &[u8]) -> String {
    let begin = &text[..text.len().min(SHOWN)];
    let more = if text.len() > SHOWN { "..." } else { "" };
    format!("{}{more}", printable(begin))
}

/// Text as it stands, but for what a terminal would obey.
fn printable(text: &[u8]) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in String::from_utf8_lossy(text).chars() {
        if matches!(character, '\'' | '"' | '\\') {
            printable.push(character);
        } else {
            printable.extend(character.escape_debug());
        }
    }
    printable
}

/// The text of a line behind what is wrong with it, unless that has quoted the whole line.
fn beside(cause: &str, text: &str) -> String {
    let quoted = format!("`{text}`");
    if cause.contains(&quoted) {
        return String::new();
    }
    format!(": {quoted}")
}
