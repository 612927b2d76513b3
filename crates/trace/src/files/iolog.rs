//! fio's iolog, versions 2 and 3: operations that fio would do, or did.
//!
//! Version 2 has no times: `wait` gives the time that passes after the preceding `wait`. Without
//! any, all operations are at time 0. Version 3 begins each line with microseconds (`log_io_u` in
//! fio's `iolog.c`). Neither contains completions.

use super::names::DeviceNames;
use crate::operation::Operation;
use stripewise_units::Kind;

/// The first line of a version.
pub(crate) const HEADERS: [&str; 2] = ["fio version 2 iolog", "fio version 3 iolog"];

/// Parses the lines after the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iolog {
    is_timed: bool,
    at_ns: u64,
}

impl Iolog {
    pub const fn new(is_timed: bool) -> Self {
        Iolog { is_timed, at_ns: 0 }
    }

    /// An operation, or Some(None) for other lines.
    pub fn line(&mut self, line: &str, devices: &mut DeviceNames) -> Option<Option<Operation>> {
        if HEADERS.contains(&line) {
            return Some(None);
        }
        let mut words = line.split_ascii_whitespace();
        if self.is_timed {
            let us: u64 = words.next()?.parse().ok()?;
            self.at_ns = us.checked_mul(1_000)?;
        }
        let device = words.next()?;
        let action = words.next()?;
        let mut number = || {
            words
                .next()
                .map_or(Some(0), |word| word.parse::<u64>().ok())
        };
        let (offset, size) = (number()?, number()?);
        let kind = match action {
            "read" => Kind::Read,
            "write" => Kind::Write,
            "trim" => Kind::Discard,
            "sync" | "datasync" => Kind::Sync,
            "wait" if !self.is_timed => {
                self.at_ns = self.at_ns.checked_add(offset.checked_mul(1_000)?)?;
                return Some(None);
            }
            "add" | "open" | "close" => return Some(None),
            _ => return None,
        };
        let (offset, size) = match kind {
            Kind::Sync => (0, 0),
            _ => (offset, size),
        };
        let device = devices.number(device);
        Some(Some(Operation {
            device,
            ..Operation::at(self.at_ns, kind, offset, size)
        }))
    }
}
