//! The commands that make a layout: mdadm, `stripewise partition` and `format` on Linux,
//! diskpart and format on Windows, and settings for a controller's menu. Disk names
//! are placeholders if none are known.

use serde::{Deserialize, Serialize};
use stripewise_array_sim::ArraySpec;
use stripewise_array_sim::layout::Level;
use stripewise_results::{CommandRecord, LayoutLevels};
use stripewise_units::ByteSize;

const PAGE_BYTES: u64 = 4096;
/// Microsoft's recommendation for databases on NTFS.
const NTFS_UNIT_BYTES: u64 = 64 << 10;

/// What is known of the place that the layout is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutSite {
    /// RAID level by mdadm's name; none for a single disk.
    pub level: Option<String>,
    /// Disks.
    pub disks: u64,
    /// Data disks of one stripe.
    pub data_disks: u64,
    /// Stripe unit.
    pub stripe_unit_bytes: Option<u64>,
    /// Start of the partition.
    pub offset_bytes: u64,
    /// The disks by name, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The file system, where it is not varied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}

impl LayoutSite {
    /// For a simulated array.
    pub fn of_array(spec: &ArraySpec) -> LayoutSite {
        let (level, data_disks) = level(spec.level, spec.disks);
        let striped = !matches!(spec.level, Level::Single | Level::Linear | Level::Raid1);
        LayoutSite {
            level,
            disks: spec.disks,
            data_disks,
            stripe_unit_bytes: striped.then_some(spec.stripe_unit_bytes),
            offset_bytes: spec.offset_bytes,
            ..LayoutSite::default()
        }
    }
}

/// Why mdadm cannot make chunks of this size, if it cannot: the kernel's md supports powers of
/// two from a page upwards and, for level 0, any multiple of a page.
fn no_chunk(level: &str, unit_bytes: u64) -> Option<String> {
    let is_taken = match level {
        "0" => unit_bytes > 0 && unit_bytes.is_multiple_of(PAGE_BYTES),
        _ => unit_bytes >= PAGE_BYTES && unit_bytes.is_power_of_two(),
    };
    let larger = unit_bytes.max(PAGE_BYTES).next_power_of_two();
    let smaller = (larger / 2).max(PAGE_BYTES);
    (!is_taken).then(|| {
        format!(
            "# mdadm cannot make level {level} with chunks of {}: take {} or {}, or a controller that can",
            ByteSize(unit_bytes),
            ByteSize(smaller),
            ByteSize(larger)
        )
    })
}

/// mdadm's name of a level, and the number of data disks per stripe.
fn level(level: Level, disks: u64) -> (Option<String>, u64) {
    let (name, data) = match level {
        Level::Single => return (None, 1),
        Level::Linear => ("linear", disks),
        Level::Raid0 => ("0", disks),
        Level::Raid1 => ("1", 1),
        Level::Raid10 => ("10", disks / 2),
        Level::Raid5 => ("5", disks.saturating_sub(1)),
        Level::Raid6 => ("6", disks.saturating_sub(2)),
    };
    (Some(name.to_owned()), data.max(1))
}

/// The site with the RAID level of the layout, if that was varied.
fn with_raid(site: &LayoutSite, levels: &LayoutLevels) -> LayoutSite {
    let Some(text) = levels.get("raid") else {
        return site.clone();
    };
    let (name, disks) = text.split_once(':').unwrap_or((text, ""));
    let disks = disks.trim().parse().unwrap_or(site.disks);
    let bare = name.strip_prefix("raid").unwrap_or(name);
    let known = Level::ALL.iter().find(|(_, known)| *known == bare);
    known.map_or_else(
        || site.clone(),
        |(kind, _)| {
            let (name, data_disks) = level(*kind, disks);
            LayoutSite {
                level: name,
                disks,
                data_disks,
                ..site.clone()
            }
        },
    )
}

/// Whether it has stripe units.
fn is_striped(site: &LayoutSite) -> bool {
    let level = site.level.as_deref();
    !matches!(level, None | Some("1" | "linear"))
}

/// A layout as input for the commands.
struct LayoutInput {
    site: LayoutSite,
    unit_bytes: Option<u64>,
    offset_bytes: u64,
    allocation_unit_bytes: Option<u64>,
    file_system: String,
}

/// The commands that make the layout, in order.
pub fn commands(site: &LayoutSite, levels: &LayoutLevels) -> Vec<CommandRecord> {
    let site = with_raid(site, levels);
    let size = |factor: &str| {
        let level: Option<ByteSize> = levels.get(factor)?.parse().ok();
        level.map(ByteSize::bytes)
    };
    let allocation_unit_bytes = size("allocation-unit").filter(|unit| *unit > 0);
    // By default, one that any Linux mounts with this allocation unit.
    let usual = match allocation_unit_bytes {
        Some(unit) if unit > PAGE_BYTES => "ext4",
        _ => "xfs",
    };
    let wanted = LayoutInput {
        unit_bytes: size("stripe-unit")
            .or(site.stripe_unit_bytes)
            .filter(|_| is_striped(&site)),
        offset_bytes: size("offset").unwrap_or(site.offset_bytes),
        allocation_unit_bytes,
        file_system: levels
            .get("file-system")
            .or(site.file_system.as_ref())
            .map_or(usual, String::as_str)
            .to_owned(),
        site,
    };
    let of = |place: &'static str| {
        move |line: String| CommandRecord {
            place: place.to_owned(),
            line,
            destroys: true,
        }
    };
    let mut commands: Vec<CommandRecord> = wanted.linux().into_iter().map(of("linux")).collect();
    commands.extend(wanted.windows().into_iter().map(of("windows")));
    let menu = wanted
        .unit_bytes
        .map(|unit| format!("stripe unit (\"strip size\", per disk): {} KB", unit >> 10));
    commands.extend(menu.map(of("controller")));
    commands
}

