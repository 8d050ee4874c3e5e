//! Loads before a DRAM, as they come in a core that is stepped cycle by cycle and tells DRAMSim3 of its lines in the order of time.

use crate::coherence::coherent;
use crate::common::mixes::Mix;
use crate::common::stepped_core::{contended, program, stepped, stepped_before};
use crate::common::stepped_memory::{SteppedDram, SteppedMemory};
use crate::common::*;
use crate::dram::{DDR4, HBM2, with_dram};
use crate::multicore::{Programs, on_all_cores_of};
use proptest::collection;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use simcore::Statistics;
use simcore::multicore::MulticoreStatistics;
use simcore::spec::{CoherenceProtocol, MachineSpec};
use simcore::statistics::DramStatistics;
use traces::{Event, Kind, Layout, OpClass};

/// Rows of one bank follow each other so many bytes apart.
const ROW: u64 = 1 << 24;

/// Where the lines of a program lie.
#[derive(Clone, Copy, Debug)]
enum Place {
    BesideEachOther,
    /// Each in a row of its own, all in one bank.
    InOneBank,
    Scattered,
}

/// What the addresses of a program are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addresses {
    AreKnown,
    /// From operations that need no load.
    FromOperations,
    FromLoads,
}

/// A mix, some of whose accesses are operations.
#[derive(Clone, Copy, Debug)]
struct Program {
    mix: Mix,
    place: Place,
    /// Of ten accesses, how many are operations.
    operations: u32,
    addresses: Addresses,
    mispredicts: bool,
}

/// Programs of several cores as they run, and as they run in the model.
struct RunOnCores {
    found: MulticoreStatistics,
    expected: Vec<u64>,
    dram: SteppedDram,
}

/// A mix of accesses to lines here and there whose addresses are known.
fn of(mix: Mix) -> Program {
    Program {
        mix,
        place: Place::Scattered,
        operations: 0,
        addresses: Addresses::AreKnown,
        mispredicts: true,
    }
}

fn mix() -> Mix {
    Mix {
        between: 10,
        pages: 100,
        ..Mix::default()
    }
}

impl Program {
    fn events(&self, runner: &mut TestRunner, core: u64) -> Vec<Event> {
        let mut events = self.mix.program(runner, core);
        let kinds = collection::vec((0..10_u32, proptest::bool::ANY), events.len());
        let kinds = kinds.new_tree(runner).expect("no filter").current();
        for (event, (kind, adds)) in events.iter_mut().zip(kinds) {
            if event.kind == Kind::Branch {
                event.address |= u64::from(!self.mispredicts);
            } else if kind < self.operations {
                (event.kind, event.address) = (Kind::Op, 0);
                event.size = if adds {
                    OpClass::Add
                } else {
                    OpClass::Multiply
                } as u16;
            } else {
                event.address = self.address(event.address / LINE);
            }
        }
        for number in 0..events.len() {
            let needs = number.checked_sub(events[number].dep as usize);
            let needs_operation = needs.is_some_and(|other| events[other].kind == Kind::Op);
            let has_address = events[number].kind.is_access();
            match self.addresses {
                Addresses::AreKnown if has_address => events[number].dep = 0,
                Addresses::FromOperations if !needs_operation => events[number].dep = 0,
                _ => {}
            }
        }
        events
    }

    fn address(&self, line: u64) -> u64 {
        match self.place {
            Place::BesideEachOther => line * LINE,
            Place::InOneBank => line % 4096 * ROW,
            Place::Scattered => line * 7919 % 30_011 * 1009 % (1 << 18) * LINE,
        }
    }

    /// Random ones, so many, as they run and as they run in the model, where nobody waits for a port or a branch unit.
    fn runs(self, spec: &MachineSpec, programs: usize) -> Vec<(Statistics, u64, SteppedDram)> {
        let mut spec = spec.clone();
        self.mix.prepare(&mut spec);
        let mut runner = TestRunner::deterministic();
        let runs = (0..programs).map(|_| {
            let events = self.events(&mut runner, 0);
            let found = run(&spec, &events);
            let (cycles, memory) = stepped_before(&spec, 0, &[events]);
            let SteppedMemory::Dram(dram) = memory else {
                unreachable!("the machine has one");
            };
            (found, cycles[0], *dram)
        });
        runs.collect()
    }

