//! Base offsets that place a workload where a partition of another offset would.
//!
//! A target begins somewhere on its disk. To measure an offset of 1M, the
//! workload must begin where the distance from the start of the disk is 1M, or
//! at a fixed distance after that: all levels are shifted by the same
//! distance, so that they use nearly the same part of the disk, and by one that
//! keeps their phase in every stripe unit and, if there is room, in stripes
//! of up to eight data disks.
//!
//! Pure. The code that opened the target supplies its start.

use stripewise_units::{ByteSize, InputError, format_bytes};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Distances by which levels are shifted, the best first: multiples of every stripe
/// width of 1 to 8, 1 to 6, 1 to 4 and 1 to 2 units of up to 1 MiB.
const PERIODS: [u64; 5] = [840 * MIB, 60 * MIB, 12 * MIB, 2 * MIB, MIB];
/// Maximum part of a target that shifting may cost: 1 in this many.
const COST: u64 = 16;
/// Minimum number of blocks of a span.
const BLOCKS_MIN: u64 = 64;

/// The offset of Windows up to 2003 and of DOS: 63 sectors.
pub const OFFSET_63_SECTORS: u64 = 63 * 512;
/// The default of partitioning tools since 2008.
pub const OFFSET_1M: u64 = MIB;
/// A multiple of 4K but not of 8K: an 8K operation there crosses stripe units
/// as at 63 sectors, but splits no page of parity. Separates the two causes.
pub const OFFSET_36K: u64 = 36 * KIB;

/// A target's position, and the usable part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsableRange {
    /// Position of its byte 0 on the disk, modulo `period_bytes` if there is one.
    pub start_bytes: u64,
    /// The start is known only modulo this (extents of a file share no more).
    pub period_bytes: Option<u64>,
    /// First byte of the target that may be used.
    pub from_bytes: u64,
    /// First byte after the usable part.
    pub end_bytes: u64,
    /// All base offsets are multiples of this.
    pub sector_bytes: u64,
    /// Bytes of the largest operation.
    pub block_bytes: u64,
}

/// Base offsets for levels, and the span that all of them use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShiftedOffsets {
    /// In the order of the levels.
    pub base_offsets_bytes: Vec<u64>,
    /// Bytes that every level uses from its base offset on.
    pub size_bytes: u64,
    /// How far all levels are shifted from their nominal offsets.
    pub moved_bytes: u64,
}

/// The levels compared by default: the target's present start against 1M; 63 sectors against 1M
/// if it starts at a multiple of 1M or its start is unknown.
pub fn default_offsets(start_bytes: Option<u64>) -> [u64; 2] {
    match present(start_bytes) {
        OFFSET_1M => [OFFSET_63_SECTORS, OFFSET_1M],
        now => [now, OFFSET_1M],
    }
}

/// The present start as a level: itself below 1 MiB, otherwise the start between 1 and 2 MiB that is
/// as far from a multiple of 1 MiB. 1M if it is such a multiple, or unknown.
pub fn present(start_bytes: Option<u64>) -> u64 {
    match start_bytes {
        None | Some(0) => OFFSET_1M,
        Some(start) if start < MIB => start,
        Some(start) => MIB + start % MIB,
    }
}

