//! What a device seems to hold, so that the plan can report what would be lost.

use std::fs::File;
use std::os::unix::fs::FileExt;
use stripewise_disk_formats::marks;

/// Reads the first bytes of an open device; returns the first signature that matches.
pub(super) fn of(file: &File) -> Option<&'static str> {
    let mut head = vec![0u8; marks::HEAD_BYTES];
    let got = file.read_at(&mut head, 0).ok()?;
    marks::found(&head[..got]).first().map(|mark| mark.what)
}
