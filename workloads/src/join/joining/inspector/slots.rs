//! Pages of probe tuples whose slots tell sub-partitions. A slot has, from its end down, a hash code of four bytes, the tuple's place of two,
//! how many sub-partitions there are, and these, a byte each; slots end at multiples of four (thesis section 5.4.4).

use super::filters::Filters;
use super::spots::{FIRST_BYTES, FIXED_BYTES};
use crate::arena::{Arena, Far};
use crate::join::joining::spec::JoinWorkload;
use crate::join::pages::{PageFormat, SlotFormat, TUPLES_UNTIL};
use crate::join::relation::{self, Relation};
use crate::join::tuple::Source;
use crate::place::{Extent, Place};

/// The probe tuples of a partition that have passed, in pages from an address on.
pub(in crate::join::joining) fn probe_partition(
    workload: &JoinWorkload,
    filters: &Filters,
    (base, pages): (u64, u64),
) -> Relation {
    let page_bytes = u64::from(workload.page_bytes);
    // Slots of one sub-partition, which are the least, take as much as these; nobody but `extract` and `scan` reads them.
    let format = PageFormat {
        slots: SlotFormat {
            code: true,
            length: true,
        },
        ..workload.partition_format()
    };
    debug_assert_eq!(format.slots.bytes(), FIRST_BYTES);
    let mut memory: Arena<Far> = Arena::of(base, pages * page_bytes);
    filters.each_passed(workload, |number, spot, sub_partitions| {
        let page = base + spot.page * page_bytes;
        let tuple = filters.probe.at(number);
        let header = Place::<u32>::new(0, page);
        memory.write(header, spot.number + 1);
        if format.varies() {
            memory.write(header.element(TUPLES_UNTIL), spot.tuple_end);
        }
        relation::write(&mut memory, format, page + u64::from(spot.tuple), tuple);
        let slot = Extent {
            segment: 0,
            address: page + u64::from(spot.slot),
            bytes: (spot.slot_end - spot.slot) as usize,
        };
        write(
            memory.bytes_mut(slot),
            tuple.code,
            spot.tuple,
            sub_partitions,
        );
    });
    let mut relation = Relation::written(format, memory, base);
    relation.choose((0..pages as u32).collect());
    relation
}

fn write(slot: &mut [u8], code: u32, place: u32, sub_partitions: &[u8]) {
    let (rest, fixed) = slot.split_at_mut(slot.len() - FIXED_BYTES as usize);
    fixed[3..].copy_from_slice(&code.to_le_bytes());
    fixed[1..3].copy_from_slice(&(place as u16).to_le_bytes());
    fixed[0] = sub_partitions.len() as u8;
    for (to, &one) in rest.iter_mut().rev().zip(sub_partitions) {
        *to = one;
    }
}

/// What the last bytes of a slot tell: hash code, place of the tuple, how many sub-partitions, and the first of them.
pub(super) fn read(last: &[u8]) -> (u32, u32, u8, u8) {
    let bytes: [u8; FIRST_BYTES as usize] = last.try_into().expect("a load's bytes");
    let [first, number, place @ .., _, _, _, _] = bytes;
    let [.., a, b, c, d] = bytes;
    let code = u32::from_le_bytes([a, b, c, d]);
    (code, u16::from_le_bytes(place).into(), number, first)
}
