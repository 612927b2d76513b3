//! What entries of a ring ask for: reads and writes of files, or commands of NVMe. The rest
//! of the engine is the same for both, and is compiled for each.

use super::ring::{Entry, Ring};
use crate::backend::buffers::Buffers;
use crate::{Capabilities, OpenPlan, Operation, Result};

/// How operations become entries. Nearly all operations of a run are *usual* ones: reads of
/// the largest size from the first file. Their entry is left as it is, and only told another
/// place.
pub trait Form: Sized {
    /// An entry.
    type Entry: Entry;
    /// What all usual operations have in common.
    type Usual;
    /// The engine's name.
    const NAME: &'static str;

    /// Registers files and buffers, as far as they can be, and finds out what the files are.
    ///
    /// # Errors
    /// Where they cannot be worked on in this form.
    fn new(
        ring: &mut Ring<Self::Entry>,
        buffers: &Buffers,
        plan: &OpenPlan,
        capabilities: &mut Capabilities,
    ) -> Result<Self>;
    /// Looked up once for many operations.
    fn usual(&self, slot_size_bytes: u32) -> Self::Usual;
    /// Makes the entry of a slot that of a usual operation, but for its place.
    fn write_usual(usual: &Self::Usual, entry: &mut Self::Entry, slot: u32, buffers: &Buffers);
    /// The place of a usual operation.
    fn aim(usual: &Self::Usual, entry: &mut Self::Entry, offset_bytes: u64);
    /// Makes the entry of a slot that of any operation, whole.
    fn write(&self, entry: &mut Self::Entry, operation: &Operation, buffers: &Buffers);
    /// What a completion says: bytes transferred, or a negated error number.
    ///
    /// # Safety
    /// `entry` is the one whose operation has completed.
    unsafe fn result(result: i32, entry: *const Self::Entry) -> i32;
}
