//! Commands passed through to an NVMe namespace by its generic character device (`/dev/ngXnY`),
//! without block layer, partitions or page cache.
//!
//! The kernel checks very little here. It lets root write through a read-only descriptor, so this
//! module refuses that itself; and it passes offset and length of a command to the device
//! unchanged, so whole logical blocks are checked here. An operation that violates this is turned
//! into one that the kernel refuses.
//!
//! Opcodes and layouts are those of `linux/nvme_ioctl.h` and the NVM command set.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::io_uring::IoringSetupFlags as Setup;

use super::form::Form;
use super::ring::{Entry, Limits, Ring};
use super::setup;
use crate::backend::buffers::Buffers;
use crate::{Capabilities, Error, ErrorKind, Kind, OpenPlan, Operation, Result};

/// `IORING_OP_URING_CMD`.
const OPCODE_COMMAND: u64 = 46;
/// `IORING_URING_CMD_FIXED`, positioned as in an entry.
const COMMAND_FIXED: u64 = 1 << 32;
/// `NVME_URING_CMD_IO`: `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO: u64 = 0xc048_4e80;
/// `NVME_IOCTL_ID`: `_IO('N', 0x40)`.
const NVME_IOCTL_ID: u32 = 0x4e40;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xc048_4e41;
/// Opcodes of the NVM and admin command sets.
const FLUSH: u64 = 0;
const WRITE: u64 = 1;
const READ: u64 = 2;
const IDENTIFY: u8 = 6;
/// Force Unit Access, in the word with the number of blocks: a write that is durable on completion.
const DURABLE: u64 = 1 << 30;
/// A flag of a command that the kernel refuses with `EINVAL`.
const REFUSED: u64 = 1 << 8;
const IDENTIFY_BYTES: usize = 4096;

/// A submission queue entry of twice the size, with the command in it; the other words stay zero.
#[repr(C)]
pub struct Command {
    /// As in [`Submission`](super::ring::Submission).
    head: u64,
    command_operation: u64,
    unused_address: u64,
    /// Flags of the passthrough (32-63).
    flags: u64,
    user_data: u64,
    /// Index of the registered buffer (bits 0-15).
    buffer: u64,
    /// Opcode (bits 0-7), flags (8-15), namespace (32-63).
    command: u64,
    unused_words: [u64; 2],
    address: u64,
    /// Bytes of data (32-63).
    length: u64,
    /// The first logical block.
    block: u64,
    /// Logical blocks less one (bits 0-15), and flags.
    blocks_less_one: u64,
    unused: [u64; 3],
}

const _: () = assert!(size_of::<Command>() == 128);

impl Entry for Command {
    const SETUP: Setup = Setup::SQE128.union(Setup::CQE32);
    const COMPLETION_SHIFT: u32 = 1;
}

/// A file as a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Namespace {
    /// The file's number in an entry, for reads and syncs, in the high half.
    number: u64,
    /// The same for writes; [`setup::NO_FILE`] if it is read-only.
    write_number: u64,
    /// Its id, positioned as in a command.
    id: u64,
    /// [`DURABLE`] if it is open for durable writes.
    write_flags: u64,
    /// Bytes of a logical block, as a power of two.
    block_shift: u32,
}

/// A missing file.
const NOWHERE: Namespace = Namespace {
    number: (setup::NO_FILE as u64) << 32,
    write_number: (setup::NO_FILE as u64) << 32,
    id: 0,
    write_flags: 0,
    block_shift: 9,
};

/// The words that commands share.
pub struct Commands {
    namespaces: Vec<Namespace>,
    /// Opcode and flags.
    head: u64,
    /// Flags of commands with data.
    flags: u64,
    /// Shift from a slot to its registered buffer; 31 for plain ones (always 0).
    buffer_shift: u32,
    /// The opcode of flushes, with [`REFUSED`] on a ring that polls.
    flush: u64,
}

/// Words of a read of the largest size from the first file.
pub struct UsualRead {
    head: u64,
    flags: u64,
    command: u64,
    length_bytes: u32,
    block_shift: u32,
    buffer_shift: u32,
}

impl Commands {
    fn namespace(&self, file: u16) -> &Namespace {
        self.namespaces.get(usize::from(file)).unwrap_or(&NOWHERE)
    }

