//! Conditional branches of a program that says which of its basic blocks run.
//!
//! A basic block ends in a branch if more than one block has followed it. Which function has called which is seen by the stack pointer: a
//! block that runs with a higher one than the function that ran last belongs to a caller of it.

use crate::import::sites::Multiplied;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Functions under way that are remembered: of deeper recursions the outer ones are forgotten, and with them a branch of each.
const MOST_FRAMES: usize = 1 << 16;
/// Blocks whose followers are remembered: the first of a program.
const MOST_BLOCKS: usize = 1 << 20;

/// A function that is under way.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The stack pointer with which it began.
    stack: u64,
    /// The block that it ran last.
    block: u64,
    /// The event that has loaded last in that block, or in what it has called.
    loaded: Option<u64>,
    /// The event that has loaded last in the function.
    latest: Option<u64>,
}

/// What has followed a block.
#[derive(Clone, Copy, Debug)]
struct Followers {
    /// The block that followed it first.
    first: u64,
    /// Others have, too.
    differ: bool,
}

/// How the branch at the end of a block went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    /// The block.
    pub(super) block: u64,
    /// Another block followed than the first time.
    pub(super) taken: bool,
    /// The event that has loaded last in the block: the branch is taken to compare what that brought.
    pub(super) needed: Option<u64>,
}

/// The functions under way, and what is known of their blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    frames: Vec<Frame>,
    followers: HashMap<u64, Followers, BuildHasherDefault<Multiplied>>,
}

impl Blocks {
    /// Event `event` has loaded something.
    #[inline]
    pub(super) fn loaded(&mut self, event: u64) {
        if let Some(frame) = self.frames.last_mut() {
            (frame.loaded, frame.latest) = (Some(event), Some(event));
        }
    }

    /// Block `block` begins, with the stack pointer at `stack`; it may be the first of a function. The branch that led to it, if one did.
    pub(super) fn begin(&mut self, block: u64, stack: u64, is_entry: bool) -> Option<Branch> {
        // A function that is called has a lower stack pointer than its caller, so what has ended is at or below it.
        self.leave(|frame| frame.stack < stack || is_entry && frame.stack == stack);
        let function = self.frames.last_mut().filter(|_| !is_entry);
        let Some(frame) = function else {
            self.enter(block, stack);
            return None;
        };
        let before = *frame;
        (frame.block, frame.loaded) = (block, None);
        self.follow(before, block)
    }

    /// Enters a function.
    fn enter(&mut self, block: u64, stack: u64) {
        if self.frames.len() == MOST_FRAMES {
            self.frames.drain(..MOST_FRAMES / 2);
        }
        self.frames.push(Frame {
            stack,
            block,
            loaded: None,
            latest: None,
        });
    }

    /// Leaves the functions that have ended. What they have loaded last may be what they return.
    fn leave(&mut self, has_ended: impl Fn(&Frame) -> bool) {
        while let Some(ended) = self.frames.pop_if(|frame| has_ended(frame)) {
            if let Some(caller) = self.frames.last_mut() {
                caller.loaded = caller.loaded.max(ended.latest);
                caller.latest = caller.latest.max(ended.latest);
            }
        }
    }

    /// The branch at the end of what a function ran before `block`, if there is one.
    fn follow(&mut self, before: Frame, block: u64) -> Option<Branch> {
        let is_full = self.followers.len() == MOST_BLOCKS;
        let followers = match self.followers.get_mut(&before.block) {
            Some(followers) => followers,
            None if is_full => return None,
            None => self.followers.entry(before.block).or_insert(Followers {
                first: block,
                differ: false,
            }),
        };
        let taken = followers.first != block;
        followers.differ |= taken;
        followers.differ.then_some(Branch {
            block: before.block,
            taken,
            needed: before.loaded,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs blocks of one function, and says of the branch that leads to each whether it is taken.
    fn taken(blocks: &[u64]) -> Vec<Option<bool>> {
        let mut known = Blocks::default();
        let began = blocks
            .iter()
            .enumerate()
            .map(|(number, &block)| known.begin(block, 100, number == 0));
        began.map(|branch| Some(branch?.taken)).collect()
    }

    #[test]
    fn a_block_branches_once_two_have_followed_it() {
        // 1 begins, 2 is a loop, 3 comes behind it and goes back to 1.
        let (stays, leaves) = (Some(false), Some(true));
        assert_eq!(
            taken(&[1, 2, 2, 2, 3, 1, 2, 2, 3]),
            [None, None, None, None, leaves, None, None, stays, leaves]
        );
    }

    #[test]
    fn a_block_goes_on_when_the_function_that_it_calls_has_ended() {
        let mut blocks = Blocks::default();
        // 1 calls the function of 10 and 11, which calls itself; 2 and 3 follow 1.
        for (next, depth) in [(2, 1), (3, 2)] {
            assert_eq!(blocks.begin(1, 100, true), None);
            for depth in 0..depth {
                assert_eq!(blocks.begin(10, 90 - 10 * depth, true), None);
                blocks.loaded(next);
            }
            for depth in (0..depth).rev() {
                assert_eq!(blocks.begin(11, 90 - 10 * depth, false), None);
            }
            let expected = (next == 3).then_some(Branch {
                block: 1,
                taken: true,
                needed: Some(3),
            });
            assert_eq!(blocks.begin(next, 100, false), expected);
        }
    }

    #[test]
    fn functions_that_are_called_one_after_the_other_do_not_follow_each_other() {
        let mut blocks = Blocks::default();
        blocks.begin(1, 100, true);
        for callee in [10, 20, 10, 30] {
            assert_eq!(blocks.begin(callee, 90, true), None);
        }
    }

    #[test]
    fn a_branch_needs_the_latest_load_of_its_own_block() {
        let mut blocks = Blocks::default();
        blocks.begin(1, 100, true);
        let mut needed = |loads: &[u64], next| {
            blocks.begin(1, 100, false);
            loads.iter().for_each(|&load| blocks.loaded(load));
            blocks.begin(next, 100, false)?.needed
        };
        needed(&[1], 2);
        assert_eq!(needed(&[7, 8], 3), Some(8));
        assert_eq!(needed(&[], 3), None, "that of 3 was before");
    }

    #[test]
    fn memory_has_a_bound() {
        let mut blocks = Blocks::default();
        for depth in 0..3 * MOST_FRAMES as u64 {
            blocks.begin(depth, u64::MAX - depth, true);
        }
        assert!(blocks.frames.len() <= MOST_FRAMES);
        for block in 0..2 * MOST_BLOCKS as u64 {
            blocks.begin(block, 0, false);
        }
        assert_eq!(blocks.followers.len(), MOST_BLOCKS);
    }
}
