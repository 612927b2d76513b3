//! Writes to parity levels.
//!
//! A write that covers whole parity pages is handled row by row. *Read-modify-write* reads the data
//! to be overwritten and the old parity; *reconstruct-write* reads the rest of the row; a full
//! stripe reads nothing. Then it writes data and parity. On one unit of a RAID 5 that is four
//! accesses, on three disks with reconstruct-write three.
//!
//! A write that begins or ends inside a parity page is split there: the page at each end and the
//! whole pages between are updated one by one, each with its own reads and writes, the partial
//! pages in full. An 8K write not aligned to 4 KiB thus costs twelve accesses instead of four, the
//! factor of three measured on Linux md (offsets 63s and 64.5K, but not 36K).

use super::{Access, Layout, Level, Phase, Piece, Target, divide};

/// How small writes update parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParityWrite {
    /// The method with fewer reads; read-modify-write when equal.
    Cheaper,
    /// Always read the data to be overwritten.
    ReadModifyWrite,
    /// Always read the rest of the row.
    ReconstructWrite,
}

/// The method chosen for one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMethod {
    /// Nothing needs reading.
    FullStripe,
    /// Old data and old parity are read.
    ReadModifyWrite,
    /// The rest of the stripe is read.
    ReconstructWrite,
}

/// A contiguous range within one row: `from` and `to` are bytes from the row's first data byte.
/// `partial`: a page with only partly new data.
#[derive(Clone, Copy, Debug)]
struct RowWrite {
    row: u64,
    from: u64,
    to: u64,
    partial: bool,
}

/// The accesses of one phase of a write to RAID 5 or 6.
pub(super) fn plan_write(
    layout: &Layout,
    phase: Phase,
    offset: u64,
    length: u64,
    take: &mut impl FnMut(Access),
) {
    let end = offset + length;
    let page = layout.parity_page_bytes;
    let (head_end, tail_start) = (offset.next_multiple_of(page), end / page * page);
    if offset == head_end && end == tail_start {
        plan_range(layout, phase, offset, end, false, take);
        return;
    }
    if offset < head_end {
        plan_range(layout, phase, head_end - page, head_end, true, take);
    }
    if head_end < tail_start {
        plan_range(layout, phase, head_end, tail_start, false, take);
    }
    // A tail in the head's page is already done.
    if tail_start < end && tail_start >= head_end {
        plan_range(layout, phase, tail_start, tail_start + page, true, take);
    }
}

/// Whether a write within a stripe unit reads in its first phase exactly the range it writes in the
/// second: the same data, and the parity of the same columns.
pub(super) fn reads_what_it_writes(layout: &Layout, offset: u64, length: u64) -> bool {
    let page = layout.parity_page_bytes;
    let whole = divide(offset, page).1 == 0 && divide(length, page).1 == 0;
    whole && {
        let (rest, touched) = (
            layout.data_disks() - 1,
            1 + u64::from(layout.level.parities()),
        );
        method_of(layout, rest, touched) == WriteMethod::ReadModifyWrite
    }
}

/// The method for a row, given the reads that reconstruct-write and read-modify-write need.
fn method_of(layout: &Layout, rest: u64, touched: u64) -> WriteMethod {
    if rest == 0 {
        return WriteMethod::FullStripe;
    }
    match layout.parity_write {
        ParityWrite::ReadModifyWrite => WriteMethod::ReadModifyWrite,
        ParityWrite::ReconstructWrite => WriteMethod::ReconstructWrite,
        ParityWrite::Cheaper if rest < touched => WriteMethod::ReconstructWrite,
        ParityWrite::Cheaper => WriteMethod::ReadModifyWrite,
    }
}

/// A range of whole pages, row by row.
fn plan_range(
    layout: &Layout,
    phase: Phase,
    start: u64,
    end: u64,
    partial: bool,
    take: &mut impl FnMut(Access),
) {
    let row_bytes = layout.unit_bytes * layout.data_disks();
    let (mut row, mut from) = divide(start, row_bytes);
    let mut left = end - start;
    while left > 0 {
        let length = left.min(row_bytes - from);
        let write = RowWrite {
            row,
            from,
            to: from + length,
            partial,
        };
        write.plan(layout, phase, take);
        left -= length;
        (row, from) = (row + 1, 0);
    }
}

impl RowWrite {
    fn plan(&self, layout: &Layout, phase: Phase, take: &mut impl FnMut(Access)) {
        let method = self.method(layout);
        match (method, phase) {
            (WriteMethod::FullStripe, Phase::First) => self.writes(layout, take),
            (WriteMethod::FullStripe, Phase::Second) => {}
            (WriteMethod::ReadModifyWrite, Phase::First) => {
                self.pieces(layout, |piece| take(access(piece, false)));
                self.parity(layout, false, take);
            }
            (WriteMethod::ReconstructWrite, Phase::First) => {
                self.untouched(layout, |piece| take(access(piece, false)));
            }
            (_, Phase::Second) => self.writes(layout, take),
        }
    }