    /// The same on so many cores at once.
    fn runs_on(self, spec: &MachineSpec, cores: u64, runs: usize) -> Vec<RunOnCores> {
        let mut spec = spec.clone();
        spec.cores = cores as u32;
        self.mix.prepare(&mut spec);
        let mut runner = TestRunner::deterministic();
        let runs = (0..runs).map(|_| {
            let events = (0..cores).map(|core| self.events(&mut runner, core));
            let events: Vec<_> = events.collect();
            let found = on_all_cores_of(&spec, &events, Programs::Threads, &Layout::default());
            let (expected, memory) = stepped_before(&spec, 0, &events);
            let SteppedMemory::Dram(dram) = memory else {
                unreachable!("the machine has one");
            };
            RunOnCores {
                found,
                expected,
                dram: *dram,
            }
        });
        runs.collect()
    }

    /// So many programs take the same cycles as in the model, and read as much in the same time, of which nothing is late.
    fn assert_same(self, spec: &MachineSpec, programs: usize) {
        let (handlers, core) = (spec.caches[0].mshrs, &spec.core);
        let (entries, buffer) = (core.reorder_buffer, core.store_buffer_entries);
        for (found, cycles, dram) in self.runs(spec, programs) {
            let about =
                format!("{self:?}: {handlers:?} handlers, {entries:?} and {buffer} entries");
            assert_eq!(found.cycles, cycles, "{about}");
            assert_same_reads(found.dram, &dram, &about);
        }
    }

    /// The same on so many cores at once.
    fn assert_same_on(self, spec: &MachineSpec, cores: u64, runs: usize) {
        let (handlers, entries) = (spec.caches[0].mshrs, spec.core.reorder_buffer);
        for run in self.runs_on(spec, cores, runs) {
            let found: Vec<_> = run.found.cores.iter().map(|core| core.cycles).collect();
            let about = format!(
                "{self:?} on {cores} cores with {handlers:?} handlers and {entries:?} entries"
            );
            assert_eq!(found, run.expected, "{about}");
            assert_same_reads(run.found.together.dram, &run.dram, &about);
        }
    }
}

/// Reads are as many as in the model, none is late, and all together take as long, but for those whose line another wants earlier: who waits for a
/// page's walk may have asked for it before.
fn assert_same_reads(found: Option<DramStatistics>, expected: &SteppedDram, about: &str) {
    let found = found.expect("a DRAM inside");
    assert_eq!(
        (found.reads, found.late_reads),
        (expected.reads, 0),
        "{about}"
    );
    let (ours, theirs) = (found.read_latency_cycles, expected.latency);
    assert!(
        ours.abs_diff(theirs) * 1000 <= theirs,
        "{about}: {ours} cycles, {theirs} expected"
    );
}

fn machine_of(text: &str, handlers: u32, entries: u32) -> MachineSpec {
    let mut spec = with_dram(machine(), text);
    spec.core.reorder_buffer = Some(entries);
    spec.caches[0].mshrs = Some(handlers);
    spec
}

/// Addresses that are computed from no load, and whatever else.
#[test]
fn where_no_address_is_computed_from_a_load_programs_take_the_same_cycles() {
    let merges = Mix {
        common: 5,
        lines: 20,
        ..mix()
    };
    let prefetches = Mix {
        prefetches: 3,
        ahead: 10,
        ..mix()
    };
    let branches = Mix {
        needs: 6,
        branches: 2,
        ..mix()
    };
    let programs = [
        of(mix()),
        of(Mix {
            between: 1,
            ..mix()
        }),
        of(Mix {
            between: 40,
            ..mix()
        }),
        Program {
            place: Place::BesideEachOther,
            ..of(Mix { pages: 1, ..mix() })
        },
        Program {
            place: Place::InOneBank,
            ..of(Mix { pages: 1, ..mix() })
        },
        of(merges),
        of(prefetches),
        of(branches),
        of(Mix {
            exchanges: 4,
            ..merges
        }),
        Program {
            operations: 4,
            mispredicts: false,
            ..of(Mix {
                needs: 8,
                ..branches
            })
        },
        Program {
            operations: 4,
            ..of(Mix {
                prefetches: 2,
                ahead: 8,
                common: 2,
                lines: 20,
                ..branches
            })
        },
    ];
    for program in programs {
        for (text, handlers, entries) in [
            (DDR4, 128, 128),
            (DDR4, 16, 64),
            (DDR4, 4, 128),
            (DDR4, 2, 16),
            (DDR4, 1, 64),
            (HBM2, 128, 128),
            (HBM2, 4, 16),
        ] {
            let spec = machine_of(text, handlers, entries);
            program.assert_same(&spec, 5);
        }
    }
}

