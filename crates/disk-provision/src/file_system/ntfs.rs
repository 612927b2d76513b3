//! NTFS: clusters from a sector to 2 MiB, with a quick format (only the structures are zeroed). The
//! start of the partition is stored in it for the boot loader. It is made for Windows, so whether
//! this kernel mounts it does not matter.

use super::{DeviceShape, FormatOptions, Recipe, check_range, no_stripe};
use crate::Result;
use stripewise_units::ByteSize;

/// Limit of Windows before Windows 10 version 1709 and Server 2019.
const CLUSTER_BYTES_OLD: u64 = 64 << 10;
/// Larger clusters cannot be compressed.
const CLUSTER_BYTES_COMPRESSED: u64 = 4 << 10;

pub fn recipe(spec: &FormatOptions, place: &DeviceShape, target: &str) -> Result<Recipe> {
    check_range(spec, 512, 2 << 20, target)?;
    no_stripe(spec, target)?;
    let cluster = spec.allocation_unit_bytes;
    let sector = place.geometry.sector();
    let mut arguments: Vec<String> = ["--quick", "--cluster-size"].map(str::to_owned).to_vec();
    arguments.push(cluster.to_string());
    arguments.push("--sector-size".to_owned());
    arguments.push(sector.to_string());
    // The field has 32 bits, and is only read when Windows boots from there.
    let start = u32::try_from(place.start_bytes / sector).unwrap_or(0);
    for (option, value) in [
        ("--partition-start", start),
        ("--heads", 255),
        ("--sectors-per-track", 63),
    ] {
        arguments.push(option.to_owned());
        arguments.push(value.to_string());
    }
    let mut notes = Vec::new();
    if place.overwrites {
        notes.push(
            "mkntfs leaves the marks of other file systems in place: they are zeroed first, a few \
             bytes each"
                .to_owned(),
        );
    }
    if cluster > CLUSTER_BYTES_OLD {
        notes.push(format!(
            "Windows before Windows 10 1709 and Server 2019 cannot mount clusters of {}",
            ByteSize(cluster)
        ));
    }
    if cluster > CLUSTER_BYTES_COMPRESSED {
        notes.push("Windows does not compress files on clusters above 4K".to_owned());
    }
    Ok(Recipe {
        arguments,
        stripe_bytes: None,
        notes,
    })
}
