//! What may be touched.

/// Given by the person who asks, each time: never stored, never in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// A test file that is made stays.
    pub keep: bool,
    /// Writes to a file that this program did not make.
    pub overwrite: bool,
    /// Writes to the block device of this name.
    pub destroy: Option<String>,
    /// Use of a place that looks like a live database, and of busy devices.
    pub busy_ok: bool,
}
