//! What entries of a ring request: reads and writes of files, or NVMe commands. The rest of the
//! engine is the same for both, and is compiled for each.

use super::ring::{Entry, Ring};
use crate::backend::buffers::Buffers;
use crate::{Capabilities, OpenPlan, Operation, Result};

/// How operations become entries. Nearly all operations of a run are *usual* ones: reads of the
/// largest size from the first file. Their entry is reused, and only the offset changes.
pub trait Form: Sized {
    /// An entry.
    type Entry: Entry;
    /// What all usual operations share.
    type Usual;
    /// The engine's name.
    const NAME: &'static str;

    /// Registers files and buffers where possible, and determines what the files are.
    ///
    /// # Errors
    /// If this form does not support them.
    fn new(
        ring: &mut Ring<Self::Entry>,
        buffers: &Buffers,
        plan: &OpenPlan,
        capabilities: &mut Capabilities,
    ) -> Result<Self>;
    /// Computed once for many operations.
    fn usual(&self, slot_size_bytes: u32) -> Self::Usual;
    /// Prepares the entry of a slot for a usual operation, except for its offset.
    fn write_usual(usual: &Self::Usual, entry: &mut Self::Entry, slot: u32, buffers: &Buffers);
    /// Sets the offset of a usual operation.
    fn aim(usual: &Self::Usual, entry: &mut Self::Entry, offset_bytes: u64);
    /// Writes the complete entry of a slot, for any operation.
    fn write(&self, entry: &mut Self::Entry, operation: &Operation, buffers: &Buffers);
    /// The result of a completion: bytes transferred, or a negated error number.
    ///
    /// # Safety
    /// `entry` is the one whose operation has completed.
    unsafe fn result(result: i32, entry: *const Self::Entry) -> i32;
}
