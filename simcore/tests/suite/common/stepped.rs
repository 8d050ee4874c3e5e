//! Cores and a device stepped side by side picosecond by picosecond.

use std::collections::HashMap;
use traces::{Event, Kind};

/// A core that runs an instruction a cycle.
struct Stepped<'e> {
    events: std::slice::Iter<'e, Event>,
    next: Option<Event>,
    cycle: u64,
    stopped: u64,
    /// The request that it waits for.
    waits: Option<u64>,
    ended: bool,
}

/// The same run with the cores and the device stepped side by side picosecond by picosecond: cycles of each core, and those among them in
/// which it was stopped. Nothing, if two cores ask for something in the same picosecond: who comes first is nobody's business.
pub fn stepped(hz: u64, threads: &[Vec<Event>], times_ps: &[u64]) -> Option<Vec<(u64, u64)>> {
    let begins = |cycle: u64| (u128::from(cycle) * 1_000_000_000_000 / u128::from(hz)) as u64;
    let mut cores: Vec<Stepped<'_>> = threads
        .iter()
        .map(|events| {
            let mut events = events.iter();
            let next = events.next().copied();
            Stepped {
                events,
                next,
                cycle: 0,
                stopped: 0,
                waits: None,
                ended: false,
            }
        })
        .collect();
    let mut queue: Vec<(u64, u64)> = Vec::new(); // number of the request, and what is left of its time
    let (mut asked, mut ahead, mut done) = (0_u64, HashMap::new(), Vec::new());
    let mut came: Vec<(u64, u16, u64)> = Vec::new(); // page, fill and number of the request of whoever was first to come
    let mut written: Option<u64> = None;
    for ps in 0.. {
        if let Some((number, left)) = queue.first_mut() {
            *left -= 1;
            if *left == 0 {
                done.push(*number);
                queue.remove(0);
            }
        }
        let mut askers = 0;
        for core in &mut cores {
            if ps != begins(core.cycle) || core.ended && core.waits.is_none() {
                continue;
            }
            let mut asks = false;
            while core.waits.is_none_or(|number| done.contains(&number)) {
                core.waits = None;
                let Some(event) = &mut core.next else {
                    core.ended = true;
                    break;
                };
                if event.instructions > 0 {
                    event.instructions -= 1;
                    break;
                }
                let page = event.address;
                let mut ask = || {
                    asked += 1;
                    queue.push((asked, times_ps[page as usize % times_ps.len()]));
                    asked
                };
                let fill = event.fill();
                let before = came
                    .iter()
                    .rfind(|&&(other, latest, _)| other == page && latest >= fill && fill > 0);
                match (event.kind, before) {
                    (Kind::PageRead | Kind::PageWait, Some(&(.., number))) => {
                        core.waits = Some(number);
                    }
                    (Kind::PageRead | Kind::PageWait, None) => {
                        let number = ahead.remove(&page).unwrap_or_else(ask);
                        core.waits = Some(number);
                        if fill > 0 {
                            came.push((page, fill, number));
                        }
                    }
                    (Kind::PagePrefetch, Some(_)) => {}
                    (Kind::PagePrefetch, None) => {
                        ahead.entry(page).or_insert_with(ask);
                    }
                    _ => core.waits = written.replace(ask()),
                }
                asks = true;
                core.next = core.events.next().copied();
            }
            askers += usize::from(asks);
            if core.ended && core.waits.is_none() {
                continue;
            }
            core.cycle += 1;
            core.stopped += u64::from(core.waits.is_some());
        }
        if askers > 1 {
            return None;
        }
        if cores.iter().all(|core| core.ended && core.waits.is_none()) {
            let Some(number) = written.take().filter(|number| !done.contains(number)) else {
                return Some(
                    cores
                        .iter()
                        .map(|core| (core.cycle, core.stopped))
                        .collect(),
                );
            };
            let last = cores
                .iter_mut()
                .max_by_key(|core| core.cycle)
                .expect("some");
            last.waits = Some(number);
            if ps == begins(last.cycle) {
                last.cycle += 1;
                last.stopped += 1;
            }
        }
    }
    unreachable!("the run has an end")
}
