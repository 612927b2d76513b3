//! The plan and the report of `format`.

use crate::current_layout::Present;
use crate::file_system::{FileSystemKind, Stripe};
use crate::layout::Geometry;
use crate::plan::DeviceFacts;
use serde::Serialize;
use std::path::PathBuf;
use stripewise_disk_inspect::storage::Use;
use stripewise_disk_inspect::verdict::Judgement;
use stripewise_units::NameText;

/// What `format` would do to a device. Planning writes nothing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FormatPlan {
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
    /// The file system to make.
    pub file_system: FileSystemKind,
    /// Bytes of an allocation unit.
    pub allocation_unit_bytes: u64,
    /// The stripe geometry set in it.
    pub stripe: Option<Stripe>,
    /// Path of the program to run.
    pub program: PathBuf,
    /// Its arguments, before the device.
    pub arguments: Vec<String>,
    /// Offset of the volume on the disk below.
    pub offset_bytes: u64,
    /// The kernel's name of that disk.
    pub offset_disk: String,
    /// Offset and verdict.
    #[serde(serialize_with = "crate::plan::judgement_keys")]
    #[schemars(with = "crate::plan::JudgementKeys")]
    pub judgement: Judgement,
    /// Informational.
    pub notes: Vec<String>,
    /// Stripe unit and width expected in the superblock.
    #[serde(skip)]
    pub(crate) stripe_bytes: Option<(u64, u64)>,
    #[serde(skip)]
    pub(crate) geometry: Geometry,
}

impl FormatPlan {
    /// The command in a form that can be typed.
    pub fn command_line(&self) -> String {
        format!(
            "{} {} {}",
            self.program.as_text(),
            self.arguments.join(" "),
            self.device.path.as_text()
        )
    }
}

/// The result, read back from the superblock.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FormatReport {
    /// The device.
    pub device: DeviceFacts,
    /// The file system made.
    pub file_system: FileSystemKind,
    /// Its UUID or serial number.
    pub uuid: Option<String>,
    /// Bytes of an allocation unit.
    pub allocation_unit_bytes: Option<u64>,
    /// Stripe unit set in it.
    pub stripe_unit_bytes: Option<u64>,
    /// Stripe width set in it.
    pub stripe_width_bytes: Option<u64>,
    /// Offset of the volume on the disk below.
    pub offset_bytes: u64,
    /// The kernel's name of that disk.
    pub offset_disk: String,
    /// Offset and verdict.
    #[serde(serialize_with = "crate::plan::judgement_keys")]
    #[schemars(with = "crate::plan::JudgementKeys")]
    pub judgement: Judgement,
}
