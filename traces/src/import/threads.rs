//! Threads of one program, whose tool has written a file for each.

use crate::event::Event;
use crate::import::emitter::Names;
use crate::import::error::ImportError;
use crate::import::source::STDIN;
use crate::import::waits::{Plan, Planned, Told};
use crate::import::{Import, Options, Report, about};
use crate::sink::{EventSink, SinkError};
use crate::store::{MOST_THREADS, TraceInfo};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Takes the events of a thread, told by its number.
pub type Take<'t> = dyn FnMut(usize, &[Event]) -> Result<(), SinkError> + 't;

/// Foreign traces that become one trace with a thread for each. Names hold for all of them.
pub struct Threads {
    paths: Vec<PathBuf>,
    options: Options,
    info: TraceInfo,
}

impl Threads {
    /// Opens a file for each thread.
    ///
    /// # Errors
    /// As for [`Import::open`]; or there are too many, one is standard input or a pipe, or formats differ.
    pub fn open(paths: &[&Path], options: Options) -> Result<Self, ImportError> {
        if paths.len() > MOST_THREADS as usize {
            let given = paths.len();
            return Err(ImportError::Options(format!(
                "{given} files: a program has up to {MOST_THREADS} threads"
            )));
        }
        // Files are read twice.
        let cannot =
            |path: &&&Path| path.as_os_str() == STDIN || (path.exists() && !path.is_file());
        if let Some(path) = paths.iter().find(cannot) {
            return Err(ImportError::Options(format!(
                "{}: not a file; several threads need one for each",
                path.display()
            )));
        }
        let mut known = HashSet::new();
        let twice = |path: &&&Path| path.canonicalize().is_ok_and(|file| !known.insert(file));
        if let Some(path) = paths.iter().find(twice) {
            return Err(ImportError::Options(format!(
                "{}: given twice; each thread has a file of its own",
                path.display()
            )));
        }
        let mut options = options;
        let mut info = None;
        for path in paths {
            let import = Import::open(path, options.clone())?;
            import.format().about().name.clone_into(&mut options.format);
            info.get_or_insert_with(|| import.info());
        }
        let Some(mut info) = info else {
            return Err(ImportError::Options("no file is given".to_owned()));
        };
        info.threads = paths.len() as u32;
        Ok(Self {
            paths: paths.iter().map(|path| path.to_path_buf()).collect(),
            options,
            info,
        })
    }

    /// As [`Import::info`].
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// Sends the events of one thread after the other to `take`; now and then none, while files are looked through.
    ///
    /// # Errors
    /// As for [`Import::run`].
    pub fn run(self, take: &mut Take<'_>) -> Result<Report, ImportError> {
        let open = |path: &PathBuf| Import::open(path, self.options.clone());
        // What a thread did before it asked to be recorded cannot be forgotten alone, and who waits for whom is a matter of all threads. So
        // both are found out first.
        let (mut late, mut told) = (Vec::new(), Vec::new());
        for (thread, path) in self.paths.iter().enumerate() {
            let ignored = Names::of(self.options.regions()?);
            let mut sink = LookedThrough { thread, take };
            let looked = open(path)?.read(ignored, Some((false, Planned::default())), &mut sink)?;
            late.push(looked.began_late);
            told.push(looked.waits);
        }
        self.check_said(&told)?;
        let mut plan = Plan::of(told);
        let mut names = Names::of(self.options.regions()?);
        let mut all: Option<Report> = None;
        for (thread, (path, begins_late)) in self.paths.iter().zip(late).enumerate() {
            let planned = plan.of_thread(thread);
            let mut sink = OfThread { thread, take };
            let mut read = open(path)?.read(names, Some((begins_late, planned)), &mut sink)?;
            names = read.names;
            read.report.lost.retain(|lost| *lost != about::THREADS);
            all = Some(match all {
                None => read.report,
                Some(before) => before.and(read.report),
            });
        }
        let mut report = all.expect("a file at least");
        report.check(self.options.blocks.is_some())?;
        report.warnings.extend(plan.warnings());
        report.tally.sites = names.known_sites();
        report.layout = names.layout(&mut report.warnings);
        Ok(report)
    }
}

impl Threads {
    /// Refuses threads that say more often than others that they wait there for all: who says it last would wait for ever.
    fn check_said(&self, told: &[Told]) -> Result<(), ImportError> {
        let threads = self.paths.iter().zip(told);
        let counts = threads.map(|(path, told)| (path, told.said));
        let counts: Vec<_> = counts.filter(|&(_, said)| said > 0).collect();
        if counts.iter().all(|&(_, said)| said == counts[0].1) {
            return Ok(());
        }
        let each = counts
            .iter()
            .map(|(path, said)| format!("{}: {said} times", path.display()));
        Err(ImportError::Options(format!(
            "threads say memwalk_barrier() unequally often ({}); all that say it do so equally often, or leave it out",
            each.collect::<Vec<_>>().join(", ")
        )))
    }
}

/// A thread whose events nobody wants yet.
struct LookedThrough<'t, 's> {
    thread: usize,
    take: &'t mut Take<'s>,
}

impl EventSink for LookedThrough<'_, '_> {
    fn consume(&mut self, _: &[Event]) -> Result<(), SinkError> {
        (self.take)(self.thread, &[])
    }

    fn forget(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The events of one thread.
struct OfThread<'t, 's> {
    thread: usize,
    take: &'t mut Take<'s>,
}

impl EventSink for OfThread<'_, '_> {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        (self.take)(self.thread, events)
    }
}
