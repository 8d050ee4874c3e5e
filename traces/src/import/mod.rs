//! Brings traces of other tools in: each format is one file, read as a stream in bounded memory.
//!
//! - [`Import`] opens a file or standard input, decompresses it, tells its format and sends its events to a sink.
//! - [`Format`] and [`About`] list the formats and what each of them loses.
//!
//! The rules are the same for all: an access is one event of one instruction, loads before stores; an instruction
//! without an access counts in the next event's `instructions`; an access that reaches beyond the top of memory, or has
//! more than 65535 bytes, is cut short and counted as clipped. An access without a size touches one byte, so that it
//! touches no line that the program did not. Imported events have no dependences, but for those through pointers in a recording. The address of the instruction that
//! makes an access is the name of its site, where the format knows it.

mod about;
mod blocks;
mod champsim;
mod csv;
mod din;
mod dinero;
mod dinero_binary;
mod dramsim;
mod drmemtrace;
mod emitter;
mod error;
mod format;
mod gem5_packet;
mod gzip;
mod input;
mod lackey;
mod messages;
mod npy;
mod numbers;
mod parquet;
mod pinatrace;
mod pointers;
mod ramulator;
mod ramulator2;
mod ramulator_cpu;
mod recording;
mod records;
mod regex;
mod regions;
mod sites;
mod sniff;
mod source;
mod text;
mod threads;
mod waits;

pub use about::{About, Amount, Choice, Unit};
pub use emitter::{Instructions, NOT_BEGUN, Tally};
pub use error::ImportError;
pub use format::Format;
pub use source::STDIN;
pub use threads::{Take, Threads};

use crate::layout::{Layout, Segment};
use crate::sink::EventSink;
use crate::store::TraceInfo;
use emitter::{Emitter, Finished, Names};
use input::Input;
use regions::Regions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;
use waits::{Planned, Told};

/// Name that stands for the format that the file looks like.
pub const AUTO: &str = "auto";
/// Instructions that may be assumed for each access, which is one itself; more are a mistake.
pub const INSTRUCTIONS_PER_ACCESS: RangeInclusive<f64> = 1.0..=1000.0;
/// Accesses for each basic block that is not in the program, from which on nothing is said of that.
const ACCESSES_PER_UNKNOWN: u64 = 1000;
/// Name of the phase that an imported trace begins with; and of its description.
const IMPORTED: &str = "imported";

/// How a trace is to be imported.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the format, or [`AUTO`].
    pub format: String,
    /// What becomes of the instructions that the trace lists.
    pub instructions: Instructions,
    /// Instructions for each access, that included, for formats that do not list them.
    pub instructions_per_access: Option<f64>,
    /// Instructions of each basic block of the program that was recorded, by the block's place, for formats that say which blocks run.
    pub blocks: Option<Vec<(u64, u32)>>,
    /// Regular expression with named groups, for the format `regex`.
    pub pattern: Option<String>,
    /// Column of the addresses, by name or number from 1, for CSV and Parquet.
    pub column: Option<String>,
    /// Address ranges to be told apart in the results, in any order.
    pub segments: Vec<Segment>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: AUTO.to_owned(),
            instructions: Instructions::default(),
            instructions_per_access: None,
            blocks: None,
            pattern: None,
            column: None,
            segments: Vec::new(),
        }
    }
}

impl Options {
    /// Refuses what has no effect on an import of the format.
    fn check_effect(&self, format: Format) -> Result<(), ImportError> {
        let takes = |choice, format: Format| format.about().takes(choice);
        let given = [
            (Choice::Column, self.column.is_some()),
            (Choice::Pattern, self.pattern.is_some()),
            (Choice::Fetch, self.instructions == Instructions::Fetch),
            (Choice::PerAccess, self.instructions_per_access.is_some()),
            (Choice::Program, self.blocks.is_some()),
        ];
        let useless = given
            .into_iter()
            .find(|&(choice, given)| given && !takes(choice, format));
        let Some((choice, _)) = useless else {
            return Ok(());
        };
        let formats = Format::ALL.into_iter();
        let others: Vec<_> = formats
            .filter(|&other| takes(choice, other))
            .map(|other| other.about().name)
            .collect();
        Err(ImportError::Options(format!(
            "{}: has no effect on a trace of the format {}: it is for {}; leave it out",
            choice.option(),
            format.about().name,
            others.join(", ")
        )))
    }

    /// Instructions for each access, itself included.
    fn checked_per_access(&self) -> Result<f64, ImportError> {
        let all = self.instructions_per_access.unwrap_or(1.0);
        if !INSTRUCTIONS_PER_ACCESS.contains(&all) {
            let (least, most) = INSTRUCTIONS_PER_ACCESS.into_inner();
            return Err(ImportError::Options(format!(
                "--instructions-per-access {all}: each access is an instruction itself, so this is from {least} to {most}"
            )));
        }
        Ok(all)
    }

