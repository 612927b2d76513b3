//! ext4: blocks of 1 KiB up to a page; larger allocation units are clusters of blocks (`bigalloc`),
//! which Linux mounts since 3.2. Blocks above a page could not be mounted before Linux 6.19, so
//! they are never used.

use super::{FormatOptions, Kernel, Recipe, check_range, check_stripe, width};
use crate::Result;
use stripewise_units::ByteSize;

/// Smallest block.
const BLOCK_BYTES_MIN: u64 = 1 << 10;
/// `EXT2_MAX_CLUSTER_LOG_SIZE` is 29, but the kernel supports at most 2^16 blocks of 4 KiB per
/// cluster; sensible sizes are far below.
const CLUSTER_BYTES_MAX: u64 = 1 << 28;
/// Block size that every kernel mounts.
const BLOCK_BYTES_COMMON: u64 = 4 << 10;

pub fn recipe(spec: &FormatOptions, kernel: &Kernel, target: &str) -> Result<Recipe> {
    check_range(spec, BLOCK_BYTES_MIN, CLUSTER_BYTES_MAX, target)?;
    let unit = spec.allocation_unit_bytes;
    let clusters = unit > kernel.page_bytes;
    let block = if clusters {
        BLOCK_BYTES_COMMON.min(kernel.page_bytes)
    } else {
        unit
    };
    let mut arguments = vec!["-q".to_owned(), "-b".to_owned(), block.to_string()];
    let mut notes = Vec::new();
    if clusters {
        for word in ["-O", "bigalloc", "-C"] {
            arguments.push(word.to_owned());
        }
        arguments.push(unit.to_string());
        notes.push(format!(
            "ext4 allocates {} by clusters of blocks of {} (bigalloc), as blocks above a page of \
             {} cannot be mounted here; mke2fs calls bigalloc experimental",
            ByteSize(unit),
            ByteSize(block),
            ByteSize(kernel.page_bytes)
        ));
    }
    if let Some(stripe) = spec.stripe {
        check_stripe(stripe, block, target)?;
        let (stride, blocks) = (stripe.unit_bytes / block, width(stripe) / block);
        arguments.push("-E".to_owned());
        arguments.push(format!("stride={stride},stripe_width={blocks}"));
    }
    Ok(Recipe {
        arguments,
        stripe_bytes: spec.stripe.map(|stripe| (stripe.unit_bytes, width(stripe))),
        notes,
    })
}
