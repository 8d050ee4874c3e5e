//! A list in Rust that is recorded by memwalk: docs/your-own-program.md.
//!
//! usage: linked_list [NODES]

use std::ffi::{CString, c_char};

unsafe extern "C" {
    /// Takes a line such as `phase walk`; memwalk_recorder.c has it.
    fn memwalk_message(line: *const c_char);
}

fn tell(line: &str) {
    let line = CString::new(line).expect("no zero byte");
    // SAFETY: the line ends in a zero byte, and is only read.
    unsafe { memwalk_message(line.as_ptr()) }
}

struct Node {
    value: u64,
    next: Option<Box<Node>>,
    _rest: [u64; 5], // 64 bytes with what the allocator keeps
}

fn main() {
    let nodes = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().expect("a number of nodes"));
    let mut first: Option<Box<Node>> = None;
    for value in 0..nodes {
        first = Some(Box::new(Node { value, next: first, _rest: [0; 5] }));
    }
    tell("on");
    tell("phase walk");
    let (mut sum, mut node) = (0u64, &first);
    while let Some(one) = node {
        sum += one.value;
        node = &one.next;
    }
    tell("off");
    assert_eq!(sum, nodes * (nodes - 1) / 2);
    // Nodes that drop each other would take a stack as deep as the list is long.
    while let Some(one) = first {
        first = one.next;
    }
}
