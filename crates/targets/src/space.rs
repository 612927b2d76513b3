//! How much space a test file may take, on every system.
//!
//! At least the larger of 10 % of the file system and min(2 GiB, a quarter of it) stays free for
//! ordinary users. On in-memory file systems at most half of the available memory is used as well,
//! because a full one takes down the machine. The platform module queries the file system.

use crate::{Error, ErrorKind, FillPlan, Intent, Result, Size};
use std::path::Path;
use stripewise_units::{NameText, format_bytes};

const GIB: u64 = 1 << 30;
/// Free space in bytes that suffices above 10 %; so does a quarter of a small file system.
const FLOOR_BYTES_ENOUGH: u64 = 2 * GIB;
/// Largest default test file.
const AUTO_BYTES_MAX: u64 = 8 * GIB;
/// Smallest test file: a smaller one measures only caches and request merging.
pub const TEST_FILE_BYTES_MIN: u64 = 1 << 20;
/// Test files are whole multiples of this.
pub(crate) const FILE_UNIT_BYTES: u64 = 1 << 20;

/// Size assumed for the file system when computing the share that must stay free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystemSize {
    /// Its actual size.
    #[default]
    Measured,
    /// At most this; available space is always the actual one. For tests, which must run on a disk
    /// of any size: not reachable by any option, file or variable.
    AtMost {
        /// Largest size assumed.
        bytes: u64,
    },
}

impl FileSystemSize {
    pub(crate) fn total_bytes(self, measured: u64) -> u64 {
        match self {
            FileSystemSize::Measured => measured,
            FileSystemSize::AtMost { bytes } => measured.min(bytes),
        }
    }
}

/// Space on a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub total_bytes: u64,
    /// Free for ordinary users.
    pub available_bytes: u64,
    /// Most that may be taken for reasons other than the floor (memory).
    pub limit_bytes: u64,
}

impl Space {
    /// What must stay free.
    pub fn floor_bytes(&self) -> u64 {
        // Shares are rounded up.
        let enough = FLOOR_BYTES_ENOUGH.min(self.total_bytes.div_ceil(4));
        self.total_bytes.div_ceil(10).max(enough)
    }

    /// What a new file may take. A little is left for the file system's metadata (extents,
    /// checksums: 1/256 and 4 MiB), so that the floor holds when the file is full.
    pub fn room_bytes(&self) -> u64 {
        let above = self.available_bytes.saturating_sub(self.floor_bytes());
        let net = above.saturating_sub(above / 256).saturating_sub(4 << 20);
        net.min(self.limit_bytes) / FILE_UNIT_BYTES * FILE_UNIT_BYTES
    }

    /// The size of the file for an intent, or why it cannot be made.
    pub fn fill_plan(&self, intent: &Intent, directory: &Path, name: &str) -> Result<FillPlan> {
        let round = |bytes: u64| {
            bytes
                .div_ceil(FILE_UNIT_BYTES)
                .saturating_mul(FILE_UNIT_BYTES)
        };
        let room = self.room_bytes();
        let (wanted, may_shrink) = match intent.size {
            Size::Auto => (AUTO_BYTES_MAX.min(self.available_bytes / 20), true),
            Size::AtMost(bytes) => (bytes, true),
            Size::Exactly(bytes) => (bytes, false),
        };
        if wanted == 0 && intent.size != Size::Auto {
            return Err(Error::new(
                ErrorKind::Usage,
                name,
                "a test file of 0 bytes is not a target",
            )
            .with_hint("Give a size like `<--size> 1G`."));
        }
        let wanted = round(wanted.max(TEST_FILE_BYTES_MIN));
        let bytes = if may_shrink { wanted.min(room) } else { wanted };
        if bytes > room || bytes < TEST_FILE_BYTES_MIN {
            return Err(self.too_little(wanted, directory, name));
        }
        Ok(FillPlan {
            bytes,
            asked_bytes: (bytes < wanted).then_some(wanted),
            free_before_bytes: self.available_bytes,
            free_after_bytes: self.available_bytes - bytes,
            free_floor_bytes: self.floor_bytes(),
            kept_as: None,
            time_limit_ns: intent.fill_time_limit_ns,
        })
    }

