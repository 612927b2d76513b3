//! What fuzz targets call: any bytes through surveys of images, and what must
//! hold of whatever comes out. Part of the crate so that `cargo test` runs it, too.

use crate::survey::{self, Survey};
use crate::verdict::{LayoutVerdict, Place};
use stripewise_disk_formats::fuzz::Sparse;

/// An image as `disks FILE` takes it: table, superblocks of all partitions,
/// verdicts. What it found is handed on for what prints it.
///
/// # Panics
/// When something that must hold does not.
pub fn disk_image(disk: &Sparse) -> Option<Survey> {
    let _ = survey::recognised(&mut disk.medium());
    let survey = survey::image(&mut disk.medium(), "image", "/image", None, &|_| None).ok()?;
    for volume in &survey.volumes {
        let judgement = volume.judge(&[8 << 10, 64 << 10]);
        assert!(judgement.checks.iter().all(|check| !check.text.is_empty()));
        // Without a stripe unit there is nothing that splits.
        assert!(!matches!(judgement.verdict, LayoutVerdict::SplitsAbove(_)));
        // A table may say anything, but not without a remark.
        let is_outside = |place: &Place| place.offset_bytes > disk.size_bytes();
        let table = survey.disks.first().and_then(|disk| disk.table.as_ref());
        if volume.place().is_some_and(is_outside) {
            assert!(table.is_some_and(|table| !table.problems.is_empty()));
        }
    }
    Some(survey)
}

/// Any text as a file of `/proc` or `/sys`, and any bytes as the answer of an
/// ioctl.
pub fn kernel_text(bytes: &[u8]) {
    crate::platform::fuzz_kernel_text(bytes);
}
