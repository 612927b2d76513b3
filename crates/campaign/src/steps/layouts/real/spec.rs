//! Specifications of layouts on real devices, from the levels of their factors; which are
//! impossible, and the largest test file that fits all of them.

use crate::steps::layouts::divided::Slots;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::{
    FileSystemKind, FormatOptions, Identity, RaidLevel, Stripe, can_format,
};
use stripewise_results::LayoutLevels;
use stripewise_units::{ByteSize, format_bytes, nearest};
use stripewise_workload::WorkloadOptions;

/// Factors that are made.
pub const MADE: [&str; 5] = [
    "raid",
    "stripe-unit",
    "offset",
    "file-system",
    "allocation-unit",
];
/// Options of workloads that cannot be factors: levels must not differ by chance or length.
const NO_FACTORS: [&str; 4] = ["seed", "duration", "ramp", "size"];
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// mdadm's default chunk.
const STRIPE_UNIT_DEFAULT: u64 = 512 << 10;
const ALLOCATION_UNIT_DEFAULT: u64 = 4 << 10;
/// Minimum size of mkfs.xfs.
const XFS_BYTES_MIN: u64 = 300 * MIB;
/// Journal, log and tables of a file system, in addition to a share of its size.
const METADATA_BYTES: u64 = 80 * MIB;
const METADATA_SHARE: u64 = 33;
/// A GPT at the end of the partitioned device, rounded up.
const TABLE_BYTES: u64 = MIB;
/// Maximum default size of test files.
const SIZE_DEFAULT_MAX: u64 = 16 * GIB;
/// 1 / this of any file system stays free (the rule of test files).
const FREE_SHARE: u64 = 10;
const FREE_BYTES: u64 = 2 * GIB;

/// A layout to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutSpec {
    /// The level; `None` for a single device.
    pub raid: Option<RaidLevel>,
    /// Number of devices that it uses, from the first on.
    pub devices: usize,
    /// Bytes on one device before the next one is used.
    pub stripe_unit_bytes: Option<u64>,
    /// First byte of the partition.
    pub offset_bytes: u64,
    /// The file system to make.
    pub file_system: FileSystemKind,
    /// Its allocation unit.
    pub allocation_unit_bytes: u64,
    /// Options of workloads with their values.
    pub options: Vec<(String, String)>,
}

/// Whether an option of workloads can be a factor.
pub fn is_option(name: &str) -> bool {
    WorkloadOptions::NAMES.contains(&name) && !NO_FACTORS.contains(&name)
}

/// Checks that `name` is a factor that can be applied to real devices.
///
/// # Errors
/// If it is not; the hint names the closest match.
pub fn check_factor(name: &str) -> Outcome<()> {
    if MADE.contains(&name) || is_option(name) {
        return Ok(());
    }
    let mut known: Vec<&str> = MADE.to_vec();
    known.extend(WorkloadOptions::NAMES.iter().filter(|name| is_option(name)));
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "give one of {}, or an option of a workload",
            MADE.join(", ")
        ),
    };
    Err(Failure::usage(
        format!("`{name}` is not a factor on real devices"),
        hint,
    ))
}

/// The default level for this many devices.
fn raid_default(devices: usize) -> Option<RaidLevel> {
    match devices {
        0 | 1 => None,
        2 => Some(RaidLevel::Raid1),
        many if many.is_multiple_of(2) => Some(RaidLevel::Raid10),
        _ => Some(RaidLevel::Raid5),
    }
}

impl LayoutSpec {
    /// The layout for these levels. Unspecified factors take the system's defaults.
    ///
    /// # Errors
    /// If a level is invalid regardless of the others.
    pub fn of(levels: &LayoutLevels, devices: &[Identity]) -> Outcome<LayoutSpec> {
        let (raid, count) = match levels.get("raid") {
            Some(text) => raid_of(text, devices.len())?,
            None => (raid_default(devices.len()), devices.len()),
        };
        let size = |factor: &str| -> Outcome<Option<u64>> {
            let Some(text) = levels.get(factor) else {
                return Ok(None);
            };
            let size: ByteSize = text
                .parse()
                .map_err(|error: stripewise_units::ParseError| {
                    Failure::usage(format!("{factor} {text}: {error}"), error.hint())
                })?;
            Ok(Some(size.bytes()))
        };
        let striped = raid.is_some_and(RaidLevel::is_striped);
        let mut options = Vec::new();
        for (factor, level) in levels {
            check_factor(factor)?;
            if MADE.contains(&factor.as_str()) {
                continue;
            }
            let set = WorkloadOptions::default().set(factor, level);
            set.map_err(|error| {
                Failure::usage(format!("factor {factor}: {error}"), error.hint().to_owned())
            })?;
            options.push((factor.clone(), level.clone()));
        }
        let unit = size("stripe-unit")?;
        Ok(LayoutSpec {
            raid,
            devices: count,
            stripe_unit_bytes: unit.or(striped.then_some(STRIPE_UNIT_DEFAULT)),
            offset_bytes: size("offset")?.unwrap_or(MIB),
            file_system: file_system_of(levels.get("file-system").map(String::as_str))?,
            allocation_unit_bytes: size("allocation-unit")?.unwrap_or(ALLOCATION_UNIT_DEFAULT),
            options,
        })
    }

