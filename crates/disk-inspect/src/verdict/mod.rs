//! Whether a volume is laid out correctly: verdicts with their arithmetic. Pure.
//!
//! A [`Subject`] is a volume's location: the stripe boundaries below it, and its first bytes on the
//! disks at the bottom. [`judge`] compares them. Purely informational checks are never findings.

pub mod hints;
mod judge;

pub use hints::{Hint, Nature};
pub use judge::judge;

use serde::Serialize;
use stripewise_disk_formats::crossing::{Crossing, gcd, power_of_two_in};
use stripewise_disk_formats::tables::Role;

/// Source of a stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnitSource {
    /// The kernel or metadata: md, device mapper.
    Array,
    /// The disk's minimum and optimal I/O sizes.
    Hint,
    /// The disk's `chunk_sectors`: the kernel splits operations that cross it.
    Chunk,
    /// The user.
    Given,
    /// Timed reads (`probe stripe`).
    Measured,
}

impl UnitSource {
    /// As text.
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
    /// RAID level, if known.
    pub level: Option<String>,
    /// Bytes on one disk.
    pub unit_bytes: u64,
    /// Its source.
    pub source: UnitSource,
    /// Where the volume, or the piece of it that is here, starts in the device.
    pub offset_bytes: u64,
    /// Where that piece starts in the volume: 0 unless it has several pieces.
    pub volume_bytes: u64,
    /// Largest piece that arrives here whole, if a striped device above distributes the volume:
    /// distances larger than that here differ from distances in the volume.
    pub piece_bytes: Option<u64>,
    /// Bytes on all data disks.
    pub full_stripe_bytes: Option<u64>,
    /// It has parity: a partial stripe is read before it is written.
    pub parity: bool,
    /// Where the first stripe unit begins in the device; 0 unless measured.
    pub first_unit_bytes: u64,
}

impl Boundary {
    /// The period for a volume's offset: the stripe unit, or the part of it preserved by the pieces
    /// from above. Units of 256K that get pieces of 64K are crossed by none if the first piece
    /// starts at a multiple of 64K.
    pub fn period_bytes(&self) -> u64 {
        match self.piece_bytes {
            Some(piece) => gcd(self.unit_bytes, piece),
            None => self.unit_bytes,
        }
    }

    /// Whether the pieces from above and the stripe units are multiples of each other, so that
    /// either no piece crosses or all do equally.
    pub(crate) fn pieces_fit(&self) -> bool {
        let piece = self.piece_bytes.unwrap_or(self.unit_bytes);
        self.period_bytes() == piece.min(self.unit_bytes)
    }

    /// Where byte 0 of the volume would be in a period.
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
    pub fn arriving_bytes(&self, block_size_bytes: u64) -> u64 {
        block_size_bytes.min(self.piece_bytes.unwrap_or(u64::MAX))
    }

    /// The largest size up to which aligned operations never cross, if the volume does not start on
    /// a boundary; `None` if it does.
    pub fn splits_above(&self) -> Option<u64> {
        let phase = self.phase_bytes();
        (phase != 0)
            .then(|| power_of_two_in(gcd(phase, self.period_bytes())))
            .flatten()
    }
}

impl Boundary {
    /// Whether the largest of these sizes exceeds what never crosses here.
    pub fn is_misaligned_for(&self, block_sizes_bytes: &[u64]) -> bool {
        let largest = block_sizes_bytes.iter().max();
        let above = self.splits_above();
        above
            .zip(largest)
            .is_some_and(|(above, largest)| above < *largest)
    }

    /// Whether operations of any of these sizes touch more stripe units here than they would from a
    /// boundary. If the unit is not a power of two, some cross equally often from any start, which
    /// is reported.
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
    /// Kernel name of the disk, or of the last traceable device.
    pub disk: String,
    /// Bytes from its start.
    pub offset_bytes: u64,
    /// Smallest addressable unit.
    pub logical_sector_bytes: Option<u32>,
    /// Smallest unit that is written without reading first.
    pub physical_sector_bytes: Option<u32>,
    /// Where the first physical sector starts (`alignment_offset`), usually 0.
    pub alignment_offset_bytes: u64,
    /// Whether there may be an array behind it.
    pub nature: Nature,
    /// A single drive that may write in units of 4 KiB, whatever sectors it reports.
    pub may_hide_pages: bool,
    /// Why the trace ends here, if this is not a disk.
    pub ends: Option<String>,
    /// Sizes that the disk reports but that are not credible.
    pub distrusted: Option<String>,
}

/// Usage of a volume, where it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// It has a file system.
    FileSystem,
    /// It has something else: swap, a member of an inactive array.
    Other,
    /// It is not known to hold anything.
    #[default]
    Unused,
    /// Its content could not be read.
    Unknown,
    /// By its type its location does not matter: BIOS boot, Microsoft reserved.
    Exempt,
}

/// Input of the verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Subject {
    /// Stripe units, from the top down.
    pub boundaries: Vec<Boundary>,
    /// First bytes on the disks.
    pub places: Vec<Place>,
    /// Bytes of an allocation unit of its file system.
    pub allocation_unit_bytes: Option<u64>,
    /// Stripe unit and width set in the file system.
    pub told_unit_bytes: Option<u64>,
    /// Its usage.
    pub usage: Usage,
    /// Why its offset is unreliable.
    pub suspect: Option<Suspect>,
    /// Some of its pieces could not be traced.
    pub incomplete: bool,
}

/// A layer between a volume and its disks with its own mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Suspect {
    /// A partition of a Windows dynamic disk: volumes start somewhere inside.
    DynamicDisk,
    /// A volume of dynamic disks, with extents from its volume manager.
    DynamicVolume,
    /// A member of a storage pool.
    StoragePool,
    /// A virtual disk of a storage pool.
    StorageSpace,
}

impl Suspect {
    /// What follows from a partition's role alone.
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
    /// Aligned operations above this size cross stripe units unnecessarily.
    SplitsAbove(u64),
    /// It starts on a boundary of stripe units.
    Aligned,
    /// The layers below are unknown and may be misaligned: operations above this size (a power of
    /// two) cross units that start at multiples of a larger one.
    Suspect(u64),
    /// Nothing below is striped.
    NotStriped,
    /// There may be stripes below; any stripe unit up to this size (a power of two) is aligned.
    /// `None` if all are.
    UnknownStripeUnit(Option<u64>),
}

impl LayoutVerdict {
    /// The code in JSON.
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

    /// The size it contains.
    pub fn bytes(self) -> Option<u64> {
        match self {
            LayoutVerdict::SplitsAbove(bytes) | LayoutVerdict::Suspect(bytes) => Some(bytes),
            LayoutVerdict::UnknownStripeUnit(bytes) => bytes,
            _ => None,
        }
    }
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Correct.
    Good,
    /// Informational.
    Information,
    /// Needs action but is not a misalignment.
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

/// The cost of one block size by the crossing law, at the worst boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Cost {
    /// The striped device.
    pub layer: String,
    /// Its stripe unit.
    pub unit_bytes: u64,
    /// At the volume's current location.
    pub here: Crossing,
    /// If it started on a boundary.
    pub aligned: Crossing,
}

/// The full judgement of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Judgement {
    /// The verdict.
    pub verdict: LayoutVerdict,
    /// Whether it is misaligned at a cost for the requested sizes.
    pub finding: bool,
    /// The comparisons made.
    pub checks: Vec<Check>,
    /// Expected cost for each requested size.
    pub costs: Vec<Cost>,
}
