//! A description of a disk, a few pieces in a length: a partition table or none,
//! in bounded time.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/disk-formats/tests/it/anything.rs"]
mod anything;

use anything::{Sparse, partition_table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| partition_table(&Sparse::described(bytes)));
