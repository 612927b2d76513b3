//! Whether a volume is laid out right: verdicts with their arithmetic. Pure.
//!
//! A [`Subject`] is a volume's place: the boundaries of stripe units above which
//! it starts, and its first bytes on the disks at the bottom. [`judge`] compares
//! them. What only informs never makes a finding.

pub mod hints;
mod judge;

pub use hints::{Hint, Nature};
pub use judge::judge;

use serde::Serialize;
use stripewise_disk_formats::crossing::{Crossing, gcd, power_of_two_in};
use stripewise_disk_formats::tables::Role;

/// Where a stripe unit is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnitSource {
    /// The kernel or metadata: md, device mapper.
    Array,
    /// The disk's minimum and optimal I/O sizes.
    Hint,
    /// The disk's `chunk_sectors`: operations across are split by the kernel.
    Chunk,
    /// The user.
    Given,
    /// Timed reads (`probe stripe`).
    Measured,
}

impl UnitSource {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            UnitSource::Array => "read from the array",
            UnitSource::Hint => "the disk's own hint",
            UnitSource::Chunk => "the disk's own chunk",
            UnitSource::Given => "given",
            UnitSource::Measured => "measured by timed reads",
        }
    }
}

/// Stripe units that a volume's operations may cross.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Boundary {
    /// The striped device: `md0`, `sda`.
    pub layer: String,
    /// RAID level, where known.
    pub level: Option<String>,
    /// Bytes on one disk.
    pub unit_bytes: u64,
    /// Who says so.
    pub source: UnitSource,
    /// Where the volume, or the piece of it that lies here, starts in the device.
    pub offset_bytes: u64,
    /// Where that piece starts in the volume: 0 unless it has several pieces.
    pub volume_bytes: u64,
    /// Largest piece that arrives here whole, where a striped device above deals
    /// the volume out: what lies further apart here is no longer what lies further
    /// apart in the volume.
    pub piece_bytes: Option<u64>,
    /// Bytes on all data disks.
    pub full_stripe_bytes: Option<u64>,
    /// Parity is kept: a partial stripe is read before it is written.
    pub parity: bool,
    /// Where the first stripe unit begins in the device; 0 but for what was measured.
    pub first_unit_bytes: u64,
}

impl Boundary {
    /// What the place of a volume is measured by: the stripe unit, or the part of it
    /// that the pieces from above keep. Units of 256K that get pieces of 64K are
    /// crossed by none where the first piece starts at a multiple of 64K.
    #[must_use]
    pub fn period_bytes(&self) -> u64 {
        match self.piece_bytes {
            Some(piece) => gcd(self.unit_bytes, piece),
            None => self.unit_bytes,
        }
    }

    /// Whether the pieces from above and the stripe units are multiples of each
    /// other, so that either no piece crosses or all do alike.
    #[must_use]
    pub(crate) fn pieces_fit(&self) -> bool {
        let piece = self.piece_bytes.unwrap_or(self.unit_bytes);
        self.period_bytes() == piece.min(self.unit_bytes)
    }

    /// Where byte 0 of the volume would stand in a period.
    #[must_use]
    pub fn phase_bytes(&self) -> u64 {
        let period = self.period_bytes();
        // Counted from where units begin.
        let before = (period - self.first_unit_bytes % period) % period;
        phase(
            self.offset_bytes.saturating_add(before),
            self.volume_bytes,
            period,
        )
    }

    /// How much of an operation arrives here in one piece.
    #[must_use]
    pub fn arriving_bytes(&self, block_size_bytes: u64) -> u64 {
        block_size_bytes.min(self.piece_bytes.unwrap_or(u64::MAX))
    }

    /// The largest size up to which aligned operations never cross, where the
    /// volume does not start on a boundary; `None` where it does.
    #[must_use]
    pub fn splits_above(&self) -> Option<u64> {
        let phase = self.phase_bytes();
        (phase != 0)
            .then(|| power_of_two_in(gcd(phase, self.period_bytes())))
            .flatten()
    }
}

impl Boundary {
    /// Whether the largest of these sizes is above what never crosses here.
    #[must_use]
    pub fn is_misaligned_for(&self, block_sizes_bytes: &[u64]) -> bool {
        let largest = block_sizes_bytes.iter().max();
        let above = self.splits_above();
        above
            .zip(largest)
            .is_some_and(|(above, largest)| above < *largest)
    }

    /// Whether operations of any of these sizes touch more stripe units here than
    /// they would from a boundary. Where the unit is not a power of two, some cross
    /// as often wherever the volume starts, which is worth saying.
    #[must_use]
    pub fn costs_more(&self, block_sizes_bytes: &[u64]) -> bool {
        block_sizes_bytes.iter().any(|bytes| {
            let bytes = self.arriving_bytes(*bytes);
            let touched = |phase| {
                Crossing::new(bytes, self.unit_bytes, phase).map(|found| found.units_touched)
            };
            touched(self.phase_bytes()) > touched(0)
        })
    }
}

/// `(offset - lead) mod period`.
fn phase(offset_bytes: u64, lead_bytes: u64, period: u64) -> u64 {
    if period == 0 {
        return 0;
    }
    let (offset, lead) = (offset_bytes % period, lead_bytes % period);
    if offset >= lead {
        offset - lead
    } else {
        offset + (period - lead)
    }
}