    /// The segments, and the phase that every imported trace has.
    fn regions(&self) -> Result<Regions, ImportError> {
        let mut regions = Regions::new(IMPORTED);
        for segment in &self.segments {
            let Segment {
                name,
                base,
                size_bytes,
            } = segment;
            let refused = |cause| ImportError::Options(format!("--segment {name}: {cause}"));
            let taken = regions.name_segment(name, *base, *size_bytes);
            let taken = taken.map_err(|fault| refused(fault.into_cause()))?;
            if let Some(other) = taken {
                return Err(refused(format!(
                    "its {size_bytes} bytes at {base:#x} overlap those of --segment {other}; a byte has one name"
                )));
            }
        }
        Ok(regions)
    }
}

/// What an import did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the format.
    pub format: &'static str,
    /// The file, or `<stdin>`.
    pub file: String,
    /// What the trace does not say.
    pub lost: Vec<&'static str>,
    /// What the user should know, a sentence each.
    pub warnings: Vec<String>,
    /// Instructions for each access, if they are assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_per_access: Option<f64>,
    /// How much was read.
    #[serde(flatten)]
    pub read: Amount,
    /// What they came to.
    #[serde(flatten)]
    pub tally: Tally,
    /// Names of the trace's segments, sites and phases.
    #[serde(skip)]
    pub layout: Layout,
}

/// What one file has come to.
struct Decoded {
    /// Without its layout.
    report: Report,
    names: Names,
    /// As [`Finished::began_late`].
    began_late: bool,
    /// As [`Finished::waits`].
    waits: Told,
}

/// A foreign trace whose format is known.
pub struct Import {
    input: Input,
    format: Format,
    options: Options,
    /// What the options name.
    regions: Regions,
    /// Instructions for each access, itself included.
    per_access: f64,
}

impl Import {
    /// Opens `path`, or standard input if that is [`STDIN`].
    ///
    /// # Errors
    /// The file cannot be read, is empty or of no known format, or the options name no format, segments that cannot be, or what the
    /// format has no use for.
    pub fn open(path: &Path, options: Options) -> Result<Self, ImportError> {
        Self::new(Input::open(path)?, options)
    }

    /// Imports from `source`, whose name is for messages and may tell the format.
    ///
    /// # Errors
    /// As for [`Import::open`].
    pub fn from_reader(
        name: &str,
        source: Box<dyn Read + Send>,
        options: Options,
    ) -> Result<Self, ImportError> {
        Self::new(Input::new(name, source)?, options)
    }

    fn new(input: Input, options: Options) -> Result<Self, ImportError> {
        let format = match options.format.as_str() {
            AUTO => sniff::recognize(&input, &options)?,
            name => Format::from_name(name).ok_or_else(|| unknown_format(name))?,
        };
        options.check_effect(format)?;
        Ok(Self {
            input,
            format,
            regions: options.regions()?,
            per_access: options.checked_per_access()?,
            options,
        })
    }

    /// The format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The description of the trace that is made, as far as it is known; [`Report::workload`] and [`Report::layout`]
    /// complete it after [`Import::run`].
    #[must_use]
    pub fn info(&self) -> TraceInfo {
        let (segments, phases) = self.regions.clone().finish(&mut Vec::new());
        let layout = Layout {
            segments,
            phases,
            ..Layout::default()
        };
        TraceInfo::new(Value::Null, layout)
    }

    /// Sends all events to `sink`.
    ///
    /// # Errors
    /// What is wrong with the file, with its place; or the error of `sink`.
    pub fn run(self, sink: &mut dyn EventSink) -> Result<Report, ImportError> {
        let names = Names::of(self.regions.clone());
        let has_program = self.options.blocks.is_some();
        let Decoded {
            mut report, names, ..
        } = self.read(names, None, sink)?;
        report.check(has_program)?;
        report.layout = names.layout(&mut report.warnings);
        Ok(report)
    }

    /// Sends all events to `sink`. Of a thread among several it is known whether it begins late, and what it waits for.
    fn read(
        mut self,
        names: Names,
        of_several: Option<(bool, Planned)>,
        sink: &mut dyn EventSink,
    ) -> Result<Decoded, ImportError> {
        let mut events = Emitter::new(sink, self.options.instructions, names);
        events.assume(self.per_access);
        if let Some((begins_late, planned)) = of_several {
            events.is_of_several(begins_late, planned);
        }
        let about = self.format.about();
        decode(self.format, &self.options, &mut self.input, &mut events)
            .map_err(|error| self.with_hint(error))?;
        let Finished {
            tally,
            names,
            began_late,
            waits,
            warnings,
        } = events.finish()?;
        let report = Report {
            format: about.name,
            file: self.input.name().to_owned(),
            lost: self.lost(&tally),
            instructions_per_access: self.options.instructions_per_access,
            warnings,
            read: about.unit.amount(self.input.taken()),
            tally,
            layout: Layout::default(),
        };
        Ok(Decoded {
            report,
            names,
            began_late,
            waits,
        })
    }

