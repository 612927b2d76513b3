//! The rotation of parity over the drives, and the resulting placement of data: the rules of Linux
//! md (`raid5_compute_sector`), named as in `mdadm --layout`.

use super::divide;

/// How parity and data move from row to row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Parity on the last drive, then on the one before it; data starts after the parity.
    LeftSymmetric,
    /// The same, but data starts at the first drive and skips the parity.
    LeftAsymmetric,
    /// Parity on the first drive, then on the one after it; data starts after the parity.
    RightSymmetric,
    /// The same, but data starts at the first drive and skips the parity.
    RightAsymmetric,
    /// Parity stays on the last drives, as in RAID 4.
    ParityLast,
}

impl Rotation {
    /// The drive with P in a row of this many drives, of which `parities` hold no data; Q is on the
    /// next one, or on the first after the last.
    #[inline]
    pub(super) fn parity(self, disks: u64, parities: u64, row: u64) -> u64 {
        match self {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => disks - 1 - divide(row, disks).1,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => divide(row, disks).1,
            Rotation::ParityLast => disks - parities,
        }
    }

    fn leaves_parity_out(self) -> bool {
        matches!(self, Rotation::LeftAsymmetric | Rotation::RightAsymmetric)
    }

    /// The drive of a column of data.
    #[inline]
    pub(super) fn data(self, disks: u64, parities: u64, row: u64, column: u64) -> u64 {
        let parity = self.parity(disks, parities, row);
        if self.leaves_parity_out() {
            let (before, behind) = neighbours_of_parity(disks, parities, parity);
            return if column < before {
                column
            } else {
                column + behind
            };
        }
        // Less than twice the number of disks: cheaper than a division.
        let disk = parity + parities + column;
        if disk < disks { disk } else { disk - disks }
    }

    /// The column of data on a drive without parity in this row: the inverse of [`Rotation::data`].
    pub(super) fn column(self, disks: u64, parities: u64, row: u64, disk: u64) -> u64 {
        let parity = self.parity(disks, parities, row);
        if self.leaves_parity_out() {
            let (before, behind) = neighbours_of_parity(disks, parities, parity);
            return if disk < before { disk } else { disk - behind };
        }
        (disk + disks - parity) % disks - parities
    }
}

/// Number of columns before the parity, and by how many drives the others are shifted. Where P is
/// on the last drive, Q is on the first, and all columns shift by one.
fn neighbours_of_parity(disks: u64, parities: u64, parity: u64) -> (u64, u64) {
    match parity + parities > disks {
        true => (0, 1),
        false => (parity, parities),
    }
}
