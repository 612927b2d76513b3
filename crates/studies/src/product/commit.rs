//! The commit methods of a product, as its file has them.

use super::{ProductFile, index_of, size};
use crate::FileState;
use crate::commit::{BLOCK_BYTES, CommitMethod, CommitSection, FILE_BYTES};
use serde::Deserialize;
use std::collections::BTreeMap;
use stripewise_units::InputError;
use stripewise_workload::{Workload, check};

/// Numbers of committers, and of groups, at most: it is to take a minute, not half an hour.
const COUNTS_MAX: usize = 3;
const COMMITTERS_MAX: u32 = 64;

/// What a product compares after its load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductCommit {
    /// Indices of the files that it commits to, each in a state of its own.
    pub files: Vec<usize>,
    /// Which methods, by how many.
    pub section: CommitSection,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitText {
    files: Vec<String>,
    #[serde(default = "usual_block", deserialize_with = "size")]
    block: u64,
    #[serde(default = "one_committer")]
    committers: Vec<u32>,
    #[serde(default)]
    groups: Vec<u32>,
    methods: BTreeMap<CommitMethod, String>,
    #[serde(default, deserialize_with = "size")]
    page: u64,
    #[serde(default)]
    guard: String,
}

const fn usual_block() -> u64 {
    BLOCK_BYTES
}

fn one_committer() -> Vec<u32> {
    vec![1]
}

impl CommitText {
    pub(super) fn read(self, files: &[ProductFile]) -> Result<ProductCommit, InputError> {
        let indices = self.files.iter().map(|name| {
            let names = files.iter().map(|file| file.name.as_str());
            index_of("file", "[commit]", name, names)
        });
        let indices = indices.collect::<Result<Vec<_>, _>>()?;
        let states: Vec<FileState> = indices.iter().map(|&index| files[index].state).collect();
        let is_repeated = |(index, state)| states[..index].contains(state);
        if states.is_empty() || states.iter().enumerate().any(is_repeated) {
            return Err(InputError::new(
                "[commit]: its files are at least one, each in another state",
                "write files = [\"log\"]",
            ));
        }
        let sizes = indices.iter().map(|&index| files[index].size_bytes());
        let file_bytes = sizes.fold(FILE_BYTES, u64::min);
        let is_sound = |counts: &[u32], min: u32| {
            let is_in_range = |count: &u32| (min..=COMMITTERS_MAX).contains(count);
            counts.len() <= COUNTS_MAX
                && counts.iter().all(is_in_range)
                && counts.is_sorted_by(|a, b| a < b)
        };
        if self.committers.is_empty()
            || !is_sound(&self.committers, 1)
            || !is_sound(&self.groups, 2)
        {
            return Err(InputError::new(
                format!(
                    "[commit]: committers and groups are up to {COUNTS_MAX} numbers in ascending \
                     order, up to {COMMITTERS_MAX}"
                ),
                "write committers = [1] and groups = [8]",
            ));
        }
        let is_word = |word: &String| !word.is_empty() && !word.chars().any(char::is_control);
        if self.methods.is_empty() || !self.methods.values().all(is_word) {
            return Err(InputError::new(
                "[commit]: methods have names, each on one line",
                "write [commit.methods] with lines as fdatasync = \"wal_sync_method=fdatasync\"",
            ));
        }
        if (self.page > 0) == self.guard.is_empty() {
            return Err(InputError::new(
                "[commit]: page and guard belong together",
                "give both, or leave both out",
            ));
        }
        for (&method, word) in &self.methods {
            let load = Workload {
                read_percent: 0,
                block_size_bytes: self.block,
                ..method.workload()
            };
            check(&load).map_err(|error| {
                InputError::new(format!("[commit]: {word}: {error}"), error.hint())
            })?;
        }
        Ok(ProductCommit {
            files: indices,
            section: CommitSection {
                methods: self.methods,
                states,
                file_bytes,
                block_bytes: self.block,
                committers: self.committers,
                groups: self.groups,
                guard: (self.page > 0).then_some((self.page, self.guard)),
            },
        })
    }
}
