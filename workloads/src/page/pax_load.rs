//! What filling PAX pages takes: the counts behind table 2 of the PAX paper.

/// Counts of a file's insertions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loading {
    /// Times that the boundaries of a page's minipages moved so that one more record fits.
    pub reorganizations: u64,
    /// Those of them after which only the record that caused them came into the page.
    pub for_last_record: u64,
    /// Pages with at least one.
    pub reorganized_pages: u64,
    /// Sum, over these pages, of the share in use before the first.
    pub fill_at_first: f64,
    /// Records that came into the last page since its last reorganization; none before the first.
    since: Option<u32>,
}

impl Loading {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Self) {
        self.reorganizations += other.reorganizations;
        self.for_last_record += other.for_last_record;
        self.reorganized_pages += other.reorganized_pages;
        self.fill_at_first += other.fill_at_first;
    }

    /// How full reorganized pages were before the first, on the average, in whole percent; 0 if there are none.
    #[must_use]
    pub fn fill_at_first_percent(&self) -> u64 {
        let pages = self.reorganized_pages.max(1) as f64;
        (100.0 * self.fill_at_first / pages).round() as u64
    }

    /// The file has a new last page.
    pub(super) fn new_page(&mut self) {
        if self.since == Some(1) {
            self.for_last_record += 1;
        }
        self.since = None;
    }

    /// The last page, of which the share `fill` is in use, is reorganized.
    pub(super) fn reorganized(&mut self, fill: f64) {
        self.reorganizations += 1;
        if self.since.is_none() {
            self.reorganized_pages += 1;
            self.fill_at_first += fill;
        }
        self.since = Some(0);
    }

    /// A record came into the last page.
    pub(super) fn inserted(&mut self) {
        if let Some(since) = &mut self.since {
            *since += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Geometry, PageFile, PageSites, Pax, PaxOptions, Schema, Type};
    use super::super::{RecordId, Value};
    use super::*;
    use crate::tracer::Untraced;

    /// Loads a record with strings of 10 and 10 bytes, then seven with strings of 20 and 0; returns the last one's place.
    fn load(threshold: f64) -> (Loading, RecordId) {
        let string = |name: &str| Attribute::new(name, Type::Variable(40));
        let schema = Schema::new(vec![string("a"), string("b")]);
        let geometry = Geometry {
            page_bytes: 256,
            header_bytes: 32,
        };
        let options = PaxOptions {
            threshold,
            ..PaxOptions::default()
        };
        let mut file = Pax::new(schema, geometry, options, PageSites::from(0)).unwrap();
        let text = [b'x'; 20];
        let record = |a, b| [Value::Bytes(&text[..a]), Value::Bytes(&text[..b])];
        file.insert(&mut Untraced, &record(10, 10));
        let places = (0..7).map(|_| file.insert(&mut Untraced, &record(20, 0)));
        let last = places.last().unwrap();
        (file.loading().clone(), last)
    }

    /// Of 216 bytes, minipages for 7 records of 10 and 10 bytes take 98 each. The fifth record, for which the first has no
    /// room, finds 40 + 80 + 4 x 8 bytes of the page in use; boundaries for averages of 18 and 2 take two. The seventh moves
    /// them again, when 40 + 120 + 6 x 8 bytes are in use, and the eighth goes to the next page.
    #[test]
    fn reorganizations_are_counted() {
        let (loading, last) = load(0.0);
        let expected = Loading {
            reorganizations: 2,
            for_last_record: 1,
            reorganized_pages: 1,
            fill_at_first: 152.0 / 256.0,
            since: None,
        };
        assert_eq!((loading, last), (expected, RecordId { page: 1, slot: 0 }));
    }

    /// 48 free bytes, 19% of the page, are not worth it if 20% must be free: the seventh record goes to the next page.
    #[test]
    fn too_little_room_is_not_worth_a_reorganization() {
        let (loading, last) = load(0.2);
        assert_eq!((loading.reorganizations, loading.for_last_record), (1, 0));
        assert_eq!(last, RecordId { page: 1, slot: 1 });
    }
}
