//! A description of a device, a few pieces in a length: file systems, md, LVM, LUKS,
//! or nothing.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/disk-formats/tests/it/anything.rs"]
mod anything;

use anything::{Sparse, superblock};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| superblock(&Sparse::described(bytes)));
