//! A description of an image, as `disks FILE` takes it: tables, superblocks,
//! verdicts, and what is printed for scripts that parse diskpar and DiskExt.
#![no_main]

#[path = "../../crates/campaign/src/disks/like.rs"]
mod disks_like;

#[path = "../../crates/disk-inspect/tests/it/anything.rs"]
mod anything;

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/disk-formats/tests/it/anything.rs"]
mod formats;

use anything::disk_image;
use disks_like::{diskext, diskpar};
use formats::Sparse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(survey) = disk_image(&mut Sparse::described(bytes).medium()) {
        let _ = (diskpar(&survey), diskext(&survey));
    }
});
