//! Reads, writes, syncs and discards of files and block devices.

use super::form::Form;
use super::ring::{Ring, Submission};
use super::setup;
use crate::backend::buffers::Buffers;
use crate::{Capabilities, Kind, OpenPlan, Operation, Result};

/// Opcodes and flags of `linux/io_uring.h`.
const OPCODE_FSYNC: u64 = 3;
const OPCODE_READ_FIXED: u64 = 4;
const OPCODE_WRITE_FIXED: u64 = 5;
const OPCODE_READ: u64 = 22;
const OPCODE_WRITE: u64 = 23;
const FSYNC_DATASYNC: u64 = 1 << 32;
const OPCODE_FALLOCATE: u64 = 17;
/// `FALLOC_FL_PUNCH_HOLE`, `FALLOC_FL_KEEP_SIZE`.
const PUNCH_HOLE: u64 = 3;
const OPCODE_COMMAND: u64 = 46;
/// `BLOCK_URING_CMD_DISCARD` of `linux/blkdev.h`, Linux 6.12: `_IO(0x12, 0)`.
const DISCARD_DEVICE: u64 = 0x1200;

/// The words that operations on files share.
pub struct Files {
    /// What goes into an entry for each file: its registered index, or its
    /// descriptor.
    numbers: Vec<u32>,
    /// Opcode and flags of each [`Kind`].
    heads: [u64; 4],
    /// What the high half of the length word has for each [`Kind`]: its `RWF_` flags.
    flags_by_kind: [u64; 4],
    /// Which files are block devices, if there are discards.
    devices: Box<[bool]>,
    /// Flags of a sync, in the high half of the length word.
    sync: u64,
    /// Shift from a slot to its registered buffer; 31 for plain ones (always 0).
    buffer_shift: u32,
}

/// Words of a read of the largest size from the first file.
pub struct UsualRead {
    head: u64,
    length: u64,
    buffer_shift: u32,
}

impl Files {
    fn number(&self, file: u16) -> u64 {
        let number = self.numbers.get(usize::from(file)).copied();
        u64::from(number.unwrap_or(setup::NO_FILE)) << 32
    }
}

impl Form for Files {
    type Entry = Submission;
    type Usual = UsualRead;
    const NAME: &'static str = setup::NAME;

    fn new(
        ring: &mut Ring<Submission>,
        buffers: &Buffers,
        plan: &OpenPlan,
        capabilities: &mut Capabilities,
    ) -> Result<Self> {
        let devices = match plan.features.discards {
            true => setup::can_discard(&plan.files)?,
            false => Box::default(),
        };
        let numbers = setup::files(ring, plan, capabilities);
        let buffer_shift = setup::buffers(ring, buffers, plan, capabilities);
        let (read, write) = if buffer_shift.is_some() {
            (OPCODE_READ_FIXED, OPCODE_WRITE_FIXED)
        } else {
            (OPCODE_READ, OPCODE_WRITE)
        };
        let flags = setup::file_flags(capabilities);
        Ok(Files {
            numbers,
            heads: [read, write, OPCODE_FSYNC, OPCODE_COMMAND].map(|opcode| opcode | flags),
            flags_by_kind: Kind::ALL.map(|kind| u64::from(plan.features.flags(kind)) << 32),
            devices,
            sync: if plan.features.fsync {
                0
            } else {
                FSYNC_DATASYNC
            },
            buffer_shift: buffer_shift.unwrap_or(31),
        })
    }

    #[inline(always)]
    fn usual(&self, slot_size_bytes: u32) -> UsualRead {
        UsualRead {
            head: self.heads[Kind::Read.index()] | self.number(0),
            length: u64::from(slot_size_bytes) | self.flags_by_kind[Kind::Read.index()],
            buffer_shift: self.buffer_shift,
        }
    }

    #[inline(always)]
    fn write_usual(usual: &UsualRead, entry: &mut Submission, slot: u32, buffers: &Buffers) {
        entry.user_data = u64::from(slot);
        transfer(entry, usual.head, buffers, usual.length, usual.buffer_shift);
    }

    #[inline(always)]
    fn aim(_usual: &UsualRead, entry: &mut Submission, offset_bytes: u64) {
        entry.offset_bytes = offset_bytes;
    }

    #[inline(always)]
    fn write(&self, entry: &mut Submission, operation: &Operation, buffers: &Buffers) {
        let kind = operation.kind;
        let head = self.heads[kind.index()] | self.number(operation.file);
        entry.user_data = u64::from(operation.slot);
        if kind == Kind::Sync {
            // The kernel rejects anything in words that it may use in future.
            entry.head = head;
            (entry.offset_bytes, entry.address, entry.buffer) = (0, 0, 0);
            (entry.length, entry.further) = (self.sync, 0);
        } else if kind == Kind::Discard {
            let on_device = self.devices.get(usize::from(operation.file)) == Some(&true);
            discard(entry, head, on_device, operation);
        } else {
            let length = u64::from(operation.length_bytes) | self.flags_by_kind[kind.index()];
            transfer(entry, head, buffers, length, self.buffer_shift);
            entry.offset_bytes = operation.offset_bytes;
        }
    }

    #[inline(always)]
    unsafe fn result(result: i32, _entry: *const Submission) -> i32 {
        result
    }
}

/// The words of a slot's entry for reads and writes, except the offset. The high half of `length`
/// has the operation's flags.
#[inline(never)]
fn transfer(entry: &mut Submission, head: u64, buffers: &Buffers, length: u64, shift: u32) {
    let slot = entry.user_data as u32;
    entry.head = head;
    entry.address = buffers.address(slot).as_ptr() as u64;
    entry.length = length;
    entry.buffer = u64::from(slot >> shift);
    entry.further = 0;
}

/// A discard: a hole in a file, or the block layer's discard.
#[inline(never)]
fn discard(entry: &mut Submission, head: u64, on_device: bool, operation: &Operation) {
    let offset_bytes = operation.offset_bytes;
    let length_bytes = u64::from(operation.length_bytes);
    (entry.address, entry.offset_bytes, entry.buffer) = (offset_bytes, DISCARD_DEVICE, 0);
    (entry.head, entry.length, entry.further) = (head, 0, length_bytes);
    if !on_device {
        // The opcode is in the lowest byte.
        entry.head = head - OPCODE_COMMAND + OPCODE_FALLOCATE;
        (entry.offset_bytes, entry.address) = (offset_bytes, length_bytes);
        (entry.length, entry.further) = (PUNCH_HOLE, 0);
    }
}
