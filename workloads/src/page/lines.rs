//! Cache lines that a scan touches per record, from the page format alone.
//!
//! A page begins at a line, and its lines stay in the cache from their first use to their last: so these are the misses
//! per record of a cache that holds one page's lines, but not the relation.

use super::nsm_format::{RecordFormat, SLOT_BYTES, header};
use super::pax_format::{self, ENTRY_BYTES, PaxFormat};
use super::{Geometry, Schema, nsm_format, super_column, super_row};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// Lines per record, by what they are touched for first. A line counts once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinesPerRecord {
    /// For the page's header.
    pub header: f64,
    /// For slots, where there are some.
    pub slots: f64,
    /// For values.
    pub values: f64,
}

impl LinesPerRecord {
    /// All lines.
    #[must_use]
    pub fn in_all(&self) -> f64 {
        self.header + self.slots + self.values
    }

    const NONE: Self = Self {
        header: 0.0,
        slots: 0.0,
        values: 0.0,
    };

    /// These lines and others, of other pages.
    fn and(self, other: Self) -> Self {
        Self {
            header: self.header + other.header,
            slots: self.slots + other.slots,
            values: self.values + other.values,
        }
    }

    /// Lines of `header`, then those of `slots`, then those of `values` that are new, for `records`.
    fn of(
        header: &[Range<usize>],
        slots: &[Range<usize>],
        values: &[Range<usize>],
        line_bytes: usize,
        records: usize,
    ) -> Self {
        let mut seen = BTreeSet::new();
        let mut new = |ranges: &[Range<usize>]| {
            let before = seen.len();
            for range in ranges {
                seen.extend(range.start / line_bytes..=(range.end - 1) / line_bytes);
            }
            (seen.len() - before) as f64 / records as f64
        };
        Self {
            header: new(header),
            slots: new(slots),
            values: new(values),
        }
    }
}

/// `count` places of `bytes` bytes, the first at `first`, each `stride` behind the one before.
fn places(first: usize, stride: usize, bytes: usize, count: usize) -> Vec<Range<usize>> {
    (0..count)
        .map(|number| first + number * stride)
        .map(|start| start..start + bytes)
        .collect()
}

/// Lines that reading `attributes` of every record touches in full slotted pages of values of fixed length.
///
/// With records and pages that are whole lines, and one attribute whose values do not straddle any, `values` is 1.
#[must_use]
pub fn nsm_scan(
    schema: &Schema,
    geometry: Geometry,
    attributes: &[usize],
    line_bytes: usize,
) -> LinesPerRecord {
    let format = RecordFormat::new(schema);
    let records = nsm_format::records_per_page(schema, geometry);
    let first = |attribute| geometry.header_bytes as usize + format.place(attribute);
    let slots = geometry.page_bytes as usize - records * SLOT_BYTES;
    LinesPerRecord::of(
        &places(header::SLOTS, 0, 2, 1),
        &places(slots, SLOT_BYTES, SLOT_BYTES, records),
        &values(schema, attributes, first, |_| format.stride(0), records),
        line_bytes,
        records,
    )
}

/// Lines that reading `attributes` of every record touches in full PAX pages of values of fixed length.
///
/// `values` of one attribute comes to value bytes / line bytes, and to a line more per page if the minipage does not begin
/// with one.
#[must_use]
pub fn pax_scan(
    schema: &Schema,
    geometry: Geometry,
    attributes: &[usize],
    line_bytes: usize,
) -> LinesPerRecord {
    let format = PaxFormat::new(schema, geometry, false);
    let records = pax_format::records_per_page(schema, geometry);
    let degree = schema.degree();
    let plan = format.plan(&vec![0.0; degree], 0, 0, &vec![0; degree]);
    let mut header = places(pax_format::header::SLOTS, 0, 2, 1);
    header.extend(attributes.iter().map(|&attribute| {
        let entry = format.entry(attribute);
        entry..entry + ENTRY_BYTES
    }));
    let first = |attribute: usize| plan.minipages[attribute].0;
    LinesPerRecord::of(
        &header,
        &[],
        &values(schema, attributes, first, |bytes| bytes, records),
        line_bytes,
        records,
    )
}