/// The base offsets that place a workload at each of `offsets` of the disk.
///
/// # Errors
/// If the target's sector rules one of them out, two are the same as far
/// as the start is known, or the target is too small.
pub fn shift(usable: &UsableRange, offsets: &[u64]) -> Result<ShiftedOffsets, InputError> {
    distinct(usable, offsets)?;
    let first = offsets.iter().copied().min().unwrap_or(0);
    // Levels must begin at or after the first usable byte.
    let least = usable.start_bytes.saturating_add(usable.from_bytes);
    let period = period(usable);
    let moved_bytes = least.saturating_sub(first).div_ceil(period) * period;
    let mut base_offsets_bytes = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        let base = offset.saturating_add(moved_bytes) - usable.start_bytes;
        if !base.is_multiple_of(usable.sector_bytes.max(1)) {
            return Err(off_sector(usable, offset));
        }
        base_offsets_bytes.push(base);
    }
    let last = base_offsets_bytes.iter().copied().max().unwrap_or(0);
    let block = usable.block_bytes.max(1);
    let size_bytes = usable.end_bytes.saturating_sub(last) / block * block;
    if size_bytes / block < BLOCKS_MIN {
        return Err(InputError::new(
            format!(
                "{} of this target can be used, too little to begin at {}",
                format_bytes(usable.end_bytes - usable.from_bytes.min(usable.end_bytes)),
                ByteSize(offsets.iter().copied().max().unwrap_or(0))
            ),
            format!(
                "give smaller --offsets, or a target of at least {}",
                format_bytes(last.saturating_add(BLOCKS_MIN * block))
            ),
        ));
    }
    Ok(ShiftedOffsets {
        base_offsets_bytes,
        size_bytes,
        moved_bytes,
    })
}

fn period(usable: &UsableRange) -> u64 {
    if let Some(period) = usable.period_bytes {
        return period.max(1);
    }
    let room = usable.end_bytes.saturating_sub(usable.from_bytes) / COST;
    let best = PERIODS.into_iter().find(|period| *period <= room);
    best.unwrap_or(MIB)
}

fn distinct(usable: &UsableRange, offsets: &[u64]) -> Result<(), InputError> {
    // If the start is known exactly, or modulo at least 1M, 1M and 2M are two levels.
    let period = usable.period_bytes.filter(|period| *period < MIB);
    let phase = |offset: u64| period.map_or(offset, |period| offset % period);
    for (at, &offset) in offsets.iter().enumerate() {
        let same = offsets[..at]
            .iter()
            .find(|other| phase(**other) == phase(offset));
        let Some(&other) = same else {
            continue;
        };
        return Err(match period {
            Some(period) if other != offset => InputError::new(
                format!(
                    "the extents of this file start alike only in units of {}, where {} and {} are the same",
                    ByteSize(period),
                    ByteSize(other),
                    ByteSize(offset)
                ),
                "measure the device itself (reads need no permission), or a file written in one go on an emptier file system",
            ),
            _ => InputError::new(
                format!("the offset {} is given twice", ByteSize(offset)),
                "name different offsets, the one the reference first",
            ),
        });
    }
    Ok(())
}