    /// What the format does not say, and what this trace or the options leave out besides.
    fn lost(&self, tally: &Tally) -> Vec<&'static str> {
        let mut lost = self.format.about().lost.to_vec();
        lost.retain(|lost| tally.branches == 0 || *lost != about::BRANCH_OUTCOMES);
        lost.retain(|lost| {
            tally.listed_instructions == 0 || !lost.starts_with(about::INSTRUCTIONS)
        });
        let dropped = self.options.instructions == Instructions::Drop;
        for (absent, what) in [
            (
                dropped || tally.listed_instructions == 0,
                about::INSTRUCTIONS,
            ),
            (tally.sites == 0, about::INSTRUCTION_ADDRESSES),
        ] {
            if absent && !lost.iter().any(|known| known.starts_with(what)) {
                lost.push(what);
            }
        }
        lost
    }

    fn with_hint(&self, mut error: ImportError) -> ImportError {
        if let ImportError::Malformed { hint, .. } = &mut error {
            *hint = sniff::hint(&self.input, self.format);
        }
        error
    }
}

impl Report {
    /// Both of them, of two threads that have their names in common.
    fn and(mut self, other: Self) -> Self {
        self.file = format!("{}, {}", self.file, other.file);
        self.warnings.extend(other.warnings);
        self.lost.retain(|lost| other.lost.contains(lost));
        self.read = self.read.and(other.read);
        self.tally = self.tally.and(other.tally);
        self
    }

    /// Refuses a trace without an access, and one that says nothing of the basic blocks of a program that was named for them.
    fn check(&mut self, has_program: bool) -> Result<(), ImportError> {
        if self.tally.accesses == 0 {
            let format = Format::from_name(self.format).expect("a format of its own");
            let (file, read) = (&self.file, self.read);
            return Err(ImportError::no_access(file, read, format.about()));
        }
        if has_program && self.tally.listed_instructions == 0 {
            return Err(ImportError::Options(format!(
                "--program: {} tells of no basic block that is in the program; name the one that was recorded, compiled to tell of them",
                self.file
            )));
        }
        // A few are blocks that only return: they call the recorder by a jump, and are told by where that returns to.
        if self.tally.unknown_blocks * ACCESSES_PER_UNKNOWN > self.tally.accesses {
            self.warnings.push(format!(
                "{} times a basic block ran that is not in the program; its instructions are not in the trace",
                self.tally.unknown_blocks
            ));
        }
        Ok(())
    }

    /// The `workload` of the imported trace's description.
    #[must_use]
    pub fn workload(&self) -> Value {
        json!({ IMPORTED: self })
    }
}

/// Reads all of `input`.
fn decode(
    format: Format,
    options: &Options,
    input: &mut Input,
    events: &mut Emitter<'_>,
) -> Result<(), ImportError> {
    let column = options.column.as_deref();
    match format {
        Format::Lackey => text::decode(&mut lackey::Lackey::default(), input, events),
        Format::Din => text::decode(&mut din::Din, input, events),
        Format::Dinero => text::decode(&mut dinero::Dinero, input, events),
        Format::DineroBinary => records::decode(&mut dinero_binary::DineroBinary, input, events),
        Format::ChampSim => records::decode(&mut champsim::ChampSim, input, events),
        Format::Dramsim => text::decode(&mut dramsim::Dramsim, input, events),
        Format::Ramulator => text::decode(&mut ramulator::Ramulator, input, events),
        Format::RamulatorCpu => text::decode(&mut ramulator_cpu::RamulatorCpu, input, events),
        Format::Ramulator2 => text::decode(&mut ramulator2::Ramulator2, input, events),
        Format::Drmemtrace => {
            records::decode(&mut drmemtrace::Drmemtrace::default(), input, events)
        }
        Format::Pinatrace => text::decode(&mut pinatrace::Pinatrace, input, events),
        Format::Recording => {
            let mut recording = recording::Recording::new(options.blocks.as_deref());
            records::decode(&mut recording, input, events)
        }
        Format::Gem5Packet => gem5_packet::decode(input, events),
        Format::Npy => npy::decode(input, events),
        Format::Csv => text::decode(&mut csv::Csv::new(column), input, events),
        Format::Parquet => parquet::decode(column, input, events),
        Format::Regex => {
            let mut pattern = regex::Pattern::new(options.pattern.as_deref())?;
            text::decode(&mut pattern, input, events)
        }
    }
}

fn unknown_format(name: &str) -> ImportError {
    let known = Format::ALL.map(|format| format.about().name).join(", ");
    ImportError::Options(format!("no format `{name}`; known here: {AUTO}, {known}"))
}
