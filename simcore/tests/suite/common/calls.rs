//! Profiles of one call for the tests.

use simcore::profile::{DbmsSpec, RoutineSpec};
use simcore::spec::MachineSpec;
use traces::{Event, Kind, Layout};

/// Independent instructions without code, data or mispredictions.
pub fn routine(instructions: u32) -> RoutineSpec {
    RoutineSpec {
        instructions,
        code_bytes: 0,
        mispredicts_per_1000: 0,
        dependent_per_1000: 0,
        data_bytes: 0,
    }
}

/// The machine with a profile of one call.
pub fn with(mut spec: MachineSpec, routine: RoutineSpec) -> MachineSpec {
    spec.dbms = Some(DbmsSpec {
        name: "test".to_owned(),
        calls: [("work".to_owned(), routine)].into(),
        clock_tick: None,
    });
    spec
}

/// Two phases, and a call.
pub fn layout() -> Layout {
    Layout {
        calls: vec!["work".to_owned()],
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

/// That call.
pub fn call() -> Event {
    Event::new(Kind::Call, 0)
}