fn off_sector(usable: &UsableRange, offset: u64) -> InputError {
    let sector = usable.sector_bytes;
    let start = match usable.start_bytes {
        0 => String::new(),
        start => format!(" on a target that starts at {}", ByteSize(start)),
    };
    let sectors = match offset {
        1..=511 if sector == 512 => format!("{offset} sectors are {offset}s; "),
        _ => String::new(),
    };
    // A partition of such a disk starts at a multiple of its sector as well.
    InputError::new(
        format!(
            "{} cannot be reached{start}: the logical sector is {sector} bytes",
            ByteSize(offset)
        ),
        format!(
            "{sectors}give --offsets that are multiples of {}, such as 36K,1M; no partition of this disk can start elsewhere",
            ByteSize(sector)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn usable(start_bytes: u64) -> UsableRange {
        UsableRange {
            start_bytes,
            period_bytes: None,
            from_bytes: 0,
            end_bytes: 100 * GIB,
            sector_bytes: 512,
            block_bytes: 8 * KIB,
        }
    }

    #[test]
    fn where_it_starts_now_needs_no_shift() {
        let shifted = shift(&usable(OFFSET_63_SECTORS), &[OFFSET_63_SECTORS, MIB]).unwrap();
        assert_eq!(shifted.base_offsets_bytes, [0, MIB - OFFSET_63_SECTORS]);
        assert_eq!(shifted.moved_bytes, 0);
        assert_eq!(shifted.size_bytes % (8 * KIB), 0);
        assert!(shifted.base_offsets_bytes[1] + shifted.size_bytes <= 100 * GIB);
    }

    #[test]
    fn behind_the_start_all_levels_move_by_the_same_multiple_of_every_stripe_width() {
        let start = 50 * GIB + 17 * MIB;
        let offsets = [OFFSET_63_SECTORS, OFFSET_36K, MIB];
        let shifted = shift(&usable(start), &offsets).unwrap();
        for (base, offset) in shifted.base_offsets_bytes.iter().zip(offsets) {
            assert_eq!(start + base, offset + shifted.moved_bytes);
            for disks in 1..=8 {
                let width = disks * 64 * KIB;
                assert_eq!((start + base) % width, offset % width, "{disks} disks");
            }
        }
        let spread = shifted.base_offsets_bytes[2] - shifted.base_offsets_bytes[0];
        assert!(spread < MIB, "nearly the same part of the disk");
        assert!(shifted.base_offsets_bytes[0] < 840 * MIB);
    }

    #[test]
    fn small_targets_move_less() {
        let small = UsableRange {
            end_bytes: 64 * MIB,
            ..usable(MIB)
        };
        let shifted = shift(&small, &[OFFSET_63_SECTORS, MIB]).unwrap();
        assert_eq!(
            shifted.base_offsets_bytes[0],
            2 * MIB + OFFSET_63_SECTORS - MIB
        );
        let tiny = UsableRange {
            end_bytes: MIB,
            ..usable(MIB)
        };
        let problem = shift(&tiny, &[OFFSET_63_SECTORS, MIB]).unwrap_err();
        assert!(problem.to_string().contains("too little"), "{problem}");
    }

    #[test]
    fn a_sector_of_4096_forbids_63_sectors() {
        let large_sector = UsableRange {
            sector_bytes: 4096,
            ..usable(0)
        };
        let problem = shift(&large_sector, &[OFFSET_63_SECTORS, MIB]).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "31.5K cannot be reached: the logical sector is 4096 bytes"
        );
        assert!(shift(&large_sector, &[OFFSET_36K, MIB]).is_ok());
    }

    #[test]
    fn a_number_of_sectors_is_told_how_it_is_written() {
        let problem = shift(&usable(0), &[63, MIB]).unwrap_err();
        assert!(
            problem.hint().to_string().contains("63 sectors are 63s"),
            "{problem}"
        );
    }

    #[test]
    fn extents_that_agree_only_in_pages_tell_pages_apart_and_no_more() {
        let file = UsableRange {
            period_bytes: Some(4 * KIB),
            start_bytes: 0,
            ..usable(0)
        };
        let problem = shift(&file, &[64 * KIB, MIB]).unwrap_err();
        assert!(problem.to_string().contains("in units of 4K"), "{problem}");
        assert!(shift(&file, &[OFFSET_63_SECTORS, MIB]).is_ok());
        assert!(shift(&usable(0), &[MIB, MIB]).is_err());
    }

    #[test]
    fn a_part_of_a_file_is_not_left() {
        let part = UsableRange {
            start_bytes: 36 * KIB,
            period_bytes: Some(MIB),
            from_bytes: 128 * MIB,
            end_bytes: 256 * MIB,
            ..usable(0)
        };
        let shifted = shift(&part, &[OFFSET_63_SECTORS, MIB]).unwrap();
        for (base, offset) in shifted
            .base_offsets_bytes
            .iter()
            .zip([OFFSET_63_SECTORS, MIB])
        {
            assert!(*base >= 128 * MIB);
            assert_eq!((36 * KIB + base) % MIB, offset % MIB);
            assert!(base + shifted.size_bytes <= 256 * MIB);
        }
    }

    #[test]
    fn unasked_the_present_start_is_held_against_1m() {
        assert_eq!(default_offsets(None), [OFFSET_63_SECTORS, MIB]);
        assert_eq!(default_offsets(Some(0)), [OFFSET_63_SECTORS, MIB]);
        assert_eq!(default_offsets(Some(MIB)), [OFFSET_63_SECTORS, MIB]);
        assert_eq!(default_offsets(Some(64 * KIB)), [64 * KIB, MIB]);
        assert_eq!(default_offsets(Some(7 * MIB + 512)), [MIB + 512, MIB]);
    }
}
