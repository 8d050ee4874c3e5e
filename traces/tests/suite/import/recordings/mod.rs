//! What memwalk's own recorder writes.

mod accesses;
mod barriers;
mod lives;
mod locks;
mod signals;
mod threads;
mod together;

use super::*;

const LOAD: u64 = 1;
const EXCHANGE: u64 = 3;
const LOADS: u64 = 4;
const MESSAGE: u64 = 6;
const END: u64 = 7;
const LATCH: u64 = 8;
const SHARE_LATCH: u64 = 9;
const UNLATCH: u64 = 10;
const BLOCK: u64 = 11;
const BEGIN: u64 = 12;
const AWAIT: u64 = 13;
const THREAD: u64 = 14;
const MEET: u64 = 15;
const SIGNAL: u64 = 16;
const WAKE: u64 = 17;
const COPY: u64 = 18;
const MET: u64 = 19;

/// The beginning of a recording.
fn begun() -> Vec<u8> {
    let mut bytes = b"memwalk recording 2\n".to_vec();
    bytes.resize(24, 0);
    bytes
}

fn add(bytes: &mut Vec<u8>, address: u64, value: u64, place: u64) {
    for number in [address, value, place] {
        bytes.extend(number.to_le_bytes());
    }
}

/// A load of 8 bytes, which reads `value`.
fn add_load(bytes: &mut Vec<u8>, address: u64, value: u64) {
    add(bytes, address, value, LOAD << 56 | 8 << 48);
}

fn add_message(bytes: &mut Vec<u8>, text: &str) {
    add(bytes, 0, text.len() as u64, MESSAGE << 56);
    bytes.extend(text.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(24), 0);
}

/// A basic block at a place in the code, which runs with the stack pointer at `stack`.
fn add_block(bytes: &mut Vec<u8>, place: u64, stack: u64, is_entry: bool) {
    add(bytes, stack, u64::from(is_entry), BLOCK << 56 | place);
}

fn ended(mut bytes: Vec<u8>, others: u64) -> Vec<u8> {
    let records = bytes.len() as u64 / 24;
    add(&mut bytes, records, others, END << 56);
    bytes
}

fn imported(bytes: &[u8]) -> (Vec<Event>, Report) {
    import_bytes(bytes, options("recording")).unwrap()
}

/// How far back the event stands that each one needs.
fn deps(events: &[Event]) -> Vec<u32> {
    events.iter().map(|event| event.dep).collect()
}

/// A recording in a file, for imports of several.
fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The events of each thread.
fn import_threads(paths: &[&PathBuf]) -> Result<(Vec<Vec<Event>>, Report), ImportError> {
    let paths: Vec<_> = paths.iter().map(|path| path.as_path()).collect();
    let threads = Threads::open(&paths, options("auto"))?;
    assert_eq!(threads.info().threads as usize, paths.len());
    let mut events = vec![Vec::new(); paths.len()];
    let report = threads.run(&mut |thread, more| {
        events[thread].extend_from_slice(more);
        Ok(())
    })?;
    Ok((events, report))
}

/// A lock is taken, as the recorder says it: `kind` is how.
fn add_taken(bytes: &mut Vec<u8>, kind: u64, lock: u64) {
    for (kind, size) in [(kind, 0), (EXCHANGE, 4)] {
        add(bytes, lock, 0, kind << 56 | size << 48 | 0x401);
    }
}

fn add_released(bytes: &mut Vec<u8>, lock: u64) {
    for (kind, size) in [(EXCHANGE, 4), (UNLATCH, 0)] {
        add(bytes, lock, 0, kind << 56 | size << 48 | 0x402);
    }
}

/// Kinds and addresses of a program's events, by thread.
fn threads_of(recordings: &[Vec<u8>]) -> (Vec<Vec<(Kind, u64)>>, Report) {
    let folder = tempfile::tempdir().unwrap();
    let files = recordings
        .iter()
        .enumerate()
        .map(|(thread, bytes)| file(&folder, &format!("t.{thread}"), &ended(bytes.clone(), 0)));
    let files: Vec<_> = files.collect();
    let (events, report) = import_threads(&files.iter().collect::<Vec<_>>()).unwrap();
    let told = |events: Vec<Event>| {
        let told = events.iter().map(|event| (event.kind, event.address));
        told.collect()
    };
    (events.into_iter().map(told).collect(), report)
}

const A: u64 = 0x11000;
const B: u64 = 0x12000;

/// Waits until a latch has been released.
fn waits(latch: u64) -> [(Kind, u64); 2] {
    [(Kind::ShareLatch, latch), (Kind::Unlatch, latch)]
}

/// Whether all threads come to their ends if each step is that of a thread which `choices` name, of those that can go on.
fn all_end(threads: &[Vec<(Kind, u64)>], choices: &[usize]) -> bool {
    let mut next = vec![0; threads.len()];
    // Who holds which latch, and whether alone.
    let mut held: Vec<(u64, usize, bool)> = Vec::new();
    let mut choices = choices.iter().cycle();
    loop {
        let at = |thread: usize| threads[thread].get(next[thread]).copied();
        let barriers = |thread: usize| matches!(at(thread), Some((Kind::Barrier, _)));
        let free = |thread: usize| match at(thread) {
            None => false,
            Some((Kind::Barrier, _)) => (0..threads.len()).all(barriers),
            Some((kind, lock)) if kind.wants_latch() => held.iter().all(|&(of, by, alone)| {
                of != lock || by == thread || !alone && kind == Kind::ShareLatch
            }),
            Some(_) => true,
        };
        let free: Vec<_> = (0..threads.len()).filter(|&thread| free(thread)).collect();
        if free.is_empty() {
            return (0..threads.len()).all(|thread| at(thread).is_none());
        }
        let thread = free[choices.next().unwrap() % free.len()];
        match at(thread) {
            Some((Kind::Barrier, _)) => next.iter_mut().for_each(|next| *next += 1),
            Some((kind, lock)) => {
                if kind.wants_latch() {
                    held.push((lock, thread, kind == Kind::Latch));
                } else if kind == Kind::Unlatch {
                    held.retain(|&(of, by, _)| (of, by) != (lock, thread));
                }
                next[thread] += 1;
            }
            None => unreachable!("it can go on"),
        }
    }
}

/// A signal of the condition at B, or a waking.
fn add_condition(bytes: &mut Vec<u8>, kind: u64, when: u64) {
    add(bytes, B, when, kind << 56 | 0x404);
}

/// A record of a thread: what it is called, or that it begins another or waits for its end.
fn add_thread(bytes: &mut Vec<u8>, kind: u64, name: u64) {
    add(bytes, 0, name, kind << 56 | u64::from(kind != THREAD));
}

/// A recording that begins with what the thread is called.
fn begun_as(name: u64) -> Vec<u8> {
    let mut bytes = begun();
    add_thread(&mut bytes, THREAD, name);
    bytes
}
