//! Plans and reports: shown before and after, and as JSON.

use crate::current_layout::{Present, PresentPartition};
use crate::layout::{Geometry, Layout};
use crate::saved::{SavedDevice, SavedTable};
use crate::table::Patch;
use serde::{Serialize, Serializer};
use std::path::PathBuf;
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind, Partition, Use};
use stripewise_disk_inspect::trace::{SuppliedFacts, trace};
use stripewise_disk_inspect::verdict::{Check, Judgement, Subject, Usage, judge};

/// Operation sizes for which an offset is judged: a page and an extent of SQL Server.
pub const BLOCK_SIZES_BYTES: [u64; 2] = [8 << 10, 64 << 10];

/// The device of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DeviceFacts {
    /// The kernel's name, required by `--destroy`.
    pub name: String,
    /// Absolute path, without links.
    pub path: PathBuf,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number or world-wide name.
    pub serial: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest addressable unit.
    pub logical_sector_bytes: u32,
    /// Smallest unit that is written without reading first.
    pub physical_sector_bytes: u32,
}

/// One range to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlannedWrite {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// Description.
    pub what: String,
}

/// A new table, or a restored one.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A new table with these partitions.
    Make(Vec<Layout>),
    /// The table from a file.
    Restore(Box<SavedTable>),
    /// Erase everything.
    Erase,
}

/// What `partition` would do to a device. Planning writes nothing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TablePlan {
    /// The device.
    pub device: DeviceFacts,
    /// Current contents.
    pub present: Present,
    /// Current users: mounts, swap, holders.
    pub uses: Vec<Use>,
    /// Why it would currently be refused.
    pub in_the_way: Option<String>,
    /// Why it cannot be determined whether a program has it open, if so: then execution needs
    /// [`Destroy::busy_ok`](crate::Destroy::busy_ok).
    pub unseen: Option<String>,
    /// Ranges written, in order.
    pub writes: Vec<PlannedWrite>,
    /// The partition that is made; absent when a table is restored.
    pub layout: Option<Layout>,
    /// The resulting partitions.
    pub partitions: Vec<PresentPartition>,
    /// Offset and verdict of the partition that is made.
    #[serde(serialize_with = "judgement_of_new")]
    #[schemars(with = "Option<JudgementKeys>")]
    pub judgement: Option<Judgement>,
    /// The device from which the restored table was saved.
    pub restored_from: Option<SavedDevice>,
    /// Informational.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) geometry: Geometry,
    #[serde(skip)]
    pub(crate) action: Action,
    #[serde(skip)]
    pub(crate) known: VolumeFacts,
}

/// Result of writing a device's table.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TableReport {
    /// The device.
    pub device: DeviceFacts,
    /// Location of the saved old table, if it was saved.
    pub saved: Option<PathBuf>,
    /// Bytes written.
    pub bytes_written: u64,
    /// Whether the kernel reread the table itself, or was given each partition.
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

/// Patches for users and scripts.
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

/// Facts about a volume besides its location.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VolumeFacts {
    /// Bytes of an allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// User-supplied stripe unit of the array below, bytes on one disk.
    pub stripe_unit_bytes: Option<u64>,
}

/// Judges a location on a device as a volume that will have a file system: a partition that starts
/// there, or the device itself.
pub(crate) fn judgement(device: &BlockDevice, start_bytes: u64, known: VolumeFacts) -> Judgement {
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
    let given = known.stripe_unit_bytes.map(|unit| SuppliedFacts {
        stripe_unit_bytes: Some(unit),
        ..SuppliedFacts::default()
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

/// A judgement with the same keys as for volumes elsewhere: the verdict as its code, and its size
/// separately.
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

/// The same for an optional one.
fn judgement_of_new<S: Serializer>(
    judgement: &Option<Judgement>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match judgement {
        Some(judgement) => judgement_keys(judgement, serializer),
        None => serializer.serialize_none(),
    }
}
