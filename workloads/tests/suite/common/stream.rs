//! The events of a workload, for tests of what they wait for.

use super::workload::{changed, workload};
use serde_json::Value;
use traces::{Event, Kind};
use workloads::Library;

/// A workload's events, and the names of their places in the code.
pub struct Stream {
    pub events: Vec<Event>,
    pub sites: Vec<String>,
}

impl Stream {
    pub fn of(base: Value, changes: &Value) -> Self {
        let workload = workload(changed(base, changes));
        let prepared = Library::new().prepare(&workload).unwrap();
        let mut events = Vec::new();
        prepared.run(&mut events).unwrap();
        let sites = prepared.layout().sites.clone();
        Self { events, sites }
    }

    pub fn site(&self, event: &Event) -> &str {
        &self.sites[usize::from(event.site)]
    }

    /// Events of a kind at a place in the code, each with the one that it waits for.
    pub fn at(&self, kind: Kind, site: &str) -> Vec<(&Event, Option<&Event>)> {
        let numbered = self.events.iter().enumerate();
        let at = numbered.filter(|(_, event)| event.kind == kind && self.site(event) == site);
        at.map(|(number, event)| {
            let back = event.dep as usize;
            (event, (back > 0).then(|| &self.events[number - back]))
        })
        .collect()
    }
}