/// A volume's first byte on a disk at the bottom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// Kernel name of the disk, or of the last device that can be followed.
    pub disk: String,
    /// Bytes from its start.
    pub offset_bytes: u64,
    /// Smallest unit that is addressed.
    pub logical_sector_bytes: Option<u32>,
    /// Smallest unit that is written without reading first.
    pub physical_sector_bytes: Option<u32>,
    /// Where the first physical sector starts (`alignment_offset`), mostly 0.
    pub alignment_offset_bytes: u64,
    /// Whether there may be an array behind it.
    pub nature: Nature,
    /// One drive that may write in units of 4 KiB, whatever sectors it reports.
    pub may_hide_pages: bool,
    /// Why the way down ends here, where that is no disk.
    pub ends: Option<String>,
    /// Sizes that the disk gives and that are not believed.
    pub distrusted: Option<String>,
}

/// What a volume is used for, where it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// It has a file system.
    FileSystem,
    /// It has something else: swap, a member of an array that is not running.
    Other,
    /// Nothing is known to be on it.
    #[default]
    Unused,
    /// What is on it could not be read.
    Unknown,
    /// Its type says that its place does not matter: BIOS boot, Microsoft reserved.
    Exempt,
}

/// What is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Subject {
    /// Stripe units, from the top down.
    pub boundaries: Vec<Boundary>,
    /// First bytes on the disks.
    pub places: Vec<Place>,
    /// Bytes of an allocation unit of its file system.
    pub allocation_unit_bytes: Option<u64>,
    /// Stripe unit and width that the file system was told.
    pub told_unit_bytes: Option<u64>,
    /// What it is used for.
    pub usage: Usage,
    /// Why its offset is not to be relied upon.
    pub suspect: Option<Suspect>,
    /// There are pieces of it that could not be followed.
    pub incomplete: bool,
}

/// Something between a volume and its disks that keeps its own book of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suspect {
    /// A partition of a Windows dynamic disk: volumes start somewhere inside.
    DynamicDisk,
    /// A volume of dynamic disks, whose extents its volume manager told.
    DynamicVolume,
    /// A member of a storage pool.
    StoragePool,
    /// A virtual disk of a storage pool.
    StorageSpace,
}

impl Suspect {
    /// What follows from a partition's role alone.
    #[must_use]
    pub fn by_role(role: Role) -> Option<Self> {
        match role {
            Role::Dynamic => Some(Suspect::DynamicDisk),
            Role::StoragePool => Some(Suspect::StoragePool),
            _ => None,
        }
    }

    /// Name and text of the warning.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Suspect::DynamicDisk => (
                "dynamic-disk",
                "a Windows dynamic disk (LDM): where its volumes start is only in its own \
                 database, so this offset is suspect; ask `dmdiag -v` for RelSec on Windows",
            ),
            Suspect::DynamicVolume => (
                "dynamic-disk",
                "a volume of Windows dynamic disks (LDM): its offset is the volume manager's \
                 word, no partition table has it, so it is suspect; compare with RelSec of \
                 `dmdiag -v`",
            ),
            Suspect::StoragePool => (
                "storage-pool",
                "a member of a Windows storage pool: data of its virtual disks lie anywhere \
                 inside, so this offset is suspect; judge the volumes on the virtual disks",
            ),
            Suspect::StorageSpace => (
                "storage-space",
                "on a virtual disk of Storage Spaces: where its columns lie on real disks is \
                 not reported, so this offset is suspect; `Get-VirtualDisk | Format-List` shows \
                 Interleave (the stripe unit), which --stripe-unit takes",
            ),
        }
    }
}

/// The verdict on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutVerdict {
    /// It starts inside a physical sector: every write reads first.
    SectorSplit,
    /// Aligned operations above this size cross stripe units that they need not.
    SplitsAbove(u64),
    /// It starts on a boundary of stripe units.
    Aligned,
    /// What lies below is not known and may be harmed by this offset: operations above
    /// this size (a power of two) cross units that start at multiples of a larger one.
    Suspect(u64),
    /// Nothing below is striped.
    NotStriped,
    /// There may be stripes below; any stripe unit up to this size (a power of
    /// two) suits. `None` where all do.
    UnknownStripeUnit(Option<u64>),
}

impl LayoutVerdict {
    /// As in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            LayoutVerdict::SectorSplit => "sector-split",
            LayoutVerdict::SplitsAbove(_) => "splits-above",
            LayoutVerdict::Aligned => "aligned",
            LayoutVerdict::Suspect(_) => "suspect",
            LayoutVerdict::NotStriped => "not-striped",
            LayoutVerdict::UnknownStripeUnit(_) => "unknown-stripe-unit",
        }
    }

    /// The size that belongs to it.
    #[must_use]
    pub fn bytes(self) -> Option<u64> {
        match self {
            LayoutVerdict::SplitsAbove(bytes) | LayoutVerdict::Suspect(bytes) => Some(bytes),
            LayoutVerdict::UnknownStripeUnit(bytes) => bytes,
            _ => None,
        }
    }
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// As it should be.
    Good,
    /// Worth knowing.
    Information,
    /// Something to act on that is no misalignment.
    Warning,
    /// Misaligned: the command exits with 1.
    Finding,
}

/// One comparison with its arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Check {
    /// Stable name.
    pub name: &'static str,
    /// How it came out.
    pub result: CheckOutcome,
    /// A sentence with the numbers.
    pub text: String,
}

/// The cost of one block size by the crossing law, at the boundary where it is
/// worst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Cost {
    /// The striped device.
    pub layer: String,
    /// Its stripe unit.
    pub unit_bytes: u64,
    /// As the volume lies.
    pub here: Crossing,
    /// As it would be on a boundary.
    pub aligned: Crossing,
}

/// Everything that is to be said of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Judgement {
    /// The verdict.
    pub verdict: LayoutVerdict,
    /// Misaligned in a way that costs, for the sizes asked for.
    pub finding: bool,
    /// What was compared.
    pub checks: Vec<Check>,
    /// Expected cost for each size asked for.
    pub costs: Vec<Cost>,
}
