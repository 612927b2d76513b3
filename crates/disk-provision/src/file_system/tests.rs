//! Recipes: command lines, ranges, and what a kernel cannot mount.

use super::*;
use FileSystemKind::{Btrfs, Ext4, Ntfs, Xfs};

const OLD: (u32, u32) = (6, 6);
const NEW: (u32, u32) = (6, 18);

fn kernel(page_bytes: u64, release: (u32, u32)) -> Kernel {
    Kernel {
        page_bytes,
        release,
        btrfs_sectors: Vec::new(),
    }
}

fn place(sector: u32) -> DeviceShape {
    DeviceShape {
        geometry: Geometry {
            size_bytes: 1 << 30,
            logical_sector_bytes: sector,
            physical_sector_bytes: 4096,
        },
        start_bytes: 1 << 20,
        overwrites: false,
        is_misaligned: false,
    }
}

fn spec(file_system: FileSystemKind, unit: &str, stripe: Option<(u64, u32)>) -> FormatOptions {
    FormatOptions {
        file_system,
        allocation_unit_bytes: unit.parse::<ByteSize>().unwrap().bytes(),
        stripe: stripe.map(|(unit_bytes, data_disks)| Stripe {
            unit_bytes,
            data_disks,
        }),
    }
}

fn line(spec: &FormatOptions, place: &DeviceShape, kernel: &Kernel) -> String {
    recipe(spec, place, kernel, "sdz1")
        .unwrap()
        .arguments
        .join(" ")
}

#[test]
fn the_commands_are_those_of_the_manuals() {
    let page = kernel(4096, NEW);
    let stripe = Some((64 << 10, 4));
    for (spec, want) in [
        (spec(Ext4, "4K", None), "-q -b 4096"),
        (spec(Ext4, "1K", None), "-q -b 1024"),
        (spec(Ext4, "64K", None), "-q -b 4096 -O bigalloc -C 65536"),
        (
            spec(Ext4, "4K", stripe),
            "-q -b 4096 -E stride=16,stripe_width=64",
        ),
        (
            spec(Ext4, "64K", stripe),
            "-q -b 4096 -O bigalloc -C 65536 -E stride=16,stripe_width=64",
        ),
        (spec(Xfs, "4K", stripe), "-q -b size=4096 -d su=65536,sw=4"),
        (spec(Xfs, "64K", None), "-q -b size=65536"),
        (spec(Btrfs, "4K", None), "-q -s 4096"),
        (
            spec(Ntfs, "64K", None),
            "--quick --cluster-size 65536 --sector-size 512 --partition-start 2048 --heads 255 \
             --sectors-per-track 63",
        ),
    ] {
        assert_eq!(line(&spec, &place(512), &page), want);
    }
    // A page of 64 KiB holds a block of 64 KiB.
    assert_eq!(
        line(&spec(Ext4, "64K", None), &place(512), &kernel(65_536, OLD)),
        "-q -b 65536"
    );
}

#[test]
fn force_is_used_only_where_something_would_be_overwritten() {
    let page = kernel(4096, NEW);
    let full = DeviceShape {
        overwrites: true,
        is_misaligned: false,
        ..place(512)
    };
    for (kind, forced) in [(Ext4, false), (Xfs, true), (Btrfs, true), (Ntfs, false)] {
        let spec = spec(kind, "4K", None);
        let has_force = |place: &DeviceShape| {
            let line = line(&spec, place, &page);
            line.split(' ')
                .any(|word| word == "-f" || word == "-F" || word == "--force")
        };
        assert!(!has_force(&place(512)), "{kind:?}");
        assert_eq!(has_force(&full), forced, "{kind:?}");
    }
}

#[test]
fn sizes_that_this_kernel_cannot_mount_are_refused_with_what_it_can() {
    for (spec, kernel, hint) in [
        (spec(Xfs, "8K", None), kernel(4096, OLD), "Take 4K or less"),
        (spec(Btrfs, "8K", None), kernel(4096, NEW), "It mounts 4K."),
        (
            spec(Btrfs, "4K", None),
            kernel(65_536, OLD),
            "It mounts 64K.",
        ),
    ] {
        let error = recipe(&spec, &place(512), &kernel, "sdz1").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unusable);
        assert!(error.hint.contains(hint), "{}", error.hint);
    }
    // The kernel's own word counts.
    let reporting_kernel = Kernel {
        btrfs_sectors: vec![4096, 65_536],
        ..kernel(65_536, NEW)
    };
    assert!(
        recipe(
            &spec(Btrfs, "4K", None),
            &place(512),
            &reporting_kernel,
            "sdz1"
        )
        .is_ok()
    );
    assert!(
        recipe(
            &spec(Xfs, "8K", None),
            &place(512),
            &kernel(16_384, OLD),
            "sdz1"
        )
        .is_ok()
    );
}

#[test]
fn what_no_kernel_has_is_a_mistake_in_the_command() {
    let page = kernel(4096, NEW);
    for (spec, sector, hint) in [
        (spec(Ext4, "512", None), 512, "from 1K to 256M"),
        (spec(Ext4, "3K", None), 512, "powers of two"),
        (spec(Xfs, "128K", None), 512, "from 1K to 64K"),
        (spec(Btrfs, "2K", None), 512, "from 4K to 64K"),
        (spec(Ntfs, "4M", None), 512, "from 512 to 2M"),
        (spec(Ext4, "1K", None), 4096, "at least a sector"),
        (
            spec(Ntfs, "4K", Some((65_536, 2))),
            512,
            "Leave --stripe-unit",
        ),
        (
            spec(Btrfs, "4K", Some((65_536, 2))),
            512,
            "Leave --stripe-unit",
        ),
        (
            spec(Ext4, "4K", Some((6_144, 2))),
            512,
            "smaller allocation unit",
        ),
        (
            spec(Xfs, "64K", Some((16_384, 2))),
            512,
            "smaller allocation unit",
        ),
        (spec(Xfs, "4K", Some((0, 2))), 512, "--stripe-disks"),
        (spec(Xfs, "4K", Some((65_536, 0))), 512, "--stripe-disks"),
        (spec(Ext4, "0", None), 512, "powers of two"),
    ] {
        let error = recipe(&spec, &place(sector), &page, "sdz1").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
        assert!(error.hint.contains(hint), "{error}: {}", error.hint);
    }
}

#[test]
fn xfs_is_made_where_the_plan_calls_the_place_misaligned() {
    let made = |is_misaligned: bool| {
        let place = DeviceShape {
            is_misaligned,
            ..place(512)
        };
        let spec = spec(Xfs, "4K", Some((16 << 10, 2)));
        recipe(&spec, &place, &kernel(4096, NEW), "sda1")
            .expect("a recipe")
            .arguments
    };
    assert!(made(true).contains(&"-f".to_owned()));
    assert!(!made(false).contains(&"-f".to_owned()));
}
