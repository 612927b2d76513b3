//! btrfs: its allocation unit is the sector size. A kernel mounts those listed in
//! `/sys/fs/btrfs/features/supported_sectorsizes`; without that file, only its page size. It has no
//! stripe settings.

use super::{DeviceShape, FormatOptions, Kernel, Recipe, check_range, no_stripe, unmountable};
use crate::Result;
use stripewise_units::ByteSize;

pub fn recipe(
    spec: &FormatOptions,
    place: &DeviceShape,
    kernel: &Kernel,
    target: &str,
) -> Result<Recipe> {
    check_range(spec, 4 << 10, 64 << 10, target)?;
    no_stripe(spec, target)?;
    let sector = spec.allocation_unit_bytes;
    let known = match kernel.btrfs_sectors.as_slice() {
        [] => &[kernel.page_bytes][..],
        listed => listed,
    };
    if !known.contains(&sector) {
        let sizes: Vec<String> = known
            .iter()
            .map(|bytes| ByteSize(*bytes).to_string())
            .collect();
        return Err(unmountable(
            target,
            format!(
                "this kernel cannot mount btrfs with an allocation unit (sector size) of {}",
                ByteSize(sector)
            ),
            format!("It mounts {}.", sizes.join(", ")),
        ));
    }
    let mut arguments = vec!["-q".to_owned()];
    if place.overwrites {
        arguments.push("-f".to_owned());
    }
    arguments.push("-s".to_owned());
    arguments.push(sector.to_string());
    Ok(Recipe {
        arguments,
        stripe_bytes: None,
        notes: Vec::new(),
    })
}