    /// Reads one block to find out what this kernel and user permit, before anything is measured.
    /// Fixed buffers are newer than the rest.
    fn try_out(
        &mut self,
        ring: &mut Ring<Command>,
        buffers: &Buffers,
        capabilities: &mut Capabilities,
    ) -> Result<()> {
        let Some(first) = self.namespaces.first() else {
            return Ok(());
        };
        let length_bytes = 1 << first.block_shift;
        if length_bytes as usize > buffers.stride_bytes() {
            return Ok(());
        }
        let operation = Operation {
            slot: 0,
            file: 0,
            kind: Kind::Read,
            offset_bytes: 0,
            length_bytes,
        };
        let mut result = self.execute(ring, &operation, buffers, capabilities.polled)?;
        if result == -libc::EINVAL && capabilities.registered_buffers {
            capabilities.registered_buffers = false;
            capabilities.fallbacks.push(
                "commands cannot use registered buffers here, which takes Linux 6.1: each pins \
                 its own, which costs CPU"
                    .to_owned(),
            );
            (self.flags, self.buffer_shift) = (0, 31);
            result = self.execute(ring, &operation, buffers, capabilities.polled)?;
        }
        match -result {
            libc::EACCES | libc::EPERM => Err(refused(
                "this user may not pass commands through to the device",
                "run as root",
                result,
            )),
            libc::EINVAL | libc::EOPNOTSUPP | libc::ENOTTY => Err(refused(
                "the kernel passes no commands through to the device",
                "that takes Linux 5.19, and 6.1 with --poll; use <--engine> uring on its block device",
                result,
            )),
            // Other errors are failed operations, as they will be in the measurement.
            _ => Ok(()),
        }
    }

    /// Executes one operation; returns its result.
    fn execute(
        &self,
        ring: &mut Ring<Command>,
        operation: &Operation,
        buffers: &Buffers,
        polled: bool,
    ) -> Result<i32> {
        // SAFETY: every ring has a slot 0, and nothing is in flight yet.
        self.write(unsafe { ring.push(operation.slot) }, operation, buffers);
        ring.publish();
        loop {
            match ring.enter(ring.not_collected(), u32::from(!polled), Limits::NONE) {
                Ok(count) => ring.took(count),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => {
                    let what = "the ring took no command".to_owned();
                    let os = Some(errno.into());
                    return Err(setup::failure(ErrorKind::Broken, what, "", os));
                }
            }
            let entries = ring.entries();
            if let Some((slot, result)) = ring.completed().next() {
                // SAFETY: the slot's own entry, which is there as long as the ring.
                return Ok(unsafe { Self::result(result, entries.add(slot as usize)) });
            }
        }
    }
}

/// Returns an error unless these are whole logical blocks, at most 65,536 per command.
#[inline(always)]
fn refusal_of(offset_bytes: u64, length_bytes: u32, block_shift: u32) -> u64 {
    let odd = (offset_bytes | u64::from(length_bytes)) & ((1 << block_shift) - 1);
    let blocks = length_bytes >> block_shift;
    match odd == 0 && blocks.wrapping_sub(1) < 1 << 16 {
        true => 0,
        false => REFUSED,
    }
}

impl Form for Commands {
    type Entry = Command;
    type Usual = UsualRead;
    const NAME: &'static str = "nvme";

    fn new(
        ring: &mut Ring<Command>,
        buffers: &Buffers,
        plan: &OpenPlan,
        capabilities: &mut Capabilities,
    ) -> Result<Self> {
        let features = plan.features;
        if features.dontcache || features.atomic || features.dsync || features.discards {
            let what = "commands that are passed through are no discards, nor uncached or atomic writes \
                        or ones with RWF_DSYNC";
            let hint = "use <--engine> uring on the block device for these";
            let what = what.to_owned();
            return Err(setup::failure(ErrorKind::Unsupported, what, hint, None));
        }
        let numbers = setup::files(ring, plan, capabilities);
        let namespaces = plan.files.iter().zip(numbers);
        let namespaces = namespaces.map(|(file, number)| identified(file, number));
        let namespaces = namespaces.collect::<Result<_>>()?;
        let buffer_shift = setup::buffers(ring, buffers, plan, capabilities);
        let mut commands = Commands {
            namespaces,
            head: OPCODE_COMMAND | setup::file_flags(capabilities),
            flags: if buffer_shift.is_some() {
                COMMAND_FIXED
            } else {
                0
            },
            buffer_shift: buffer_shift.unwrap_or(31),
            // Linux 6.1 polls for a command without data through the memory of another one that has
            // ended, which may crash the machine. For files the kernel refuses it itself.
            flush: if capabilities.polled {
                FLUSH | REFUSED
            } else {
                FLUSH
            },
        };
        commands.try_out(ring, buffers, capabilities)?;
        Ok(commands)
    }

    #[inline(always)]
    fn usual(&self, slot_size_bytes: u32) -> UsualRead {
        let first = self.namespace(0);
        UsualRead {
            head: self.head | first.number,
            flags: self.flags,
            command: READ | first.id,
            length_bytes: slot_size_bytes,
            block_shift: first.block_shift,
            buffer_shift: self.buffer_shift,
        }
    }