    /// Why it cannot exist on these devices, if it cannot.
    pub fn cannot(&self, devices: &[Identity]) -> Option<String> {
        let used = devices.get(..self.devices);
        let Some(used) = used.filter(|used| !used.is_empty()) else {
            return Some(format!(
                "it takes {} devices, and {} are named",
                self.devices,
                devices.len()
            ));
        };
        let striped = self.raid.is_some_and(RaidLevel::is_striped);
        if !striped && self.stripe_unit_bytes.is_some() {
            return Some("nothing is striped: there is no stripe unit to set".to_owned());
        }
        if let Some(level) = self.raid
            && let Some(why) = level.cannot(used.len(), self.stripe_unit_bytes)
        {
            return Some(why);
        }
        let sector = sector_of(used);
        if self.offset_bytes == 0 || !self.offset_bytes.is_multiple_of(u64::from(sector)) {
            return Some(format!(
                "sectors of {sector} bytes do not allow this offset"
            ));
        }
        let table_bytes = u64::from(sector) * 2 + (16 << 10);
        if self.offset_bytes < table_bytes {
            return Some(format!(
                "a partition table of {} is there",
                ByteSize(table_bytes)
            ));
        }
        can_format(&self.format(), sector)
            .err()
            .map(|error| error.what)
    }

    /// Options of its file system.
    pub fn format(&self) -> FormatOptions {
        let keeps = self.file_system.keeps_stripes();
        let stripe = |(level, unit): (RaidLevel, u64)| Stripe {
            unit_bytes: unit,
            data_disks: level.data_disks(self.devices),
        };
        FormatOptions {
            file_system: self.file_system,
            allocation_unit_bytes: self.allocation_unit_bytes,
            stripe: self
                .raid
                .zip(self.stripe_unit_bytes)
                .filter(|_| keeps)
                .map(stripe),
        }
    }

    /// Maximum bytes of a test file, on devices of these sizes.
    pub fn room_bytes(&self, sizes: &[u64]) -> u64 {
        let used = &sizes[..self.devices.min(sizes.len())];
        let whole = match self.raid {
            Some(level) => level.capacity_bytes(used, self.stripe_unit_bytes),
            None => used.first().copied().unwrap_or(0),
        };
        let partition = whole.saturating_sub(self.offset_bytes + TABLE_BYTES);
        if self.file_system == FileSystemKind::Xfs && partition < XFS_BYTES_MIN {
            return 0;
        }
        let metadata = METADATA_BYTES + partition / METADATA_SHARE;
        let free = (partition / FREE_SHARE).max(FREE_BYTES.min(partition / 4));
        partition.saturating_sub(metadata + free) / MIB * MIB
    }

    /// Required bytes per device for a test file of this size.
    pub fn device_bytes_for(&self, size_bytes: u64) -> u64 {
        let (mut below, mut above) = (0, size_bytes.saturating_mul(4).max(GIB));
        while above - below > MIB {
            let middle = below + (above - below) / 2;
            match self.room_bytes(&vec![middle; self.devices]) >= size_bytes {
                true => above = middle,
                false => below = middle,
            }
        }
        above.next_multiple_of(MIB)
    }
}

/// The largest logical sector of these devices.
pub fn sector_of(devices: &[Identity]) -> u32 {
    let sectors = devices.iter().map(|device| device.logical_sector_bytes);
    sectors.max().unwrap_or(512)
}