    fn too_little(&self, wanted: u64, directory: &Path, name: &str) -> Error {
        let memory = self.limit_bytes < self.available_bytes.saturating_sub(self.floor_bytes());
        let why = if memory {
            "it lives in memory, of which at most half of what is available may be used".to_owned()
        } else {
            format!(
                "of the {} free in {} at least {} must stay (10 % of the file system, but no \
                 less than 2 GiB or, on one below 8 GiB, a quarter of it)",
                format_bytes(self.available_bytes),
                directory.as_text(),
                format_bytes(self.floor_bytes())
            )
        };
        let room = self.room_bytes();
        let hint = if room >= TEST_FILE_BYTES_MIN {
            format!("Up to `<--size> {}M` fits.", room >> 20)
        } else {
            "Free some space, choose a directory on another volume, \
             or measure the reads of an existing file."
                .to_owned()
        };
        let what = format!("no room for a test file of {}: {why}", format_bytes(wanted));
        Error::new(ErrorKind::NoSpace, name, what).with_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(total_gib: u64, available_bytes: u64) -> Space {
        Space {
            total_bytes: total_gib * GIB,
            available_bytes,
            limit_bytes: u64::MAX,
        }
    }

    fn planned(space: Space, size: Size) -> Result<FillPlan> {
        let intent = Intent {
            size,
            ..Intent::default()
        };
        space.fill_plan(&intent, Path::new("/d"), "/d")
    }

    #[test]
    fn ten_percent_or_two_gib_or_a_quarter_stays_free_to_the_byte() {
        // (total GiB, available bytes, what must stay)
        let cases = [
            (1, GIB, GIB / 4),
            (4, 3 * GIB, GIB),
            (8, 8 * GIB, 2 * GIB),
            (9, 8 * GIB, 2 * GIB),
            (20, 20 * GIB, 2 * GIB),
            (21, 20 * GIB, (21 * GIB).div_ceil(10)),
            (1 << 30, 5 << 50, (1u64 << 60).div_ceil(10)),
        ];
        for (total, available, floor) in cases {
            let space = space(total, available);
            assert_eq!(space.floor_bytes(), floor, "{total} GiB");
            let room = space.room_bytes();
            assert!(
                room == 0 || space.available_bytes - room >= floor,
                "{total} GiB"
            );
            if room > 0 {
                let fill = planned(space, Size::Exactly(room)).expect("what fits is planned");
                assert!(fill.free_after_bytes >= fill.free_floor_bytes);
                let error = planned(space, Size::Exactly(room + 1)).expect_err("one byte more");
                assert_eq!(error.kind, ErrorKind::NoSpace);
                assert!(
                    error.hint.contains(&format!("{}M", room >> 20)),
                    "{}",
                    error.hint
                );
                let fill = planned(space, Size::AtMost(u64::MAX / 2)).expect("as much as fits");
                assert_eq!(fill.bytes, room);
                assert!(
                    fill.asked_bytes.is_some(),
                    "it says that more was asked for"
                );
            }
        }
    }

    #[test]
    fn a_file_system_counts_as_no_larger_than_assumed_and_never_as_larger_than_it_is() {
        let assumed = FileSystemSize::AtMost { bytes: 4 * GIB };
        for (measured, total) in [(100 * GIB, 4 * GIB), (GIB, GIB)] {
            assert_eq!(assumed.total_bytes(measured), total);
            assert_eq!(FileSystemSize::Measured.total_bytes(measured), measured);
        }
    }

    #[test]
    fn the_default_is_five_percent_of_the_free_space_up_to_eight_gib() {
        let cases = [(1000, 1000 * GIB, 8 * GIB), (100, 40 * GIB, 2 * GIB)];
        for (total, available, want) in cases {
            let fill = planned(space(total, available), Size::Auto).expect("fits");
            assert_eq!(fill.bytes, want);
            assert_eq!(fill.asked_bytes, None);
        }
    }

    #[test]
    fn a_file_system_in_memory_leaves_half_of_the_memory() {
        let space = Space {
            limit_bytes: 64 << 20,
            ..space(100, 90 * GIB)
        };
        assert_eq!(planned(space, Size::Auto).expect("fits").bytes, 64 << 20);
        let error = planned(space, Size::Exactly(65 << 20)).expect_err("too much memory");
        assert!(error.what.contains("memory"), "{error}");
    }

    #[test]
    fn sizes_are_rounded_up_to_whole_mebibytes_and_zero_is_refused() {
        let space = space(100, 90 * GIB);
        assert_eq!(
            planned(space, Size::Exactly(1)).expect("fits").bytes,
            1 << 20
        );
        assert_eq!(
            planned(space, Size::Exactly((5 << 20) + 1))
                .expect("fits")
                .bytes,
            6 << 20
        );
        let error = planned(space, Size::Exactly(0)).expect_err("nothing to measure");
        assert_eq!(error.kind, ErrorKind::Usage);
    }

    #[test]
    fn a_full_file_system_gets_no_file_of_any_size() {
        for size in [Size::Auto, Size::AtMost(GIB), Size::Exactly(1 << 20)] {
            let error = planned(space(100, 10 * GIB), size).expect_err("at the floor");
            assert_eq!(error.kind, ErrorKind::NoSpace);
            assert!(!error.hint.is_empty());
        }
    }
}
