//! Plans and reports: what people see before and after, and JSON.

use crate::current_layout::{Present, PresentPartition};
use crate::layout::{Geometry, Layout};
use crate::saved::{SavedDevice, SavedTable};
use crate::table::Patch;
use serde::{Serialize, Serializer};
use std::path::PathBuf;
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind, Partition, Use};
use stripewise_disk_inspect::trace::{Given, trace};
use stripewise_disk_inspect::verdict::{Check, Judgement, Subject, Usage, judge};

/// Sizes of operations for which an offset is judged: a page and an extent of
/// SQL Server.
pub const BLOCK_SIZES_BYTES: [u64; 2] = [8 << 10, 64 << 10];

/// The device that a plan is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DeviceFacts {
    /// The kernel's name, which `--destroy` wants.
    pub name: String,
    /// Absolute path, without links.
    pub path: PathBuf,
    /// Maker and model.
    pub model: Option<String>,
    /// Serial number or world-wide name.
    pub serial: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest unit of addressing.
    pub logical_sector_bytes: u32,
    /// Smallest unit that is written without reading first.
    pub physical_sector_bytes: u32,
}

/// One piece that is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedWrite {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// What it is.
    pub what: String,
}

/// A new table, or an old one brought back.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A new table with partitions there.
    Make(Vec<Layout>),
    /// The table of a file.
    Restore(Box<SavedTable>),
    /// Nothing at all.
    Erase,
}

/// What `partition` would do to a device. Making it writes nothing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TablePlan {
    /// The device.
    pub device: DeviceFacts,
    /// What is there now.
    pub present: Present,
    /// Who uses it now: mounts, swap, holders.
    pub uses: Vec<Use>,
    /// Why it would be refused as things are.
    pub in_the_way: Option<String>,
    /// Why it cannot be known that no program has it open, where that is so: then
    /// carrying it out needs [`Destroy::busy_ok`](crate::Destroy::busy_ok).
    pub unseen: Option<String>,
    /// What is written, in the order of writing.
    pub writes: Vec<PlannedWrite>,
    /// The partition that is made; absent when a table is brought back.
    pub layout: Option<Layout>,
    /// The partitions that there will be.
    pub partitions: Vec<PresentPartition>,
    /// Offset and verdict of the partition that is made.
    #[serde(serialize_with = "judgement_of_new")]
    #[schemars(with = "Option<JudgementKeys>")]
    pub judgement: Option<Judgement>,
    /// Where the table that is brought back was saved from.
    pub restored_from: Option<SavedDevice>,
    /// Worth knowing.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) geometry: Geometry,
    #[serde(skip)]
    pub(crate) deed: Action,
    #[serde(skip)]
    pub(crate) known: Known,
}

/// What was done to a device.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TableReport {
    /// The device.
    pub device: DeviceFacts,
    /// Where the old table is, where it was saved.
    pub saved: Option<PathBuf>,
    /// Bytes written.
    pub bytes_written: u64,
    /// The kernel read the table itself, or was told each partition.
    pub shown: &'static str,
    /// The partitions, with the kernel's names, as read back.
    pub partitions: Vec<MadePartition>,
    /// Offset and verdict of the partition that was made, as sysfs has it.
    #[serde(serialize_with = "judgement_of_new")]
    #[schemars(with = "Option<JudgementKeys>")]
    pub judgement: Option<Judgement>,
}

/// A partition that the kernel shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct MadePartition {
    /// The kernel's name.
    pub name: String,
    /// First byte from the start of the disk.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
}

/// Patches as people and scripts see them.
pub(crate) fn writes(patches: &[Patch]) -> Vec<PlannedWrite> {
    patches
        .iter()
        .map(|patch| PlannedWrite {
            offset_bytes: patch.offset_bytes,
            length_bytes: patch.bytes.len() as u64,
            what: patch.what.clone(),
        })
        .collect()
}

/// What is known of a volume besides where it lies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Bytes of an allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// Bytes on one disk of the array below, as the user gave them.
    pub stripe_unit_bytes: Option<u64>,
}

/// Judges a place on a device as a volume that will have a file system: a
/// partition of it that starts there, or the device itself.
pub(crate) fn judgement(device: &BlockDevice, start_bytes: u64, known: Known) -> Judgement {
    let future;
    let volume = if start_bytes == 0 {
        device
    } else {
        future = BlockDevice {
            name: format!("{} from byte {start_bytes}", device.name),
            kind: BlockDeviceKind::Partition,
            queue: device.queue.clone(),
            partition: Some(Partition {
                index: 1,
                start_bytes,
            }),
            below: vec![device.clone()],
            ..BlockDevice::default()
        };
        &future
    };
    let given = known.stripe_unit_bytes.map(|unit| Given {
        stripe_unit_bytes: Some(unit),
        ..Given::default()
    });
    let traced = trace(volume, &|_| given.clone());
    let subject = Subject {
        boundaries: traced.boundaries,
        places: traced.places,
        incomplete: traced.incomplete,
        allocation_unit_bytes: known.allocation_unit_bytes,
        usage: Usage::FileSystem,
        ..Subject::default()
    };
    judge(&subject, &BLOCK_SIZES_BYTES)
}

/// A judgement with the keys that volumes have everywhere: the verdict as its
/// code, and the size that belongs to it apart.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct JudgementKeys<'a> {
    verdict: &'static str,
    verdict_bytes: Option<u64>,
    finding: bool,
    checks: &'a [Check],
}

/// For `serialize_with`.
pub(crate) fn judgement_keys<S: Serializer>(
    judgement: &Judgement,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    JudgementKeys {
        verdict: judgement.verdict.code(),
        verdict_bytes: judgement.verdict.bytes(),
        finding: judgement.finding,
        checks: &judgement.checks,
    }
    .serialize(serializer)
}

/// The same where there may be none.
fn judgement_of_new<S: Serializer>(
    judgement: &Option<Judgement>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match judgement {
        Some(judgement) => judgement_keys(judgement, serializer),
        None => serializer.serialize_none(),
    }
}
