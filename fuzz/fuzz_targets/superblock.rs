//! A description of a device, a few pieces in a length: file systems, md, LVM, LUKS,
//! or nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_disk_formats::fuzz::{Sparse, superblock};

fuzz_target!(|bytes: &[u8]| superblock(&Sparse::described(bytes)));
