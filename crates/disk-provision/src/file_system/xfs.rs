//! XFS: blocks of 1 KiB (since version 5) to 64 KiB. Linux mounts blocks above a
//! page since 6.12.

use super::{
    DeviceShape, FormatOptions, Kernel, Recipe, check_range, check_stripe, unmountable, width,
};
use crate::Result;
use stripewise_units::ByteSize;

/// The first release that mounts blocks above a page.
const LARGE_BLOCKS: (u32, u32) = (6, 12);

pub fn recipe(
    spec: &FormatOptions,
    place: &DeviceShape,
    kernel: &Kernel,
    target: &str,
) -> Result<Recipe> {
    check_range(spec, 1 << 10, 64 << 10, target)?;
    let block = spec.allocation_unit_bytes;
    let (page, (major, minor)) = (kernel.page_bytes, kernel.release);
    let mut notes = Vec::new();
    if block > page {
        if kernel.release < LARGE_BLOCKS {
            return Err(unmountable(
                target,
                format!(
                    "Linux {major}.{minor} cannot mount XFS with blocks of {}: larger than a page of {}",
                    ByteSize(block),
                    ByteSize(page)
                ),
                format!(
                    "Take {} or less; Linux 6.12 and later mount more.",
                    ByteSize(page)
                ),
            ));
        }
        notes.push(format!(
            "blocks of {} are larger than a page of {}: kernels before Linux 6.12 cannot mount it",
            ByteSize(block),
            ByteSize(page)
        ));
    }
    let mut arguments = vec!["-q".to_owned()];
    if place.overwrites || place.is_misaligned {
        arguments.push("-f".to_owned());
    }
    arguments.push("-b".to_owned());
    arguments.push(format!("size={block}"));
    if let Some(stripe) = spec.stripe {
        check_stripe(stripe, block, target)?;
        arguments.push("-d".to_owned());
        arguments.push(format!("su={},sw={}", stripe.unit_bytes, stripe.data_disks));
    } else {
        notes.push(
            "mkfs.xfs takes the stripe from the disk's own hints, where it has any".to_owned(),
        );
    }
    Ok(Recipe {
        arguments,
        stripe_bytes: spec.stripe.map(|stripe| (stripe.unit_bytes, width(stripe))),
        notes,
    })
}