impl LayoutInput {
    fn linux(&self) -> Vec<String> {
        let device = |number: u64| {
            let known = usize::try_from(number)
                .ok()
                .and_then(|at| self.site.devices.get(at));
            known
                .cloned()
                .unwrap_or_else(|| format!("DISK{}", number + 1))
        };
        let disk = match (&self.site.level, self.site.devices.first()) {
            (Some(_), _) => "md0".to_owned(),
            (None, Some(known)) => known.clone(),
            (None, None) => "DISK".to_owned(),
        };
        // Names that end in a digit have a letter between it and the partition's.
        let joint = match disk.ends_with(|c: char| c.is_ascii_digit()) {
            true => "p",
            false => "",
        };
        // A start at 0 is a file system on the whole disk.
        let partition = match self.offset_bytes {
            0 => disk.clone(),
            _ => format!("{disk}{joint}1"),
        };
        let mut lines = Vec::new();
        if let Some(level) = &self.site.level {
            let chunk = self
                .unit_bytes
                .map(|unit| format!(" --chunk={}K", unit >> 10));
            if let Some(cannot) = self.unit_bytes.and_then(|unit| no_chunk(level, unit)) {
                return vec![cannot];
            }
            let names = (0..self.site.disks).map(|number| format!("/dev/{}", device(number)));
            lines.push(format!(
                "mdadm --create /dev/{disk} --level={level} --raid-devices={}{} {}",
                self.site.disks,
                chunk.unwrap_or_default(),
                names.collect::<Vec<_>>().join(" ")
            ));
        }
        if self.offset_bytes > 0 {
            lines.push(format!(
                "stripewise partition /dev/{disk} --align {} --yes --destroy {disk}",
                ByteSize(self.offset_bytes)
            ));
        }
        let keeps_stripes = matches!(self.file_system.as_str(), "ext4" | "xfs");
        let stripe = match self.unit_bytes {
            Some(unit) if self.site.data_disks > 1 && keeps_stripes => format!(
                " --stripe-unit {} --stripe-disks {}",
                ByteSize(unit),
                self.site.data_disks
            ),
            _ => String::new(),
        };
        // Layouts made on devices can be made there again; any other Linux mounts blocks
        // of its page size, and ext4's clusters of any size.
        let is_known = !self.site.devices.is_empty() || self.file_system == "ext4";
        let most = if is_known { u64::MAX } else { PAGE_BYTES };
        let unit = ByteSize(self.allocation_unit_bytes.unwrap_or(PAGE_BYTES).min(most));
        lines.push(format!(
            "stripewise format /dev/{partition} --fs {} --allocation-unit {unit}{stripe} --yes --destroy {partition}",
            self.file_system
        ));
        lines
    }

    fn windows(&self) -> Vec<String> {
        let unit = self.allocation_unit_bytes.unwrap_or(NTFS_UNIT_BYTES);
        let place = match self.offset_bytes.is_multiple_of(1024) {
            true if self.offset_bytes == 0 => {
                "rem Windows has no file system on a disk without a partition".to_owned()
            }
            true => format!(
                "diskpart: select disk N, then create partition primary align={}",
                self.offset_bytes >> 10
            ),
            false => format!(
                "rem diskpart counts in KiB: it cannot start a partition at {}, only at {}K or {}K",
                ByteSize(self.offset_bytes),
                self.offset_bytes >> 10,
                self.offset_bytes.div_ceil(1024)
            ),
        };
        vec![
            place,
            format!("format X: /FS:NTFS /A:{} /Q", ntfs_unit(unit)),
        ]
    }
}