/// So are addresses that operations compute which need no load, and lines that somebody wants first who comes later in the program.
#[test]
fn addresses_that_take_time_to_compute_are_asked_for_in_the_order_of_time() {
    for between in [10, 40] {
        let mix = Mix {
            needs: 5,
            common: 5,
            lines: 20,
            between,
            ..mix()
        };
        let program = Program {
            operations: 5,
            addresses: Addresses::FromOperations,
            ..of(mix)
        };
        for (handlers, entries) in [(128, 128), (16, 64), (4, 128), (1, 64)] {
            program.assert_same(&machine_of(DDR4, handlers, entries), 8);
        }
    }
}

/// Programs in which accesses wait for others: addresses are computed from what is loaded, and stores that miss stand behind loads.
fn that_wait() -> Vec<Program> {
    let from_loads = |mix| Program {
        addresses: Addresses::FromLoads,
        ..of(mix)
    };
    let needs = Mix { needs: 3, ..mix() };
    let stores = Mix { stores: 3, ..mix() };
    let merges = Mix {
        needs: 4,
        common: 5,
        lines: 20,
        ..mix()
    };
    let all = Mix {
        branches: 2,
        prefetches: 2,
        ahead: 8,
        ..merges
    };
    vec![
        from_loads(needs),
        from_loads(Mix {
            between: 40,
            ..needs
        }),
        from_loads(merges),
        of(stores),
        from_loads(Mix { stores: 3, ..needs }),
        Program {
            operations: 3,
            ..from_loads(all)
        },
        Program {
            operations: 2,
            ..from_loads(Mix {
                stores: 3,
                exchanges: 1,
                ..all
            })
        },
    ]
}

/// Whatever waits for a line asks when it is there, and DRAMSim3 hears of that before it has gone on any further.
#[test]
fn what_waits_for_lines_asks_in_the_order_of_time() {
    for program in that_wait() {
        for (text, handlers, entries, buffer) in [
            (DDR4, 128, 128, 24),
            (DDR4, 16, 128, 24),
            (DDR4, 16, 16, 4),
            (DDR4, 4, 128, 24),
            (DDR4, 2, 64, 64),
            (DDR4, 1, 64, 12),
            (HBM2, 24, 256, 48),
        ] {
            let mut spec = machine_of(text, handlers, entries);
            spec.core.store_buffer_entries = buffer;
            program.assert_same(&spec, 6);
        }
    }
}

/// So it does on several cores, which hear of each other's requests: as programs of threads, that have nothing in common but the DRAM.
#[test]
fn several_cores_take_the_same_cycles() {
    let branches = Mix {
        needs: 6,
        branches: 2,
        ..mix()
    };
    let all = Program {
        operations: 4,
        ..of(Mix {
            prefetches: 2,
            ahead: 8,
            common: 2,
            lines: 20,
            ..branches
        })
    };
    let dense = Mix {
        between: 1,
        ..mix()
    };
    let stores = Mix {
        stores: 10,
        ..mix()
    };
    let mut programs = vec![of(mix()), of(dense), of(branches), of(stores), all];
    programs.extend(that_wait());
    for program in programs {
        for (text, cores, handlers, entries) in [
            (DDR4, 2, 128, 128),
            (DDR4, 4, 16, 64),
            (DDR4, 4, 4, 128),
            (DDR4, 3, 1, 64),
            (HBM2, 4, 128, 128),
        ] {
            program.assert_same_on(&machine_of(text, handlers, entries), cores, 3);
        }
    }
}

