//! Page files of workloads: runs that start from an index on disk, and where such an index comes from.

use super::kept;
use super::named_file::{PARAMETER, wrong};
use super::spec::DiskIndexWorkload;
use crate::operations::{BULKLOADED_SHARE, Maturity};
use crate::paged_tree::file::{Header, PageFileError, check};
use crate::paged_tree::structure::Structure;
use crate::validate::WorkloadError;
use serde_json::{Map, Value, json};
use std::path::Path;

impl Header {
    /// What a workload says that builds such an index, by parameter: all that a page file decides about a run that starts from it.
    #[must_use]
    pub fn parameters(&self) -> Map<String, Value> {
        let (build, history) = (self.build.plain(), self.state.history);
        let (sizes, lines) = (build.sizes, build.lines);
        let mature = history.bulkloaded != self.keys;
        let mut said = json!({
            "structure": build.structure,
            "page_bytes": sizes.page,
            "key_bytes": sizes.key,
            "line_bytes": sizes.line,
            "keys": self.keys,
            "fill": history.fill,
            "maturity": if mature { Maturity::Mature } else { Maturity::Bulkloaded },
        });
        let mut say = |name: &str, value: Value| said[name] = value;
        match build.structure {
            Structure::Slotted | Structure::Array => (),
            Structure::MicroIndex => say("subarray_lines", lines.subarray.into()),
            Structure::DiskFirst => {
                say("nonleaf_lines", lines.nonleaf.into());
                say("leaf_lines", lines.leaf.into());
            }
            Structure::CacheFirst => say("node_lines", lines.node.into()),
        }
        if mature {
            // Rounded to whole keys, the least share may have become less, or nothing.
            let share = history.bulkloaded as f64 / self.keys as f64;
            say("bulkloaded_share", share.max(BULKLOADED_SHARE.least).into());
        }
        match said {
            Value::Object(said) => said,
            _ => unreachable!("it was made of names and values"),
        }
    }
}

/// Where files come from that runs can start from.
const WRITTEN: &str = "name a file that `memwalk index build` wrote";

/// Reads all of a page file and checks every page, and that runs can start from it: what it says of its index.
///
/// # Errors
/// It is none, it is damaged, or its index is none that `memwalk index build` leaves.
pub fn check_page_file(path: &Path) -> Result<Header, PageFileError> {
    let header = check(path)?;
    header.check_history(path)?;
    Ok(header)
}

impl Header {
    /// Checks that the index has the keys that it was built with, from which runs reckon their memory.
    fn check_history(&self, path: &Path) -> Result<(), PageFileError> {
        let (bulkloaded, inserted) = (self.state.history.bulkloaded, self.state.history.inserted);
        // Neither is above the most keys, so that their sum is a number.
        if bulkloaded + inserted == self.keys {
            return Ok(());
        }
        let what = format!(
            "has {} keys, of which {bulkloaded} were bulkloaded and {inserted} inserted; {WRITTEN}",
            self.keys
        );
        Err(PageFileError::new(path, what))
    }

    /// What there is to say of the index, as a JSON object.
    #[must_use]
    pub fn facts(&self) -> Value {
        let state = &self.state;
        json!({
            "parameters": self.parameters(),
            "levels": state.levels,
            "pages": self.pages(),
            "leaf_pages": state.pages[0],
            "page_splits": state.splits,
            "bulkloaded_keys": state.history.bulkloaded,
            "inserted_keys": state.history.inserted,
            "file_bytes": self.file_bytes(),
        })
    }
}

impl DiskIndexWorkload {
    /// Checks that the page file, if there is one, begins as such, and that parameters say what it holds.
    pub(super) fn check_page_file(&self) -> Result<(), WorkloadError> {
        let Some(file) = &self.page_file else {
            return Ok(());
        };
        let path = Path::new(&file.path);
        let header = Header::read(path).map_err(|error| wrong(&error))?;
        header.check_history(path).map_err(|error| wrong(&error))?;
        self.check_header(&header)
    }

    /// Checks that parameters say what the page file holds.
    pub(super) fn check_header(&self, header: &Header) -> Result<(), WorkloadError> {
        let path = self.page_file.as_ref().map_or("", |file| &file.path);
        let mine = serde_json::to_value(self).expect("parameters are plain data");
        let mut held: Vec<(String, Value)> = header.parameters().into_iter().collect();
        // What it is decides which of the others it has.
        held.sort_by_key(|parameter| parameter.0 != "structure");
        for (name, held) in held {
            let same = match name.as_str() {
                // A share is of whole keys.
                "bulkloaded_share" => self.bulkloaded_keys() == header.state.history.bulkloaded,
                name => mine[name] == held,
            };
            if !same {
                let message = format!(
                    "{}, and the index in {} has {held}; write that, or leave page_file out",
                    mine[&name], path
                );
                return Err(WorkloadError::new(&name, message));
            }
        }
        // What the run's memory is reckoned from.
        let room = header.state.history.room;
        if room <= self.room() {
            return Ok(());
        }
        let message = format!(
            "{path} has room for {room} insertions, and the run's index for {}; {WRITTEN}",
            self.room()
        );
        Err(WorkloadError::new(PARAMETER, message))
    }

    /// Builds the index of a valid workload and writes it into a page file that will be called `path`; operations do not matter.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<Header, PageFileError> {
        kept::save(self, path)
    }
}