    #[inline(never)]
    fn write_usual(usual: &UsualRead, entry: &mut Command, slot: u32, buffers: &Buffers) {
        let blocks = usual.length_bytes >> usual.block_shift;
        *entry = Command {
            head: usual.head,
            command_operation: NVME_URING_CMD_IO,
            unused_address: 0,
            flags: usual.flags,
            user_data: u64::from(slot),
            buffer: u64::from(slot >> usual.buffer_shift),
            command: usual.command,
            unused_words: [0; 2],
            address: buffers.address(slot).as_ptr() as u64,
            length: u64::from(usual.length_bytes) << 32,
            block: 0,
            blocks_less_one: u64::from(blocks.wrapping_sub(1) & 0xffff),
            unused: [0; 3],
        };
    }

    #[inline(always)]
    fn aim(usual: &UsualRead, entry: &mut Command, offset_bytes: u64) {
        let refusal = refusal_of(offset_bytes, usual.length_bytes, usual.block_shift);
        entry.command = usual.command | refusal;
        entry.block = offset_bytes >> usual.block_shift;
    }

    fn write(&self, entry: &mut Command, operation: &Operation, buffers: &Buffers) {
        let namespace = self.namespace(operation.file);
        let (number, opcode) = match operation.kind {
            Kind::Read => (namespace.number, READ),
            Kind::Write => (namespace.write_number, WRITE),
            Kind::Sync => (namespace.number, self.flush),
            // Refused when a run is planned; here the kernel answers `EBADF`.
            Kind::Discard => (NOWHERE.number, READ),
        };
        let words = UsualRead {
            head: self.head | number,
            flags: self.flags,
            command: opcode | namespace.id,
            length_bytes: operation.length_bytes,
            block_shift: namespace.block_shift,
            buffer_shift: self.buffer_shift,
        };
        Self::write_usual(&words, entry, operation.slot, buffers);
        if operation.kind == Kind::Sync {
            // It has no data, and no blocks.
            (entry.flags, entry.buffer, entry.address, entry.length) = (0, 0, 0, 0);
            entry.blocks_less_one = 0;
        } else {
            Self::aim(&words, entry, operation.offset_bytes);
        }
        if operation.kind == Kind::Write {
            entry.blocks_less_one |= namespace.write_flags;
        }
    }

    #[inline(always)]
    unsafe fn result(result: i32, entry: *const Command) -> i32 {
        match result {
            // SAFETY: the caller's promise.
            0 => (unsafe { (*entry).length } >> 32) as i32,
            status @ 1.. => -errno_of(status),
            error => error,
        }
    }
}

/// The kernel's error number for a read or write that ended with this NVMe status
/// (`nvme_error_status`, `blk_errors`), so that records name the same error the same way.
#[cold]
fn errno_of(status: i32) -> i32 {
    // Its type (bits 8-10) and code; above them are flags such as "do not retry".
    match status & 0x7ff {
        // Capacity exceeded.
        0x81 => libc::ENOSPC,
        // Opcode or field or namespace invalid, not supported, attributes conflict.
        0x01 | 0x02 | 0x0b | 0x15 | 0x180 => libc::EOPNOTSUPP,
        // LBA out of range, interrupted, namespace not ready.
        0x80 | 0x21 | 0x82 => libc::EREMOTEIO,
        // Write fault, read error, compare failed, access denied, deallocated, read-only.
        0x280 | 0x281 | 0x285 | 0x286 | 0x287 | 0x182 => libc::ENODATA,
        // Guard, application tag, reference tag.
        0x282..=0x284 => libc::EILSEQ,
        0x83 => libc::EBADE,
        // Path-related errors.
        0x370 => libc::ENOLINK,
        _ => libc::EIO,
    }
}

fn refused(what: &str, hint: &'static str, result: i32) -> Error {
    let os = Some(io::Error::from_raw_os_error(-result));
    Error {
        engine: Commands::NAME,
        ..setup::failure(ErrorKind::Unsupported, what.to_owned(), hint, os)
    }
}

/// Queries a file's namespace and block size.
fn identified(file: &File, number: u32) -> Result<Namespace> {
    const HINT: &str = "name an NVMe generic character device, such as /dev/ng0n1";
    let descriptor = file.as_raw_fd();
    // SAFETY: an ioctl without an argument, which reads an id.
    let id = unsafe { libc::ioctl(descriptor, NVME_IOCTL_ID as libc::Ioctl) };
    let Ok(id) = u32::try_from(id) else {
        let os = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(refused("a file is not an NVMe namespace", HINT, -os));
    };
    let mut answer = Box::new([0; IDENTIFY_BYTES]);
    identify(file, id, &mut answer).map_err(|os| {
        let os = os.raw_os_error().unwrap_or(0);
        refused("the namespace does not identify itself", "run as root", -os)
    })?;
    let (block_shift, metadata_bytes) = format_of(&answer);
    if metadata_bytes > 0 || !(9..=16).contains(&block_shift) {
        return Err(refused(
            "the namespace has blocks with metadata, or of an odd size, which commands here do not have",
            "use <--engine> uring on its block device",
            -libc::EOPNOTSUPP,
        ));
    }
    // SAFETY: asks for the flags of an open descriptor.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    let is_written = flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY;
    let number = u64::from(number) << 32;
    Ok(Namespace {
        number,
        write_number: if is_written {
            number
        } else {
            NOWHERE.write_number
        },
        id: u64::from(id) << 32,
        write_flags: if flags & libc::O_DSYNC == 0 {
            0
        } else {
            DURABLE
        },
        block_shift,
    })
}

