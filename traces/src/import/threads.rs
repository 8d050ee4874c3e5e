//! Threads of one program, whose tool has written a file for each.

use crate::event::Event;
use crate::import::emitter::{Names, OfSeveral};
use crate::import::error::ImportError;
use crate::import::lives::Known;
use crate::import::lock_order::{LockOrder, Nested};
use crate::import::meetings::Groups;
use crate::import::source::STDIN;
use crate::import::{Import, Options, Report, about};
use crate::sink::{EventSink, SinkError};
use crate::store::{MOST_THREADS, TraceInfo};
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
        let mut late = Vec::with_capacity(self.paths.len());
        let mut nested = Nested::default();
        let (mut told, mut arrivals) = (Vec::new(), Vec::new());
        for (thread, path) in self.paths.iter().enumerate() {
            let ignored = Names::of(self.options.regions()?);
            let mut sink = LookedThrough { thread, take };
            let looked = open(path)?.read(ignored, Some(OfSeveral::default()), &mut sink)?;
            late.push(looked.began_late);
            nested.join(looked.nested);
            told.push(looked.life);
            arrivals.push(looked.arrivals);
        }
        let lives = Known::of_all(&told);
        let groups = Rc::new(Groups::of(&arrivals));
        let all_meet = groups.has_some() || lives.iter().any(Known::is_waited_for);
        let order = Rc::new(LockOrder::of(nested));
        let mut names = Names::of(self.options.regions()?);
        let mut all: Option<Report> = None;
        let known = self.paths.iter().zip(late).zip(lives);
        for (thread, ((path, begins_late), life)) in known.enumerate() {
            let known = OfSeveral {
                begins_late,
                order: Rc::clone(&order),
                number: thread,
                life,
                groups: Rc::clone(&groups),
                all_meet,
            };
            let mut sink = OfThread { thread, take };
            let mut read = open(path)?.read(names, Some(known), &mut sink)?;
            names = read.names;
            read.report.lost.retain(|lost| *lost != about::THREADS);
            all = Some(match all {
                None => read.report,
                Some(before) => before.and(read.report),
            });
        }
        let mut report = all.expect("a file at least");
        report.check(self.options.blocks.is_some())?;
        report.warnings.extend(warning_of(&order));
        report.warnings.extend(warning_of_barriers(&groups));
        report.tally.sites = names.known_sites();
        report.layout = names.layout();
        Ok(report)
    }
}

/// What the user should know of the order of locks.
fn warning_of(order: &LockOrder) -> Option<String> {
    let (count, lowest) = order.crossed()?;
    Some(format!(
        "{count} locks are taken in several orders, that at {lowest:#x} among them: a thread that takes one of them and holds others of higher \
         addresses gives those up until it has it, or threads could wait for each other for ever"
    ))
}

/// The same of barriers.
fn warning_of_barriers(groups: &Groups) -> Option<String> {
    let (count, lowest) = groups.uneven()?;
    Some(format!(
        "nobody waits at {count} barriers, that at {lowest:#x} among them: some threads come there more often than others"
    ))
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
