//! Failed operations, counted by kind and reason; another failure for a known reason allocates
//! nothing.

use stripewise_io_engine::Kind;

/// Distinct reasons; further ones are counted under the last.
const REASONS_MAX: usize = 16;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The operating system's error number, positive. Simulated arrays use Linux's numbers.
    Os(i32),
    /// Fewer (or more) bytes than requested were transferred.
    Short,
}

/// Failures of one kind and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// The failed operation.
    pub kind: Kind,
    /// Why it failed.
    pub failure: Failure,
    /// Number of failures.
    pub count: u64,
    /// File (index in the job) of the first.
    pub first_file: u16,
    /// Byte offset of the first; 0 for syncs.
    pub first_offset_bytes: u64,
    /// When the first one completed, on the run's clock.
    pub first_at_ns: u64,
}

/// All failures of a job in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    entries: Vec<ErrorCount>,
}

impl ErrorCounts {
    /// Empty, with capacity for all reasons.
    pub(crate) fn with_room() -> Self {
        ErrorCounts {
            entries: Vec::with_capacity(REASONS_MAX),
        }
    }

    /// Each kind and reason with its count, in no particular order.
    pub fn entries(&self) -> &[ErrorCount] {
        &self.entries
    }

    /// Number of failures.
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|entry| entry.count).sum()
    }

    /// The earliest failure.
    pub fn first(&self) -> Option<&ErrorCount> {
        self.entries.iter().min_by_key(|entry| entry.first_at_ns)
    }

    /// Adds failures of one kind and reason.
    pub fn add(&mut self, more: ErrorCount) {
        let known = self
            .entries
            .iter_mut()
            .position(|entry| entry.kind == more.kind && entry.failure == more.failure);
        let full = self.entries.len() >= REASONS_MAX;
        match known.or(full.then_some(REASONS_MAX - 1)) {
            Some(index) => {
                let entry = &mut self.entries[index];
                entry.count += more.count;
                if more.first_at_ns < entry.first_at_ns {
                    entry.first_at_ns = more.first_at_ns;
                    entry.first_offset_bytes = more.first_offset_bytes;
                    entry.first_file = more.first_file;
                }
            }
            None => self.entries.push(more),
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &ErrorCounts) {
        for entry in &other.entries {
            self.add(*entry);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
}