/// Identify Namespace (`struct nvme_id_ns`).
fn identify(file: &File, id: u32, answer: &mut [u8; IDENTIFY_BYTES]) -> io::Result<()> {
    /// `struct nvme_passthru_cmd`.
    #[repr(C)]
    struct Administration {
        opcode: u8,
        unused_flags: [u8; 3],
        namespace: u32,
        unused_words: [u32; 4],
        address: u64,
        metadata_length: u32,
        length: u32,
        unused: [u32; 8],
    }
    let mut command = Administration {
        opcode: IDENTIFY,
        unused_flags: [0; 3],
        namespace: id,
        unused_words: [0; 4],
        address: answer.as_mut_ptr() as u64,
        metadata_length: 0,
        length: IDENTIFY_BYTES as u32,
        unused: [0; 8],
    };
    const { assert!(size_of::<Administration>() == 72) };
    let argument = &raw mut command;
    // SAFETY: the structure for this number, and a buffer for the answer, which is 4,096 bytes on
    // any device.
    let done = unsafe {
        let request = NVME_IOCTL_ADMIN_CMD as libc::Ioctl;
        libc::ioctl(file.as_raw_fd(), request, argument)
    };
    match done {
        0 => Ok(()),
        1.. => Err(io::Error::from_raw_os_error(libc::EIO)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Bytes of a logical block, as a power of two, and of its metadata.
fn format_of(answer: &[u8; IDENTIFY_BYTES]) -> (u32, u16) {
    // FLBAS: the format in use, four bits and two more at bits 5-6.
    let flbas = answer[26];
    let index = usize::from(flbas & 0xf | (flbas >> 1 & 0x30));
    let at = 128 + 4 * index;
    let metadata_bytes = u16::from_le_bytes([answer[at], answer[at + 1]]);
    (u32::from(answer[at + 2]), metadata_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_blocks_become_commands_that_the_kernel_takes() {
        let cases = [
            (0, 512, 9, 0),
            (512, 512, 9, 0),
            (513, 512, 9, REFUSED),
            (512, 513, 9, REFUSED),
            (512, 512, 12, REFUSED),
            (4096, 8192, 12, 0),
            (0, 0, 12, REFUSED),
            (0, 32 << 20, 9, 0),
            (0, (32 << 20) + 512, 9, REFUSED),
        ];
        for (offset_bytes, length_bytes, block_shift, expected) in cases {
            let refusal = refusal_of(offset_bytes, length_bytes, block_shift);
            assert_eq!(
                refusal, expected,
                "{length_bytes} at {offset_bytes}, {block_shift}"
            );
        }
    }

    #[test]
    fn a_status_means_what_the_kernel_makes_of_it() {
        let entry = Command {
            head: 0,
            command_operation: 0,
            unused_address: 0,
            flags: 0,
            user_data: 0,
            buffer: 0,
            command: 0,
            unused_words: [0; 2],
            address: 0,
            length: 8192 << 32,
            block: 0,
            blocks_less_one: 0,
            unused: [0; 3],
        };
        let cases = [
            (0, 8192),
            (-libc::EINVAL, -libc::EINVAL),
            // With "do not retry" above the status.
            (0x4080, -libc::EREMOTEIO),
            (0x281, -libc::ENODATA),
            (0x182, -libc::ENODATA),
            (0x4002, -libc::EOPNOTSUPP),
            (0x6, -libc::EIO),
        ];
        for (result, expected) in cases {
            // SAFETY: an entry.
            let command_result = unsafe { Commands::result(result, &raw const entry) };
            assert_eq!(command_result, expected, "{result:#x}");
        }
    }

    #[test]
    fn the_format_in_use_is_found() {
        let mut answer = [0; IDENTIFY_BYTES];
        // Format 1 of 4,096 bytes; format 17 of 512 with 8 of metadata.
        answer[26] = 1;
        answer[128 + 4..128 + 8].copy_from_slice(&[0, 0, 12, 0]);
        answer[128 + 68..128 + 72].copy_from_slice(&[8, 0, 9, 0]);
        assert_eq!(format_of(&answer), (12, 0));
        answer[26] = 1 | 1 << 5;
        assert_eq!(format_of(&answer), (9, 8));
    }
}