/// Lines that reading `attributes` of every row touches in full super tuples of rows, without column abstraction.
#[must_use]
pub fn super_row_scan(
    schema: &Schema,
    geometry: Geometry,
    attributes: &[usize],
    line_bytes: usize,
) -> LinesPerRecord {
    let row = schema.fixed_bytes();
    let records = geometry.usable_bytes() / row;
    let before = |attribute| -> usize {
        let before = &schema.attributes()[..attribute];
        before.iter().map(|before| before.kind.most_bytes()).sum()
    };
    let first = |attribute| geometry.header_bytes as usize + before(attribute);
    LinesPerRecord::of(
        &places(super_row::COUNT, 0, 2, 1),
        &[],
        &values(schema, attributes, first, |_| row, records),
        line_bytes,
        records,
    )
}

/// Lines that reading `attributes` of every row touches in full super tuples of columns, without column abstraction.
#[must_use]
pub fn super_column_scan(
    schema: &Schema,
    geometry: Geometry,
    attributes: &[usize],
    line_bytes: usize,
) -> LinesPerRecord {
    let column = |&attribute: &usize| {
        let bytes = schema.attributes()[attribute].kind.most_bytes();
        let records = geometry.usable_bytes() / bytes;
        LinesPerRecord::of(
            &places(super_column::COUNT, 0, 2, 1),
            &[],
            &places(geometry.header_bytes as usize, bytes, bytes, records),
            line_bytes,
            records,
        )
    };
    attributes
        .iter()
        .map(column)
        .fold(LinesPerRecord::NONE, LinesPerRecord::and)
}

/// The values of `attributes`: where the first of each is, and how far the next is, given its bytes.
fn values(
    schema: &Schema,
    attributes: &[usize],
    first: impl Fn(usize) -> usize,
    stride: impl Fn(usize) -> usize,
    records: usize,
) -> Vec<Range<usize>> {
    let of = |&attribute: &usize| {
        let bytes = schema.attributes()[attribute].kind.most_bytes();
        places(first(attribute), stride(bytes), bytes, records)
    };
    attributes.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Type;
    use super::*;

    const PAGE: Geometry = Geometry {
        page_bytes: 8192,
        header_bytes: 32,
    };

    /// Eight values of 8 bytes, lines of 32. NSM: 102 records every 76 bytes, whose last value, at 68 of 76, straddles
    /// lines in an eighth of them; 13 lines of slots. PAX: 1000 bytes from 64 + 7 x 1016 = 7176, which is 8 in its line.
    #[test]
    fn pages_of_the_paper() {
        let schema = Schema::uniform(8, Type::Int64);
        let nsm = nsm_scan(&schema, PAGE, &[7], 32);
        assert_eq!(nsm.header, 1.0 / 102.0);
        assert_eq!(nsm.slots, 13.0 / 102.0);
        assert!((nsm.values - 1.125).abs() < 0.02, "{nsm:?}");
        let pax = pax_scan(&schema, PAGE, &[7], 32);
        assert_eq!((pax.header, pax.values), (2.0 / 125.0, 32.0 / 125.0));
    }

    /// Records that coincide with lines: one line a record against a quarter. With a tag of 12 bytes, 52 bytes of values
    /// make 64.
    #[test]
    fn records_that_coincide_with_lines() {
        let nsm = nsm_scan(&Schema::uniform(13, Type::Int32), PAGE, &[12], 32);
        assert!((nsm.values - 1.0).abs() < 0.01, "{nsm:?}");
        let pax = pax_scan(&Schema::uniform(8, Type::Int64), PAGE, &[0], 32);
        assert!((pax.values - 0.25).abs() < 0.01, "{pax:?}");
    }
}
