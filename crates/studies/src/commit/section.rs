//! What a product compares: its own ways of committing, in its own words.

use super::CommitMethod;
use crate::FileState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The commit methods of one product: fewer cells than all there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSection {
    /// What the product calls each.
    pub methods: BTreeMap<CommitMethod, String>,
    /// Of the files that it commits to, one after the other.
    pub states: Vec<FileState>,
    /// How much of a file is written.
    pub file_bytes: u64,
    /// Of one commit.
    pub block_bytes: u64,
    /// How many commit at once, each for itself.
    pub committers: Vec<u32>,
    /// Committers that share a write and a sync.
    pub groups: Vec<u32>,
    /// Bytes of a page, and what guards it from being torn.
    pub guard: Option<(u64, String)>,
}