/// Nor do coherent caches make a difference, where no core has what another accesses.
#[test]
fn cores_with_coherent_caches_take_the_same_cycles() {
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        for program in that_wait() {
            if program.mix.common > 0 {
                continue;
            }
            for (cores, handlers, entries) in [(2, 128, 128), (4, 16, 64), (4, 4, 128)] {
                let mut spec = with_dram(coherent(protocol), DDR4);
                spec.core.reorder_buffer = Some(entries);
                spec.caches[0].mshrs = Some(handlers);
                let apart = Program {
                    place: Place::BesideEachOther,
                    ..program
                };
                apart.assert_same_on(&spec, cores, 3);
            }
        }
    }
}

/// A chain has one load under way, beside cores that fill the DRAM.
#[test]
fn a_chain_of_misses_waits_where_others_fill_the_dram() {
    let chase = program(0, 60, |_, load| after(1, load));
    for hogs in 1..=3 {
        let spec = with_dram(contended(machine(), 1), DDR4);
        let mut programs = vec![chase.clone()];
        programs.extend((1..=hogs).map(|core| program(core, 1200, |_, load| load)));
        let cycles = |programs: &[Vec<Event>]| -> Vec<u64> {
            let run = on_all_cores_of(&spec, programs, Programs::Threads, &Layout::default());
            run.cores.iter().map(|core| core.cycles).collect()
        };
        let (alone, beside) = (cycles(&programs[..1]), cycles(&programs));
        assert!(
            2 * beside[0] > 3 * alone[0],
            "{hogs}: {beside:?}, {alone:?} alone"
        );
        assert_eq!(beside, stepped(&spec, 1, &programs), "{hogs}");
    }
}

/// Stores ask when they have graduated, and nothing waits for them but the store buffer that is full.
#[test]
fn programs_of_stores_take_the_same_cycles() {
    let stores = Mix {
        stores: 10,
        ..mix()
    };
    let common = Mix {
        common: 5,
        lines: 20,
        ..stores
    };
    let dense = Mix {
        between: 1,
        ..stores
    };
    for program in [of(stores), of(dense), of(common)] {
        for (text, handlers, entries, buffer) in [
            (DDR4, 128, 128, 64),
            (DDR4, 16, 64, 64),
            (DDR4, 16, 64, 4),
            (DDR4, 4, 128, 12),
            (DDR4, 1, 64, 24),
            (HBM2, 128, 128, 128),
        ] {
            let mut spec = machine_of(text, handlers, entries);
            spec.core.store_buffer_entries = buffer;
            program.assert_same(&spec, 4);
        }
    }
}

/// What each core loads is copied into a line of its own, which it has alone. Nobody knows when such a store graduates, and nobody has to.
#[test]
fn stores_to_what_a_core_has_alone_let_its_loads_stay_open() {
    let lines = 100;
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        for (handlers, entries) in [(128, 128), (16, 64), (4, 128)] {
            let mut spec = with_dram(coherent(protocol), DDR4);
            spec.core.reorder_buffer = Some(entries);
            spec.caches[0].mshrs = Some(handlers);
            let programs: Vec<_> = (0..4)
                .map(|core| {
                    let own = (core + 10) << 30;
                    let mut events = vec![store(own)];
                    events.extend(delay(2000));
                    for line in 0..lines {
                        let far = core * lines + line * 7919 % lines;
                        events.push(plain(5, load(far * 1009 * LINE)));
                        events.push(after(1, store(own + line * 4 % LINE)));
                    }
                    events
                })
                .collect();
            let run = on_all_cores_of(&spec, &programs, Programs::Threads, &Layout::default());
            let cycles: Vec<_> = run.cores.iter().map(|core| core.cycles).collect();
            assert_eq!(run.together.dram.expect("a DRAM inside").late_reads, 0);
            assert_eq!(
                cycles,
                stepped(&spec, 0, &programs),
                "{protocol:?} with {handlers} handlers and {entries} entries"
            );
        }
    }
}
