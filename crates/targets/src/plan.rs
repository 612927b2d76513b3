//! What will be done, before anything is done: data for the program, text for users. Made by
//! [`plan`](crate::plan), carried out by [`prepare`](crate::prepare), printed before the first byte
//! is written.

use std::path::PathBuf;
use stripewise_results::TargetKind;
use stripewise_units::NameText;
use stripewise_units::format_bytes as bytes;

/// A judged request. Holds no open file.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The target as the user named it.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// The target itself, or the directory of a test file: absolute, symbolic links resolved.
    pub path: PathBuf,
    /// Bytes that can be measured. An upper limit for a test file filled under a time limit.
    pub size_bytes: u64,
    /// The measurement will read.
    pub reads: bool,
    /// The measurement will write.
    pub writes: bool,
    /// The test file to be made.
    pub fill: Option<FillPlan>,
    /// The device at the end of the path: its kernel name, for block devices.
    pub device_name: Option<String>,
    /// Information that requires no action, one sentence each: smaller than requested, cache mode
    /// not available, what could not be verified.
    pub notes: Vec<String>,
    pub(crate) detail: crate::platform::PlanDetail,
}

/// The test file of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillPlan {
    /// Bytes to write.
    pub bytes: u64,
    /// Bytes requested, where that was more.
    pub asked_bytes: Option<u64>,
    /// Free for ordinary users now (`f_bavail`).
    pub free_before_bytes: u64,
    /// Free when the file is full.
    pub free_after_bytes: u64,
    /// What must stay free: max(10 %, min(2 GiB, a quarter)) of the file system.
    pub free_floor_bytes: u64,
    /// Where the file will be kept; `None`: it has no name, or a temporary one that is removed when
    /// the run ends.
    pub kept_as: Option<PathBuf>,
    /// Filling stops after this long.
    pub time_limit_ns: Option<u64>,
}

impl FillPlan {
    /// Note for a file that will be smaller than requested.
    pub(crate) fn note(&self) -> Option<String> {
        self.asked_bytes.map(|requested| {
            format!(
                "the test file has {} instead of {}, as {} of the file system must stay free.",
                bytes(self.bytes),
                bytes(requested),
                bytes(self.free_floor_bytes)
            )
        })
    }
}

impl std::fmt::Display for Plan {
    /// One fact a line, no final newline.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = bytes(self.size_bytes);
        match (&self.fill, self.kind) {
            (Some(fill), _) => write_fill(f, self, fill)?,
            (None, TargetKind::Device) => {
                let device = self.device_name.as_deref().unwrap_or("?");
                write!(f, "Target: block device {device} ({}), {size}", self.name)?;
            }
            (None, _) => write!(f, "Target: existing file {}, {size}", self.path.as_text())?,
        }
        let read = if self.reads { "yes" } else { "nothing" };
        write!(f, "\nReads: {read}")?;
        match (self.writes, &self.fill, self.kind) {
            (false, None, _) => write!(f, "\nWrites: nothing")?,
            (false, Some(_), _) => write!(f, "\nWrites: only to fill the test file")?,
            (true, Some(_), _) => write!(f, "\nWrites: only inside the test file")?,
            (true, None, TargetKind::Device) => {
                write!(f, "\nWrites: ALL DATA on this device is overwritten")?;
            }
            (true, None, _) => write!(f, "\nWrites: the contents of this file are overwritten")?,
        }
        if self.writes && self.detail.intent.features.discards {
            write!(f, "\nDiscards: what they hit is lost")?;
        }
        for note in &self.notes {
            write!(f, "\nNote: {note}")?;
        }
        Ok(())
    }
}

fn write_fill(f: &mut std::fmt::Formatter<'_>, plan: &Plan, fill: &FillPlan) -> std::fmt::Result {
    let upto = if fill.time_limit_ns.is_some() {
        "up to "
    } else {
        ""
    };
    write!(
        f,
        "Target: a test file of {upto}{} in {}, ",
        bytes(fill.bytes),
        plan.path.as_text()
    )?;
    match &fill.kept_as {
        Some(path) => write!(f, "kept as {}", path.as_text())?,
        None => write!(f, "gone when the run ends")?,
    }
    write!(
        f,
        "\nFree space: {} now, {} with the file (at least {} must stay)",
        bytes(fill.free_before_bytes),
        bytes(fill.free_after_bytes),
        bytes(fill.free_floor_bytes)
    )
}