    fn writes(&self, layout: &Layout, take: &mut impl FnMut(Access)) {
        self.pieces(layout, |piece| take(access(piece, true)));
        self.parity(layout, true, take);
    }

    fn method(&self, layout: &Layout) -> WriteMethod {
        let (rest, touched) = self.reads(layout);
        method_of(layout, rest, touched)
    }

    /// The reads that reconstruct-write and read-modify-write need: one for each range from
    /// [`RowWrite::untouched`], and one for each unit written and each parity.
    fn reads(&self, layout: &Layout) -> (u64, u64) {
        let unit = layout.unit_bytes;
        let (first, inside) = divide(self.from, unit);
        let (last, to_inside) = divide(self.to - 1, unit);
        let written = last - first + 1;
        let rest = if self.partial {
            layout.data_disks()
        } else {
            // Several units: data before the first byte and after the last is kept.
            let several = u64::from(written > 1);
            let oldest_kept = u64::from(inside > 0) + u64::from(to_inside + 1 < unit);
            layout.data_disks() - written + several * oldest_kept
        };
        (rest, written + u64::from(layout.level.parities()))
    }

    /// The ranges to write, by unit.
    fn pieces(&self, layout: &Layout, take: impl FnMut(Piece)) {
        let start = self.row * layout.unit_bytes * layout.data_disks();
        layout.pieces(start + self.from, self.to - self.from, take);
    }

    /// The columns (bytes within the units) that the write touches, as one range.
    fn columns(&self, unit: u64) -> (u64, u64) {
        let (first, low) = divide(self.from, unit);
        let (last, high) = divide(self.to - 1, unit);
        if first == last {
            (low, high + 1)
        } else {
            (0, unit)
        }
    }

    /// Data in the affected columns that the write does not replace, by unit.
    fn untouched(&self, layout: &Layout, mut take: impl FnMut(Piece)) {
        let unit = layout.unit_bytes;
        let start = self.row * unit * layout.data_disks();
        let (low, high) = self.columns(unit);
        for column in 0..layout.data_disks() {
            let (first, last) = (column * unit + low, column * unit + high);
            // New data within this unit; a partial page replaces nothing in full.
            let new = if self.partial {
                (last, last)
            } else {
                (self.from.clamp(first, last), self.to.clamp(first, last))
            };
            for (from, to) in [(first, new.0), (new.1, last)] {
                if from < to {
                    layout.pieces(start + from, to - from, &mut take);
                }
            }
        }
    }

    fn parity(&self, layout: &Layout, write: bool, take: &mut impl FnMut(Access)) {
        let (low, high) = self.columns(layout.unit_bytes);
        let first = layout.parity_disk(self.row);
        let disks = u64::from(layout.disks);
        let count = if layout.level == Level::Raid6 { 2 } else { 1 };
        for number in 0..count {
            take(Access {
                target: Target::Disk(((first + number) % disks) as u32),
                offset_bytes: self.row * layout.unit_bytes + low,
                length_bytes: high - low,
                write,
            });
        }
    }
}

fn access(piece: Piece, write: bool) -> Access {
    Access {
        target: Target::Disk(piece.place.disk),
        offset_bytes: piece.place.offset_bytes,
        length_bytes: piece.length_bytes,
        write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Rotation;

    /// The count of reads equals the length of their list.
    #[test]
    fn reads_are_counted_as_they_are_listed() {
        for (level, disks) in [(Level::Raid5, 3), (Level::Raid5, 6), (Level::Raid6, 7)] {
            let layout = Layout {
                level,
                disks,
                unit_bytes: 8,
                disk_bytes: 80,
                parity_page_bytes: 1,
                parity_write: ParityWrite::Cheaper,
                rotation: Rotation::LeftSymmetric,
                chunklet_rows: 0,
            };
            let row_bytes = 8 * layout.data_disks();
            let ranges =
                (0..row_bytes).flat_map(|from| (from + 1..=row_bytes).map(move |to| (from, to)));
            for ((from, to), partial) in ranges.flat_map(|range| [(range, false), (range, true)]) {
                let write = RowWrite {
                    row: 1,
                    from,
                    to,
                    partial,
                };
                let (mut rest, mut touched) = (0, u64::from(level.parities()));
                write.untouched(&layout, |_| rest += 1);
                write.pieces(&layout, |_| touched += 1);
                assert_eq!(
                    write.reads(&layout),
                    (rest, touched),
                    "{layout:?} {write:?}"
                );
            }
        }
    }
}
