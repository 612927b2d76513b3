//! The final state of a finished run on one target, small enough to be stored with its record: a
//! copy can be compared with it later, when the map is gone.

use crate::map::Expected;
use crate::stream::key;
use crate::verify_targets::TargetLayout;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Most parts with their own sum: 8 KiB of text in a record.
const PARTS_MAX: u64 = 512;
/// Hexadecimal digits of a sum.
const DIGITS: usize = 16;
/// Replaces a sum if the contents of a part are uncertain.
const UNCERTAIN: &str = "----------------";

/// The state of a target at the end of a run that read everything again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FinishedState {
    /// All bytes that the run wrote: starts and ends, ascending.
    pub spans: Vec<[u64; 2]>,
    /// Bytes per sum; the last part may be shorter.
    pub part_bytes: u64,
    /// A sum over the sectors of each part, which depends on the newest generation of each, in 16
    /// hexadecimal digits; hyphens if a failed write leaves it open.
    pub sums: String,
    /// Each worker that wrote, and the number of its newest write.
    pub newest: Vec<[u64; 2]>,
}

/// A sector's contribution to the sum of its part at this generation: the key of its data.
pub(crate) fn mark(run: u64, offset_bytes: u64, generation: u32) -> u64 {
    key(run, offset_bytes, generation)
}

impl FinishedState {
    /// The state of a run's target, from its map and its workers' last writes. Takes time for every
    /// sector: a second or two per tebibyte.
    pub fn of(run: u64, layout: &TargetLayout, newest: Vec<[u64; 2]>) -> FinishedState {
        let mut spans: Vec<[u64; 2]> = Vec::new();
        for region in &layout.regions {
            let Range { start, end } = region.span();
            match spans.last_mut() {
                Some(last) if last[1] == start => last[1] = end,
                _ => spans.push([start, end]),
            }
        }
        let size_bytes = spans.last().map_or(0, |span| span[1]);
        let sector = u64::from(layout.sector_bytes);
        let part_bytes = (size_bytes.div_ceil(PARTS_MAX)).next_multiple_of(sector);
        let parts = size_bytes.div_ceil(part_bytes.max(1));
        let mut sums: Vec<Option<u64>> = vec![Some(0); parts as usize];
        for region in &layout.regions {
            for block in 0..region.map.blocks() {
                let start = region.offset_of(block);
                let end = start + u64::from(region.block_bytes);
                let expected = region.map.expected(block);
                for offset_bytes in (start..end).step_by(sector as usize) {
                    let sum = &mut sums[(offset_bytes / part_bytes) as usize];
                    *sum = match (*sum, &expected) {
                        (Some(sum), Expected::Exactly(generation)) => {
                            Some(sum.wrapping_add(mark(run, offset_bytes, *generation)))
                        }
                        _ => None,
                    };
                }
            }
        }
        let text = |sum: &Option<u64>| match sum {
            Some(sum) => format!("{sum:016x}"),
            None => UNCERTAIN.to_owned(),
        };
        FinishedState {
            spans,
            part_bytes,
            sums: sums.iter().map(text).collect(),
            newest,
        }
    }

    /// The first byte after everything that the run wrote.
    pub fn size_bytes(&self) -> u64 {
        self.spans.last().map_or(0, |span| span[1])
    }

    /// Number of parts with a sum.
    pub(crate) fn parts(&self) -> usize {
        self.sums.len() / DIGITS
    }

    /// The sum of a part; `None` if open or invalid.
    pub(crate) fn sum(&self, part: usize) -> Option<u64> {
        let digits = self.sums.get(part * DIGITS..(part + 1) * DIGITS)?;
        u64::from_str_radix(digits, 16).ok()
    }

    /// Its bytes of the target, as far as the run wrote.
    pub(crate) fn part(&self, part: usize) -> Range<u64> {
        let start = part as u64 * self.part_bytes;
        start..(start + self.part_bytes).min(self.size_bytes())
    }

    /// Number of bytes that the run wrote.
    pub(crate) fn bytes(&self) -> u64 {
        self.spans.iter().map(|span| span[1] - span[0]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_targets::Region;

    #[test]
    fn a_sum_is_of_the_newest_generation_of_each_sector_of_its_part() {
        let pages = Region::new(0, 8192, 1024, &[1]);
        let log = Region::new(8 << 20, 512, 1024, &[2]);
        for block in 0..1024 {
            pages.map.succeeded(block, 1);
            log.map.succeeded(block, 1);
        }
        pages.map.succeeded(3, 5);
        log.map.unclear(1023, 2);
        let layout = TargetLayout {
            sector_bytes: 512,
            regions: vec![pages, log],
        };
        let state = FinishedState::of(7, &layout, vec![[1, 9]]);
        let size_bytes = (8 << 20) + (512 << 10);
        assert_eq!(state.spans, [[0, size_bytes]]);
        assert_eq!(
            (state.size_bytes(), state.bytes()),
            (size_bytes, size_bytes)
        );
        assert_eq!((state.part_bytes, state.parts()), (17 << 10, 512));
        let of = |from: u64, to: u64, changed: Range<u64>| {
            let sectors = (from..to).step_by(512);
            sectors.fold(0u64, |sum, at| {
                let generation = if changed.contains(&at) { 5 } else { 1 };
                sum.wrapping_add(mark(7, at, generation))
            })
        };
        // The changed page crosses the end of the second part.
        let page = 3 * 8192..4 * 8192;
        assert_eq!(state.part(1), 17_408..34_816);
        assert_eq!(state.sum(0), Some(of(0, 17_408, page.clone())));
        assert_eq!(state.sum(1), Some(of(17_408, 34_816, page)));
        assert_eq!(state.sum(511), None, "the write of its last sector failed");
        assert_eq!(state.sum(512), None, "there is no such part");
    }

    #[test]
    fn a_state_that_somebody_changed_says_nothing_and_does_no_harm() {
        let state = FinishedState {
            sums: "12é45678901234567890".to_owned(),
            ..FinishedState::default()
        };
        assert_eq!(
            (state.sum(0), state.sum(1), state.size_bytes()),
            (None, None, 0)
        );
    }
}
