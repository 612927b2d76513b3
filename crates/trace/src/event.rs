//! A block layer event, from any tool.

use stripewise_units::DeviceNumber;

/// The sector of a request without one, as in completions of flushes.
pub(crate) const NO_SECTOR: u64 = u64::MAX;

/// What happened to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A system call that reads, writes or syncs was entered.
    Enter,
    /// That call returned.
    Exit,
    /// A bio reached the block layer: a request of the file system or the program.
    Queue,
    /// The bio was remapped to another device or location: a partition, or a layer of dm or md.
    Remap {
        /// The original device.
        from_device: DeviceNumber,
        /// Its sector there.
        from_sector: u64,
    },
    /// The operation was given a request (`block_io_start`; on kernels before 6.5 `block_getrq`).
    Start,
    /// The request was inserted into the scheduler's queue.
    Insert,
    /// The request was issued to the device.
    Issue,
    /// The device or its driver returned it to be issued again.
    Requeue,
    /// The device completed it, or part of it.
    Complete,
    /// The last accounting step (`block_io_done`): only used to see whether it ran in a kernel
    /// thread.
    Done,
}

/// Attributes of an operation besides its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// None.
    pub const NONE: Flags = Flags(0);
    /// Synchronous: a task waits for it (S).
    pub const SYNC: Flags = Flags(1);
    /// Metadata of a file system (M).
    pub const META: Flags = Flags(2);
    /// Read ahead (A).
    pub const READ_AHEAD: Flags = Flags(4);
    /// A flush before it (F in front).
    pub const PREFLUSH: Flags = Flags(8);
    /// Durable when complete (F behind W).
    pub const FUA: Flags = Flags(16);
    /// A kernel worker passed it to the block layer: it was held back before, as by a control
    /// group's throttle.
    pub const DEFERRED: Flags = Flags(32);
    /// A kernel thread, not an interrupt, completed it.
    pub const COMPLETED_BY_THREAD: Flags = Flags(64);

    /// Whether it includes all of `other`.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Union of both.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Numeric form, for files.
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// From the numeric form.
    pub(crate) const fn from_bits(bits: u8) -> Flags {
        Flags(bits & 127)
    }

    /// Without those of `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// The operation in the letters of `rwbs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Data from the device.
    Read,
    /// Data to the device.
    Write,
    /// Unused sectors.
    Discard,
    /// Only a cache flush.
    Flush,
    /// No data transfer.
    Other,
}

/// The letters that the kernel prints for a request, such as `R`, `RA`, `WS`, `FWFSM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLetters {
    /// The kind of request.
    pub direction: Direction,
    /// The other letters.
    pub flags: Flags,
}

impl RequestLetters {
    /// Parses the letters: an F before the operation is a preflush, an F after it forces unit
    /// access, and an F without an operation, or two, is a flush alone (`blk_fill_rwbs` in the
    /// kernel's `kernel/trace/blktrace.c`).
    pub fn parse(letters: &[u8]) -> Self {
        let mut direction = None;
        let mut flags = Flags::NONE;
        for &letter in letters {
            match letter {
                0 => break,
                b'R' => direction = direction.or(Some(Direction::Read)),
                b'W' => direction = direction.or(Some(Direction::Write)),
                // Erases are secure discards: D, E or DE.
                b'D' | b'E' => direction = direction.or(Some(Direction::Discard)),
                b'F' if direction.is_none() && flags.has(Flags::PREFLUSH) => {
                    direction = Some(Direction::Flush);
                }
                b'F' if direction.is_none() => flags = flags.with(Flags::PREFLUSH),
                b'F' => flags = flags.with(Flags::FUA),
                b'A' => flags = flags.with(Flags::READ_AHEAD),
                b'S' => flags = flags.with(Flags::SYNC),
                b'M' => flags = flags.with(Flags::META),
                b'N' => direction = direction.or(Some(Direction::Other)),
                _ => {}
            }
        }
        let alone = if flags.has(Flags::PREFLUSH) {
            Direction::Flush
        } else {
            Direction::Other
        };
        RequestLetters {
            // `blkparse` prints FN for a flush.
            direction: direction
                .filter(|one| *one != Direction::Other)
                .unwrap_or(alone),
            flags,
        }
    }
}

/// A task's name in the kernel: at most 15 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Comm([u8; 16]);

impl Comm {
    /// The bytes before the first zero, at most 16.
    pub fn new(bytes: &[u8]) -> Self {
        let mut comm = [0; 16];
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        let length = end.min(comm.len());
        comm[..length].copy_from_slice(&bytes[..length]);
        Comm(comm)
    }

    /// Whether there is no name.
    pub const fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    /// Whether the name begins with these bytes.
    pub fn starts_with(&self, prefix: &[u8]) -> bool {
        self.0.starts_with(prefix)
    }

    /// Whether it is a kernel thread that works for others.
    pub fn is_worker(&self) -> bool {
        self.starts_with(b"kworker")
    }

    /// Whether it is a kernel thread that handles completions instead of interrupts when processors
    /// are short.
    pub fn completes_for_others(&self) -> bool {
        self.is_worker() || self.starts_with(b"ksoftirqd")
    }

    /// As text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        let end = self.0.iter().position(|&b| b == 0);
        String::from_utf8_lossy(&self.0[..end.unwrap_or(self.0.len())]).into_owned()
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time, nanoseconds on the trace's clock.
    pub at_ns: u64,
    /// What happened.
    pub step: Step,
    /// Its device; 0:0 for system calls.
    pub device: DeviceNumber,
    /// The first 512-byte sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// The letters of the request.
    pub letters: RequestLetters,
    /// The running thread.
    pub pid: i32,
    /// Its name, if the event carries one.
    pub comm: Comm,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_wherever_they_stand() {
        let none = Flags::NONE;
        let table: [(&[u8], Direction, Flags); 13] = [
            (b"R", Direction::Read, none),
            (b"RS", Direction::Read, Flags::SYNC),
            (b"RA", Direction::Read, Flags::READ_AHEAD),
            (b"RM", Direction::Read, Flags::META),
            (b"W", Direction::Write, none),
            (b"WSM", Direction::Write, Flags::SYNC.with(Flags::META)),
            (b"WFS\0RR", Direction::Write, Flags::FUA.with(Flags::SYNC)),
            (b"FF", Direction::Flush, Flags::PREFLUSH),
            (b"F", Direction::Flush, Flags::PREFLUSH),
            (b"FN", Direction::Flush, Flags::PREFLUSH),
            (b"DS", Direction::Discard, Flags::SYNC),
            (b"N", Direction::Other, none),
            (b"", Direction::Other, none),
        ];
        for (letters, direction, flags) in table {
            let parsed = RequestLetters::parse(letters);
            assert_eq!((parsed.direction, parsed.flags), (direction, flags));
        }
        let all = RequestLetters::parse(b"FWFSM");
        assert_eq!(all.direction, Direction::Write);
        let flags = [Flags::PREFLUSH, Flags::FUA, Flags::SYNC, Flags::META];
        assert!(flags.into_iter().all(|flag| all.flags.has(flag)));
        assert!(!all.flags.has(Flags::READ_AHEAD));
    }

    #[test]
    fn names_end_at_their_first_zero() {
        assert_eq!(Comm::new(b"fio\0rest").text(), "fio");
        assert_eq!(Comm::new(&[b'x'; 40]).text().len(), 16);
        assert!(Comm::new(b"").is_empty());
        assert!(Comm::new(b"kworker/0:1H").is_worker());
        assert!(Comm::new(b"ksoftirqd/1").completes_for_others());
    }
}
