//! Where the nodes of an index on records are, as data.

use crate::bounds::Between;
use crate::page::{NodesInPool, RecordIndex};
use crate::validate::{WorkloadError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frames for the nodes of a relation's indexes; 0 is what their levels need.
pub(crate) const INDEX_FRAMES: Between<u32> = Between {
    least: 0,
    most: 1 << 22,
};
/// A deletion changes a node and looks at its sibling.
const FEWEST_FRAMES: u32 = 2;

/// Where the nodes of indexes on record numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IndexPages {
    /// All in the buffer pool before a query begins.
    #[default]
    InMemory,
    /// In storage, behind the pages of the relation: a node is read unless the buffer pool has it.
    Stored,
}

/// Where the nodes of a relation's indexes are, and how many stay in the buffer pool if they are in storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexNodes {
    /// Where they are.
    pub pages: IndexPages,
    /// For the nodes of all indexes; 0 for two of each level of each index.
    pub frames: u32,
}

impl IndexNodes {
    /// What the buffer pool has of indexes in storage, whose pages have numbers from `first_page` on: nothing yet.
    pub(crate) fn of<'i>(
        self,
        indexes: impl IntoIterator<Item = &'i RecordIndex>,
        first_page: u64,
    ) -> Option<NodesInPool> {
        if self.pages != IndexPages::Stored {
            return None;
        }
        let mut indexes = indexes.into_iter().peekable();
        let page_bytes = indexes.peek()?.page_bytes();
        let mut pool = NodesInPool::new(page_bytes, first_page, self.frames as usize);
        for index in indexes {
            index.lay_out(&mut pool);
        }
        Some(pool)
    }

    /// Checks the frames: none, or enough for an operation.
    pub(crate) fn check_frames(self) -> Result<(), WorkloadError> {
        INDEX_FRAMES.check("index_frames", self.frames)?;
        if self.frames == 0 {
            return Ok(());
        }
        let most = INDEX_FRAMES.most;
        within("index_frames", self.frames, FEWEST_FRAMES, most).map_err(|error| {
            let message = format!("{}, or 0 for two of each level", error.message);
            WorkloadError::new("index_frames", message)
        })
    }
}