/// `raid10`, `10`, `raid5:6`, `single`.
fn raid_of(text: &str, all: usize) -> Outcome<(Option<RaidLevel>, usize)> {
    let (name, count) = match text.split_once(':') {
        Some((name, count)) => (name.trim(), Some(count.trim())),
        None => (text.trim(), None),
    };
    let count = count.map(|count| {
        count
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| {
                Failure::usage(
                    format!("`{text}` has no number of devices"),
                    "write a level with its devices: raid10:4",
                )
            })
    });
    if name == "single" {
        return Ok((None, count.transpose()?.unwrap_or(1)));
    }
    let level = name.parse().map_err(|()| {
        Failure::usage(
            format!("`{text}` is not a RAID level that can be made"),
            "give one of single, raid0, raid1, raid10, raid5, raid6; with its devices: raid10:4",
        )
    })?;
    Ok((Some(level), count.transpose()?.unwrap_or(all)))
}

fn file_system_of(text: Option<&str>) -> Outcome<FileSystemKind> {
    let text = text.unwrap_or("ext4");
    FileSystemKind::from_name(text).ok_or_else(|| {
        Failure::usage(
            format!("`{text}` is not a file system that can be made"),
            "give one of ext4, xfs, btrfs, ntfs",
        )
    })
}

/// The size of the test file on all layouts: the requested one, or what fits the smallest,
/// up to 16 GiB.
///
/// # Errors
/// If it does not fit one of them, with the size that devices must have.
pub fn size_for(
    layouts: &[(String, LayoutSpec)],
    devices: &[Identity],
    asked_bytes: Option<u64>,
    slots: Option<Slots>,
) -> Outcome<u64> {
    let part = |device: &Identity| slots.map_or(device.size_bytes, |slots| slots.slot_bytes);
    let sizes: Vec<u64> = devices.iter().map(part).collect();
    let room = |layout: &(String, LayoutSpec)| layout.1.room_bytes(&sizes);
    let Some(tightest) = layouts.iter().min_by_key(|layout| room(layout)) else {
        return Ok(0);
    };
    // Too little to characterise a disk.
    const LEAST: u64 = 16 * MIB;
    let room_bytes = room(tightest);
    let wanted = asked_bytes.unwrap_or_else(|| room_bytes.clamp(LEAST, SIZE_DEFAULT_MAX));
    if wanted <= room_bytes {
        return Ok(wanted);
    }
    let needed = tightest.1.device_bytes_for(wanted);
    let (needed, side_by_side) = match slots {
        Some(slots) => (slots.device_bytes_for(needed), " in a slot"),
        None => (needed, ""),
    };
    let smallest = devices
        .iter()
        .take(tightest.1.devices)
        .min_by_key(|device| device.size_bytes)
        .map_or("the device", |device| device.name.as_str());
    Err(Failure::usage(
        format!(
            "{smallest} is too small: a test file of {} on the layout {}{side_by_side} needs devices of {}",
            format_bytes(wanted),
            tightest.0,
            format_bytes(needed)
        ),
        match (room_bytes, slots) {
            (0, None) => "name larger devices".to_owned(),
            (0, Some(_)) => "name larger devices, or fewer levels, or leave --slots out".to_owned(),
            _ => format!(
                "name larger devices, or a test file of {} or less: size = \"{}\"",
                format_bytes(room_bytes),
                ByteSize(room_bytes)
            ),
        },
    ))
}

