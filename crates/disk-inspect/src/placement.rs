//! Where the bytes of a file are on the device below its file system, and what follows for offsets:
//! the *phase* of an extent is where byte 0 of the file would be if the whole file were placed like
//! this extent.
//!
//! Invariants: extents are in file order and do not overlap; those of unknown location (delayed,
//! inline, compressed) have none and make every statement about the whole file weaker, never wrong.

/// A range of a file that is contiguous on the device too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte in the file.
    pub logical_bytes: u64,
    /// First byte on the device below the file system; `None` if the file system does not report
    /// it, or if the data is encoded.
    pub physical_bytes: Option<u64>,
    /// Length, truncated at the end of the file.
    pub length_bytes: u64,
}

impl Extent {
    /// Where byte 0 of the file would be, modulo `period_bytes`.
    pub fn phase(&self, period_bytes: u64) -> Option<u64> {
        let physical = self.physical_bytes? % period_bytes;
        let logical = self.logical_bytes % period_bytes;
        Some((physical + period_bytes - logical) % period_bytes)
    }

    fn end(&self) -> u64 {
        self.logical_bytes.saturating_add(self.length_bytes)
    }
}

/// Range of a file whose extents all have the same phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// First byte in the file.
    pub from_bytes: u64,
    /// Length.
    pub length_bytes: u64,
    /// Their phase.
    pub phase_bytes: u64,
}

/// The extents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// In file order.
    pub extents: Vec<Extent>,
    /// All extents are here.
    pub complete: bool,
}

impl Placement {
    /// Their common phase modulo `period_bytes`; `None` if they differ, if one is unknown, or if
    /// there are none.
    pub fn phase(&self, period_bytes: u64) -> Option<u64> {
        let mut phases = self.extents.iter().map(|extent| extent.phase(period_bytes));
        let first = phases.next()??;
        (self.complete && phases.all(|phase| phase == Some(first))).then_some(first)
    }

    /// The largest power of two, at most `period_bytes` (a power of two), modulo which all phases
    /// agree; `None` if unknown. 512 or less is meaningless: every offset is a multiple of the
    /// sector.
    pub fn granularity(&self, period_bytes: u64) -> Option<u64> {
        let powers = (0..=period_bytes.checked_ilog2()?).rev();
        powers
            .map(|power| 1_u64 << power)
            .find(|period| self.phase(*period).is_some())
    }

    /// The longest part without a hole whose extents agree modulo `period_bytes`.
    pub fn longest(&self, period_bytes: u64) -> Option<Aligned> {
        let mut best: Option<Aligned> = None;
        let mut current: Option<Aligned> = None;
        for extent in &self.extents {
            let Some(phase_bytes) = extent.phase(period_bytes) else {
                current = None;
                continue;
            };
            let goes_on = current.filter(|part| {
                part.phase_bytes == phase_bytes
                    && part.from_bytes + part.length_bytes == extent.logical_bytes
            });
            let from_bytes = goes_on.map_or(extent.logical_bytes, |part| part.from_bytes);
            let part = Aligned {
                from_bytes,
                length_bytes: extent.end() - from_bytes,
                phase_bytes,
            };
            current = Some(part);
            if best.is_none_or(|best| best.length_bytes < part.length_bytes) {
                best = Some(part);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 1024;

    fn placement(extents: &[(u64, Option<u64>, u64)]) -> Placement {
        Placement {
            extents: extents
                .iter()
                .map(|&(logical, physical, length)| Extent {
                    logical_bytes: logical * K,
                    physical_bytes: physical.map(|at| at * K),
                    length_bytes: length * K,
                })
                .collect(),
            complete: true,
        }
    }

    #[test]
    fn extents_that_start_alike_have_one_phase() {
        let even = placement(&[(0, Some(36), 64), (64, Some(1024 + 100), 64)]);
        assert_eq!(even.phase(64 * K), Some(36 * K));
        assert_eq!(even.granularity(1024 * K), Some(1024 * K));
        let odd = placement(&[(0, Some(36), 64), (64, Some(1024 + 104), 64)]);
        assert_eq!(odd.phase(64 * K), None);
        assert_eq!(odd.granularity(1024 * K), Some(4 * K));
    }

    #[test]
    fn what_is_not_known_is_not_claimed() {
        let unknown = placement(&[(0, Some(36), 64), (64, None, 64)]);
        assert_eq!(unknown.phase(4 * K), None);
        assert_eq!(unknown.granularity(1024 * K), None);
        assert_eq!(placement(&[]).granularity(1024 * K), None);
        let cut = Placement {
            complete: false,
            ..placement(&[(0, Some(36), 64)])
        };
        assert_eq!(cut.phase(4 * K), None);
    }

    #[test]
    fn the_longest_part_ends_at_holes_and_where_the_phase_changes() {
        let file = placement(&[
            (0, Some(4), 60),
            (60, Some(1024 + 64), 140),
            (200, Some(4096), 100),
            // A hole of 50K.
            (350, Some(4096 + 150), 400),
        ]);
        let longest = file.longest(1024 * K).unwrap();
        assert_eq!(longest.from_bytes, 350 * K);
        assert_eq!(longest.length_bytes, 400 * K);
        let first = placement(&[(0, Some(4), 60), (60, Some(1024 + 64), 140)]);
        let longest = first.longest(1024 * K).unwrap();
        assert_eq!(
            (
                longest.from_bytes,
                longest.length_bytes,
                longest.phase_bytes
            ),
            (0, 200 * K, 4 * K)
        );
    }
}
