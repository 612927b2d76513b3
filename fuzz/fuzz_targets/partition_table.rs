//! A description of a disk, a few pieces in a length: a partition table or none,
//! in bounded time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_disk_formats::fuzz::{Sparse, partition_table};

fuzz_target!(|bytes: &[u8]| partition_table(&Sparse::described(bytes)));
