//! Any bytes through surveys of images, and what must hold of whatever comes out. A fuzz
//! target has it, too.

use stripewise_disk_formats::medium::Bytes;
use stripewise_disk_inspect::survey::{self, Survey};
use stripewise_disk_inspect::verdict::{LayoutVerdict, Place};

/// An image as `disks FILE` takes it: table, superblocks of all partitions,
/// verdicts. What it found is handed on for what prints it.
///
/// # Panics
/// When something that must hold does not.
pub fn disk_image(disk: &mut dyn Bytes) -> Option<Survey> {
    let _ = survey::recognised(disk);
    let survey = survey::image(disk, "image", "/image", None, &|_| None).ok()?;
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
