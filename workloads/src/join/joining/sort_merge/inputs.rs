//! The four inputs of a partition: tuples of each side in order, and those out of order.

use crate::join::division::{Divided, divide};
use crate::join::joining::spec::JoinWorkload;
use crate::join::joining::tuples::{Side, Tuples};
use crate::join::pages::PageFormat;
use crate::join::paging::Paging;
use crate::join::relation::Relation;
use crate::join::stored::Stored;
use crate::join::tuple::{Source, Tuple};
use std::sync::Arc;

/// How the partition phase has divided the tuples of one side of a partition.
#[derive(Clone, Debug)]
pub(in crate::join::joining) struct DividedSide {
    tuples: Tuples,
    divided: Arc<Divided>,
}

/// The two inputs of a side.
#[derive(Debug)]
pub(in crate::join::joining) struct Inputs {
    pub(super) in_order: Relation,
    pub(super) out_of_order: Relation,
}

impl DividedSide {
    pub(in crate::join::joining) fn new(
        workload: &JoinWorkload,
        partition: u32,
        side: Side,
    ) -> Self {
        let tuples = Tuples::new(workload, partition, side);
        let divided = Arc::new(divide(tuples.keys()));
        Self { tuples, divided }
    }

    pub(super) fn out_of_order(&self) -> u64 {
        self.divided.out_of_order.len() as u64
    }

    fn part(&self, out_of_order: bool) -> Part {
        Part {
            side: self.clone(),
            out_of_order,
        }
    }

    /// Pages of both inputs.
    pub(in crate::join::joining) fn pages(&self, format: PageFormat) -> u64 {
        let parts = [false, true].map(|out_of_order| self.part(out_of_order));
        parts
            .iter()
            .map(|part| Paging::new(format, part).pages())
            .sum()
    }

    /// Both inputs, one behind the other from an address on, and so on storage if they are `stored` there.
    pub(in crate::join::joining) fn inputs(
        &self,
        format: PageFormat,
        base: u64,
        stored: impl Fn(u64) -> Option<Stored>,
    ) -> Inputs {
        let input = |out_of_order, base| {
            let tuples = Box::new(self.part(out_of_order));
            Relation::new(format, tuples, base).on_storage(stored(base))
        };
        let in_order = input(false, base);
        let second = base + in_order.pages() * u64::from(format.page_bytes);
        Inputs {
            out_of_order: input(true, second),
            in_order,
        }
    }
}

impl Inputs {
    /// Makes all pages.
    pub(in crate::join::joining) fn make_all(&mut self) {
        self.in_order.make_all();
        self.out_of_order.make_all();
    }
}

/// The tuples of one input.
#[derive(Debug)]
struct Part {
    side: DividedSide,
    out_of_order: bool,
}

impl Part {
    fn numbers(&self) -> &[u32] {
        match self.out_of_order {
            false => &self.side.divided.in_order,
            true => &self.side.divided.out_of_order,
        }
    }
}

impl Source for Part {
    fn count(&self) -> u64 {
        self.numbers().len() as u64
    }

    fn bytes(&self, number: u64) -> u32 {
        let number = self.numbers()[number as usize];
        self.side.tuples.bytes(number.into())
    }

    fn at(&self, number: u64) -> Tuple {
        self.side.tuples.at(self.numbers()[number as usize].into())
    }
}