/// Two levels of a factor that give the same layout, if any: neither makes a
/// difference.
///
/// # Errors
/// If a level is not valid by itself.
pub fn alike<'a>(
    fixed: &LayoutLevels,
    factor: &'a stripewise_lab::layouts::Factor,
    devices: &[Identity],
) -> Outcome<Option<(&'a str, &'a str)>> {
    let mut seen: Vec<(LayoutSpec, &str)> = Vec::new();
    for level in &factor.levels {
        let mut levels = fixed.clone();
        levels.insert(factor.name.clone(), level.clone());
        let spec = LayoutSpec::of(&levels, devices)?;
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == spec) {
            return Ok(Some((other, level)));
        }
        seen.push((spec, level));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(count: usize, size_bytes: u64) -> Vec<Identity> {
        let device = |index: usize| Identity {
            name: format!("sd{}", (b'b' + index as u8) as char),
            size_bytes,
            logical_sector_bytes: 512,
            ..Identity::default()
        };
        (0..count).map(device).collect()
    }

    fn spec(pairs: &[(&str, &str)], count: usize) -> LayoutSpec {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        LayoutSpec::of(&pairs.iter().map(owned).collect(), &devices(count, 4 * GIB)).unwrap()
    }

    #[test]
    fn what_is_not_said_is_what_systems_do_unasked() {
        let four = spec(&[], 4);
        assert_eq!(four.raid, Some(RaidLevel::Raid10));
        assert_eq!(four.stripe_unit_bytes, Some(512 << 10));
        assert_eq!(four.offset_bytes, MIB);
        assert_eq!(spec(&[], 1).raid, None);
        assert_eq!(spec(&[], 2).raid, Some(RaidLevel::Raid1));
        assert_eq!(spec(&[], 3).raid, Some(RaidLevel::Raid5));
        let five = spec(
            &[("raid", "raid5:3"), ("offset", "63s"), ("threads", "4")],
            4,
        );
        assert_eq!((five.raid, five.devices), (Some(RaidLevel::Raid5), 3));
        assert_eq!(five.offset_bytes, 32_256);
        assert_eq!(five.options, [("threads".to_owned(), "4".to_owned())]);
        assert_eq!(spec(&[("raid", "single")], 4).devices, 1);
    }

    #[test]
    fn combinations_that_cannot_exist_say_why() {
        let four = devices(4, 4 * GIB);
        for (pairs, why) in [
            (
                &[("raid", "single"), ("stripe-unit", "64K")][..],
                "nothing is striped",
            ),
            (
                &[("raid", "raid1"), ("stripe-unit", "64K")],
                "nothing is striped",
            ),
            (&[("raid", "raid5:5")], "takes 5 devices"),
            (&[("raid", "raid10:3")], "4 devices or more"),
            (&[("stripe-unit", "48K")], "power of two"),
            (&[("offset", "100")], "sector"),
            (&[("offset", "8K")], "partition table"),
            (&[("allocation-unit", "3K")], "power of two"),
        ] {
            let reason = spec(pairs, 4).cannot(&four).unwrap_or_default();
            assert!(reason.contains(why), "{pairs:?}: {reason}");
        }
    }

    #[test]
    fn factors_and_levels_that_are_unknown_are_refused_with_the_nearest() {
        let hint = |failure: Failure| format!("{:?}", failure.hint);
        assert!(hint(check_factor("strip-unit").unwrap_err()).contains("stripe-unit"));
        for (factor, level) in [
            ("raid", "raid7"),
            ("raid", "raid5:x"),
            ("file-system", "fat"),
            ("offset", "many"),
            ("duration", "5s"),
        ] {
            let levels = LayoutLevels::from([(factor.to_owned(), level.to_owned())]);
            let found = LayoutSpec::of(&levels, &devices(4, GIB));
            assert!(found.is_err(), "{factor} {level}");
        }
    }

    #[test]
    fn devices_that_are_too_small_are_told_the_size_that_is_needed() {
        let layouts = [("raid raid10".to_owned(), spec(&[("raid", "raid10")], 4))];
        let needed = layouts[0].1.device_bytes_for(10 * GIB);
        let fits =
            |bytes: u64| size_for(&layouts, &devices(4, bytes), Some(10 * GIB), None).is_ok();
        assert!(fits(needed) && !fits(needed - 2 * MIB));
        let failure = size_for(&layouts, &devices(4, GIB), Some(10 * GIB), None).unwrap_err();
        let reason = failure.error.to_string();
        assert!(reason.contains(&format_bytes(needed)), "{reason}");
        assert_eq!(
            size_for(&layouts, &devices(4, 1 << 42), None, None).ok(),
            Some(16 * GIB)
        );
        let hint = failure.hint.as_deref().unwrap_or_default();
        assert!(hint.contains("or a test file of"), "{hint}");
        // Nothing fits at all: the hint suggests no file size.
        let failure = size_for(&layouts, &devices(4, 40 * MIB), None, None).unwrap_err();
        assert_eq!(failure.hint.as_deref(), Some("name larger devices"));
        let xfs = [("xfs".to_owned(), spec(&[("file-system", "xfs")], 1))];
        assert!(size_for(&xfs, &devices(1, 290 * MIB), None, None).is_err());
        assert!(size_for(&xfs, &devices(1, 600 * MIB), None, None).is_ok());
    }

    #[test]
    fn levels_that_make_the_same_layout_are_found() {
        let factor = |name: &str, levels: &[&str]| stripewise_lab::layouts::Factor {
            name: name.to_owned(),
            levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        };
        let alike = |name: &str, levels: &[&str]| {
            let factor = factor(name, levels);
            let found = alike(&LayoutLevels::new(), &factor, &devices(4, GIB)).unwrap();
            found.map(|(a, b)| format!("{a} {b}"))
        };
        assert_eq!(
            alike("offset", &["63s", "1M", "31.5K"]),
            Some("63s 31.5K".to_owned())
        );
        assert_eq!(
            alike("raid", &["raid10", "raid10:4"]),
            Some("raid10 raid10:4".to_owned())
        );
        assert_eq!(alike("stripe-unit", &["64K", "256K"]), None);
    }
}
