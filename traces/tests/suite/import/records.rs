//! Records of bytes: every slot of an instruction, which of its branches depend on something, and how long instructions are.

use super::*;

/// An instruction as ChampSim's tracer has it, a branch that is taken if it is one.
fn champsim(is_branch: bool, registers: [u8; 6], memory: [u64; 6]) -> Vec<u8> {
    let is_branch = u8::from(is_branch);
    let mut record = 0x40_0000_u64.to_le_bytes().to_vec();
    record.extend([is_branch, is_branch]);
    record.extend(registers);
    record.extend(memory.into_iter().flat_map(u64::to_le_bytes));
    record
}

#[test]
fn every_slot_of_an_instruction_is_an_access() {
    let bytes = champsim(false, [0; 6], [0x100, 0x200, 0x300, 0x400, 0x500, TOP]);
    let (events, _) = import_bytes(&bytes, options("champsim")).unwrap();
    let loads = [0x300, 0x400, 0x500, TOP].map(|address| (Kind::Load, address));
    let stores = [0x100, 0x200].map(|address| (Kind::Store, address));
    let accesses: Vec<_> = events
        .iter()
        .map(|event| (event.kind, event.address))
        .collect();
    assert_eq!(accesses, [&loads[..], &stores].concat());
}

/// Those that ChampSim calls conditional. Registers are what is written, twice, then what is read.
#[test]
fn only_a_branch_that_depends_on_something_is_foretold() {
    const NONE: u8 = 0;
    const STACK: u8 = 6;
    const FLAGS: u8 = 25;
    const PLACE: u8 = 26;
    const OTHER: u8 = 3;
    for (name, registers, is_foretold) in [
        ("on flags", [PLACE, NONE, PLACE, FLAGS, NONE, NONE], true),
        (
            "on a register",
            [PLACE, NONE, PLACE, OTHER, NONE, NONE],
            true,
        ),
        ("jump", [PLACE, NONE, PLACE, NONE, NONE, NONE], false),
        (
            "indirect jump",
            [PLACE, NONE, OTHER, NONE, NONE, NONE],
            false,
        ),
        ("call", [PLACE, STACK, PLACE, STACK, NONE, NONE], false),
        (
            "indirect call",
            [PLACE, STACK, PLACE, STACK, OTHER, NONE],
            false,
        ),
        ("return", [PLACE, STACK, STACK, NONE, NONE, NONE], false),
        (
            "jump on a stack",
            [PLACE, NONE, PLACE, STACK, OTHER, NONE],
            false,
        ),
        (
            "jump that pushes",
            [PLACE, STACK, PLACE, OTHER, NONE, NONE],
            false,
        ),
        ("no jump", [OTHER, NONE, PLACE, FLAGS, NONE, NONE], false),
    ] {
        let bytes = champsim(true, registers, [0, 0, 0x1000, 0, 0, 0]);
        let (events, _) = import_bytes(&bytes, options("champsim")).unwrap();
        let branches = events.iter().filter(|event| event.kind == Kind::Branch);
        assert_eq!(branches.count(), usize::from(is_foretold), "{name}");
    }
}

/// A record of drmemtrace's: its type, its size and its address, or the lengths of instructions.
fn drmemtrace(records: &[(u16, u16, [u8; 8])]) -> Vec<u8> {
    let whole = [&[(25, 0, [0; 8])], records, &[(26, 0, [0; 8])]].concat();
    let bytes = |(kind, size, address): &(u16, u16, [u8; 8])| {
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), address].concat()
    };
    whole.iter().flat_map(bytes).collect()
}

#[test]
fn instructions_of_a_bundle_stand_one_behind_the_other() {
    let bytes = drmemtrace(&[
        (10, 4, 0x1000_u64.to_le_bytes()),
        (17, 3, [3, 0, 7, 9, 9, 9, 9, 9]),
        (17, 1, [2, 9, 9, 9, 9, 9, 9, 9]),
        (0, 8, 0x5000_u64.to_le_bytes()),
    ]);
    let options = Options {
        instructions: Instructions::Fetch,
        ..options("drmemtrace")
    };
    let (events, _) = import_bytes(&bytes, options).unwrap();
    let fetched = events.iter().filter(|event| event.kind == Kind::Fetch);
    let fetched: Vec<_> = fetched.map(|event| (event.address, event.size)).collect();
    // One without a length is counted and not fetched.
    assert_eq!(
        fetched,
        [(0x1000, 4), (0x1004, 3), (0x1007, 7), (0x100e, 2)]
    );
    let mut counter = Counter::default();
    counter.count(&events);
    assert_eq!(counter.instructions, 5);
}

#[test]
fn a_bundle_has_room_for_eight() {
    let of = |count: u16| drmemtrace(&[(17, count, [1; 8]), (0, 8, [1; 8])]);
    assert!(import_bytes(&of(8), options("drmemtrace")).is_ok());
    let refused = refusal(&of(9), "drmemtrace");
    assert!(
        refused.contains("a bundle of 9 instructions; it holds at most 8"),
        "{refused}"
    );
}
