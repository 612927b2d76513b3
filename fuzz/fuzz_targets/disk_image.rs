//! A description of an image, as `disks FILE` takes it: tables, superblocks,
//! verdicts, and what is printed for scripts that parse diskpar and DiskExt.
#![no_main]

#[path = "../../crates/cli/src/show/disks_like.rs"]
mod disks_like;

use disks_like::{diskext, diskpar};
use libfuzzer_sys::fuzz_target;
use stripewise_disk_formats::fuzz::Sparse;
use stripewise_disk_inspect::fuzz::disk_image;

fuzz_target!(|bytes: &[u8]| {
    if let Some(survey) = disk_image(&Sparse::described(bytes)) {
        let _ = (diskpar(&survey), diskext(&survey));
    }
});
