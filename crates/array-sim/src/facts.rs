//! Externally visible facts about an array: the layout of its volume and its totals.

use crate::layout::Level;

/// Facts about a volume for higher layers, as they would read them from the controller and the
/// partition table of a real one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeFacts {
    /// The organisation.
    pub level: Level,
    /// Drives.
    pub disks: u32,
    /// Contiguous bytes on one drive; 0 without striping.
    pub stripe_unit_bytes: u64,
    /// Bytes of data in one full stripe; 0 without striping.
    pub stripe_width_bytes: u64,
    /// Start of the partition on the array.
    pub partition_offset_bytes: u64,
    /// Offset in the partition of the file that the volume represents.
    pub file_offset_bytes: u64,
    /// The file system's allocation unit; 0: not stated.
    pub allocation_unit_bytes: u64,
    /// Fragments of the file; 0: contiguous.
    pub fragments: u32,
    /// Bytes per fragment; 0: contiguous.
    pub fragment_bytes: u64,
    /// Seed for the fragments' positions.
    pub fragment_seed: u64,
    /// Logical sector.
    pub sector_bytes: u32,
    /// Whether the drives have an arm.
    pub rotational: bool,
}

/// Gap space per fragment of a file, at least: each fragment begins at a multiple of the allocation
/// unit within it.
const BETWEEN_FRAGMENTS: u64 = 1 << 20;

impl VolumeFacts {
    /// Position of a byte of the file in the partition. A fragment begins at a multiple of the
    /// allocation unit, some distance after the previous one. An operation that crosses the end of
    /// its fragment is not split: that is rare.
    pub fn placed_bytes(&self, offset_bytes: u64) -> u64 {
        let in_one = self.file_offset_bytes.wrapping_add(offset_bytes);
        match offset_bytes.checked_div(self.fragment_bytes) {
            None => in_one,
            Some(piece) => in_one.wrapping_add(self.gap_before(piece)),
        }
    }

    /// Total gap before a fragment.
    fn gap_before(&self, piece: u64) -> u64 {
        let grain = self.fragment_grain_bytes();
        let room = BETWEEN_FRAGMENTS.next_multiple_of(grain);
        // splitmix64 of the number.
        let mut word = (piece ^ self.fragment_seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let within = (word ^ (word >> 31)) % (room / grain) * grain;
        piece.wrapping_mul(room).wrapping_add(within)
    }

    fn fragment_grain_bytes(&self) -> u64 {
        self.allocation_unit_bytes
            .max(u64::from(self.sector_bytes))
            .max(1)
    }

    /// Total size of all gaps.
    pub fn gaps_bytes(&self) -> u64 {
        let room = BETWEEN_FRAGMENTS.next_multiple_of(self.fragment_grain_bytes());
        u64::from(self.fragments).saturating_mul(room)
    }
}

/// Totals of an array so far, for utilisation and amplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayTotals {
    /// Operations completed for the host.
    pub completed: u64,
    /// Accesses sent to drives.
    pub accesses: u64,
    /// Nanoseconds of service, summed over drives.
    pub drives_busy_ns: u64,
    /// Pages programmed for host writes on drives with a page map (`ssd.page_map`).
    pub pages_written: u64,
    /// Pages additionally programmed by collection.
    pub pages_moved: u64,
}

#[cfg(test)]
mod tests {
    use crate::spec::ArraySpec;
    use std::collections::BTreeSet;

    #[test]
    fn pieces_of_a_file_begin_at_allocation_units_and_do_not_overlap() {
        for unit in ["4K", "64K"] {
            let name = format!("raid10-10k?fragments=100&allocation_unit={unit}&size=10G");
            let facts = ArraySpec::bundled(&name).unwrap().facts();
            let grain = facts.allocation_unit_bytes;
            assert!(facts.fragment_bytes.is_multiple_of(grain));
            let mut phases = BTreeSet::new();
            let mut end = 0;
            for piece in 0..100 {
                let first = facts.placed_bytes(piece * facts.fragment_bytes);
                assert!(
                    first >= end && first.is_multiple_of(grain),
                    "{unit} {piece}"
                );
                phases.insert(first % (64 << 10));
                end = facts.placed_bytes((piece + 1) * facts.fragment_bytes - 1) + 1;
                assert_eq!(end - first, facts.fragment_bytes, "{unit} {piece}");
            }
            // Small units start anywhere in a stripe unit, large ones at its start.
            assert_eq!(phases.len() > 1, unit == "4K", "{unit}: {phases:?}");
        }
        let whole = ArraySpec::bundled("raid10-10k").unwrap().facts();
        assert_eq!(whole.placed_bytes(12_345), 12_345);
        assert_eq!(whole.gaps_bytes(), 0);
    }

    #[test]
    fn a_volume_without_room_for_the_gaps_is_refused() {
        let error = ArraySpec::bundled("raid10-10k?fragments=1000000").unwrap_err();
        assert!(error.to_string().contains("room"), "{error}");
    }
}
