//! Which layouts distribute their units identically, from the simulator's own mapping: the layouts
//! a probe must list. Reads show which units share a disk, but not where a row begins, so layouts
//! are identical if a shift maps one onto the other, whatever the disks are called.

use stripewise_array_sim::layout::{Layout, Level, ParityWrite, Rotation};

/// A layout with a probe's names for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub level: &'static str,
    pub disks: u32,
    pub rotation: Option<&'static str>,
}

const DISKS_MAX: u32 = 32;

/// Levels and rotations, each with a probe's name for it.
const KINDS: [(Level, Rotation, &str, Option<&str>); 11] = [
    (Level::Raid0, Rotation::LeftSymmetric, "0", None),
    (
        Level::Raid5,
        Rotation::LeftSymmetric,
        "5",
        Some("left-symmetric"),
    ),
    (
        Level::Raid5,
        Rotation::LeftAsymmetric,
        "5",
        Some("left-asymmetric"),
    ),
    (
        Level::Raid5,
        Rotation::RightSymmetric,
        "5",
        Some("right-symmetric"),
    ),
    (
        Level::Raid5,
        Rotation::RightAsymmetric,
        "5",
        Some("right-asymmetric"),
    ),
    (
        Level::Raid5,
        Rotation::ParityLast,
        "4",
        Some("parity on one disk"),
    ),
    (
        Level::Raid6,
        Rotation::LeftSymmetric,
        "6",
        Some("left-symmetric"),
    ),
    (
        Level::Raid6,
        Rotation::LeftAsymmetric,
        "6",
        Some("left-asymmetric"),
    ),
    (
        Level::Raid6,
        Rotation::RightSymmetric,
        "6",
        Some("right-symmetric"),
    ),
    (
        Level::Raid6,
        Rotation::RightAsymmetric,
        "6",
        Some("right-asymmetric"),
    ),
    (
        Level::Raid6,
        Rotation::ParityLast,
        "6",
        Some("parity on two disks"),
    ),
];

/// All layouts of up to 32 disks that reads cannot distinguish from this one, including itself.
pub fn alike(truth: &Layout) -> Vec<Named> {
    let own = UnitDistribution::of(truth);
    let mut all = Vec::new();
    for (level, rotation, name, rotation_name) in KINDS {
        for disks in (level.parities() + 2)..=DISKS_MAX {
            if UnitDistribution::of(&layout(level, rotation, disks)).is_like(&own) {
                all.push(Named {
                    level: name,
                    disks,
                    rotation: rotation_name,
                });
            }
        }
    }
    all
}

fn layout(level: Level, rotation: Rotation, disks: u32) -> Layout {
    Layout {
        level,
        disks,
        unit_bytes: 1,
        disk_bytes: 1 << 20,
        parity_page_bytes: 1,
        parity_write: ParityWrite::Cheaper,
        rotation,
        chunklet_rows: 0,
    }
}

/// The disks of a period of units, in order.
struct UnitDistribution {
    disks: Vec<u32>,
    /// Number of distinct disks.
    different: usize,
}

impl UnitDistribution {
    fn of(layout: &Layout) -> UnitDistribution {
        let disk = |unit: u64| layout.locate(unit * layout.unit_bytes).disk;
        let period = u64::from(layout.disks) * layout.data_disks();
        let disks: Vec<u32> = (0..period).map(disk).collect();
        let mut names = disks.clone();
        names.sort_unstable();
        names.dedup();
        UnitDistribution {
            disks,
            different: names.len(),
        }
    }

    fn is_like(&self, other: &UnitDistribution) -> bool {
        if self.different != other.different {
            return false;
        }
        // Agreement over a period of either implies agreement everywhere.
        let units = self.disks.len() + other.disks.len();
        let (one, two) = (self.first(units), other.first(2 * units));
        (0..other.disks.len()).any(|shift| are_alike(&one, &two[shift..shift + units]))
    }

    fn first(&self, units: usize) -> Vec<u32> {
        self.disks.iter().copied().cycle().take(units).collect()
    }
}

/// Whether the same units share a disk in both, under any naming of the disks.
fn are_alike(one: &[u32], two: &[u32]) -> bool {
    let (mut there, mut back) = ([None; 64], [None; 64]);
    one.iter().zip(two).all(|(&a, &b)| {
        let (to, from) = (&mut there[a as usize], &mut back[b as usize]);
        *to.get_or_insert(b) == b && *from.get_or_insert(a) == a
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(level: Level, rotation: Rotation, disks: u32) -> Vec<String> {
        let all = alike(&layout(level, rotation, disks));
        let name = |one: &Named| {
            let rotation = one.rotation.unwrap_or_default();
            format!("{} of {} {rotation}", one.level, one.disks)
        };
        all.iter().map(name).collect()
    }

    #[test]
    fn a_left_symmetric_raid_5_reads_like_raid_0_and_raid_4() {
        let as_striped = [
            "0 of 5 ",
            "5 of 5 left-symmetric",
            "4 of 6 parity on one disk",
            "6 of 7 parity on two disks",
        ];
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let expected = sorted(as_striped.map(str::to_owned).to_vec());
        for (level, rotation, disks) in [
            (Level::Raid0, Rotation::LeftSymmetric, 5),
            (Level::Raid5, Rotation::LeftSymmetric, 5),
            (Level::Raid5, Rotation::ParityLast, 6),
        ] {
            assert_eq!(sorted(names(level, rotation, disks)), expected);
        }
        let six = names(Level::Raid6, Rotation::LeftSymmetric, 6);
        assert!(six.contains(&"6 of 6 left-symmetric".to_owned()), "{six:?}");
        assert!(!six.iter().any(|name| name.starts_with('0')), "{six:?}");
    }
}