/// In the spelling of `format /A`: `4096`, `64K`.
fn ntfs_unit(bytes: u64) -> String {
    match bytes {
        0..=8192 => bytes.to_string(),
        larger => format!("{}K", larger >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(site: &LayoutSite, levels: &[(&str, &str)]) -> Vec<String> {
        let levels = levels
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let all = commands(site, &levels.collect());
        all.into_iter().map(|command| command.line).collect()
    }

    #[test]
    fn an_array_gets_its_chunk_its_partition_and_a_file_system_that_knows_it() {
        let site = LayoutSite {
            level: Some("10".to_owned()),
            disks: 4,
            data_disks: 2,
            stripe_unit_bytes: Some(64 << 10),
            offset_bytes: 32_256,
            ..LayoutSite::default()
        };
        let lines = lines(&site, &[("offset", "1M"), ("stripe-unit", "256K")]);
        assert_eq!(
            lines[0],
            "mdadm --create /dev/md0 --level=10 --raid-devices=4 --chunk=256K /dev/DISK1 /dev/DISK2 /dev/DISK3 /dev/DISK4"
        );
        assert_eq!(
            lines[1],
            "stripewise partition /dev/md0 --align 1M --yes --destroy md0"
        );
        assert_eq!(
            lines[2],
            "stripewise format /dev/md0p1 --fs xfs --allocation-unit 4K --stripe-unit 256K --stripe-disks 2 --yes --destroy md0p1"
        );
        assert!(lines[3].ends_with("align=1024"), "{}", lines[3]);
        assert_eq!(lines[4], "format X: /FS:NTFS /A:64K /Q");
        assert!(lines[5].contains("256 KB"));
    }

    #[test]
    fn a_single_disk_gets_no_array() {
        let site = LayoutSite {
            disks: 1,
            data_disks: 1,
            offset_bytes: 1 << 20,
            ..LayoutSite::default()
        };
        let lines = lines(&site, &[]);
        assert!(
            lines
                .iter()
                .all(|line| !line.contains("mdadm") && !line.contains("strip")
                    || line.contains("stripewise"))
        );
        assert!(lines[0].starts_with("stripewise partition /dev/DISK --align 1M"));
    }

    #[test]
    fn an_allocation_unit_above_a_page_gets_a_file_system_that_can_have_it() {
        let site = LayoutSite {
            disks: 1,
            data_disks: 1,
            offset_bytes: 1 << 20,
            ..LayoutSite::default()
        };
        for (unit, says) in [
            ("64K", "--fs ext4 --allocation-unit 64K"),
            ("2K", "--fs xfs --allocation-unit 2K"),
        ] {
            let lines = lines(&site, &[("allocation-unit", unit)]);
            assert!(lines[1].contains(says), "{}", lines[1]);
        }
    }

    #[test]
    fn a_level_that_was_varied_is_made_with_its_disks() {
        let lines = lines(
            &LayoutSite {
                disks: 4,
                data_disks: 2,
                ..LayoutSite::default()
            },
            &[("raid", "raid5:6")],
        );
        assert!(
            lines[0].contains("--level=5 --raid-devices=6"),
            "{}",
            lines[0]
        );
    }

    #[test]
    fn chunks_that_md_does_not_take_are_not_printed() {
        let array = |level: &str| LayoutSite {
            level: Some(level.to_owned()),
            disks: 4,
            data_disks: 2,
            offset_bytes: 1 << 20,
            ..LayoutSite::default()
        };
        for (level, unit, is_taken) in [
            ("10", "48K", false),
            ("5", "48K", false),
            ("0", "48K", true),
            ("0", "1000", false),
            ("10", "64K", true),
            ("6", "2K", false),
        ] {
            let lines = lines(&array(level), &[("stripe-unit", unit)]);
            assert_eq!(
                lines[0].starts_with("mdadm"),
                is_taken,
                "{level} {unit}: {lines:?}"
            );
        }
        let lines = lines(&array("10"), &[("stripe-unit", "48K")]);
        let cannot = "# mdadm cannot make level 10 with chunks of 48K: take 32K or 64K, or a controller that can";
        assert_eq!(lines[0], cannot);
    }

    #[test]
    fn what_a_system_cannot_do_is_said_and_not_rounded() {
        let site = LayoutSite {
            level: Some("1".to_owned()),
            disks: 2,
            data_disks: 1,
            stripe_unit_bytes: Some(512 << 10),
            offset_bytes: 32_256,
            devices: vec!["sdb".to_owned(), "nvme0n1".to_owned()],
            ..LayoutSite::default()
        };
        let all = lines(
            &site,
            &[("file-system", "ext4"), ("allocation-unit", "64K")],
        );
        assert_eq!(
            all[0],
            "mdadm --create /dev/md0 --level=1 --raid-devices=2 /dev/sdb /dev/nvme0n1"
        );
        assert!(all[2].contains("--allocation-unit 64K --yes"), "{}", all[2]);
        assert_eq!(
            all[3],
            "rem diskpart counts in KiB: it cannot start a partition at 31.5K, only at 31K or 32K"
        );
        assert!(
            !all.iter().any(|line| line.contains("strip size")),
            "{all:?}"
        );
        let single = LayoutSite {
            disks: 1,
            data_disks: 1,
            offset_bytes: 1 << 20,
            devices: vec!["nvme0n1".to_owned()],
            file_system: Some("btrfs".to_owned()),
            ..LayoutSite::default()
        };
        let all = lines(&single, &[("offset", "36K")]);
        assert!(all[0].starts_with("stripewise partition /dev/nvme0n1 --align 36K"));
        assert!(all[1].starts_with("stripewise format /dev/nvme0n1p1 --fs btrfs"));
        assert!(!all[1].contains("stripe-unit"), "{}", all[1]);
        assert!(all[2].ends_with("align=36"), "{}", all[2]);
    }
}
