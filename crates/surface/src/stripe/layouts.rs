//! Which layouts are indistinguishable by reads.

use super::Copies;
use serde::{Deserialize, Serialize};

/// A layout consistent with the observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Consistent {
    /// `0`, `10`, `5`, `4`, `6`; `flash` for one drive that distributes pages over channels.
    pub level: String,
    /// Total drives, including mirrors and parity; channels of flash.
    pub disks: u32,
    /// Rotation of parity or copies, if relevant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rotation: Option<String>,
}

impl Consistent {
    /// Pages on the channels of one drive.
    pub(super) fn flash(channels: u32) -> Self {
        Consistent::new("flash", channels, None)
    }

    fn new(level: &str, disks: u32, rotation: Option<&str>) -> Self {
        Consistent {
            level: level.to_owned(),
            disks,
            rotation: rotation.map(str::to_owned),
        }
    }
}

/// Fewest disks of layouts whose parity displaces the data.
const DISKS_MIN: u32 = 3;
pub(super) const DISKS_MAX: u32 = 32;

/// Most units in a period of a layout with non-left-symmetric parity.
pub(super) const UNITS_MAX: u64 = 256;

/// A distribution of units in which a disk has several in a period.
#[derive(Clone, Debug)]
pub(super) struct UnitDistribution {
    pub layout: Consistent,
    /// The disk of each unit of a period.
    order: Vec<u32>,
}

/// Data units per row, and the disk of one, by row and column, for a number of disks.
type Rule = (&'static str, u32, &'static str, fn(u32, u32, u32) -> u32);

/// The rotations of Linux md, RAID 5 and 6, that do not read like RAID 0.
const RULES: [Rule; 7] = [
    ("5", 1, "left-asymmetric", |n, row, column| {
        skip(n - 1 - row % n, 1, column)
    }),
    ("5", 1, "right-asymmetric", |n, row, column| {
        skip(row % n, 1, column)
    }),
    ("5", 1, "right-symmetric", |n, row, column| {
        (row % n + 1 + column) % n
    }),
    ("6", 2, "left-symmetric", |n, row, column| {
        (n - 1 - row % n + 2 + column) % n
    }),
    ("6", 2, "right-symmetric", |n, row, column| {
        (row % n + 2 + column) % n
    }),
    ("6", 2, "left-asymmetric", |n, row, column| {
        skip_two(n, n - 1 - row % n, column)
    }),
    ("6", 2, "right-asymmetric", |n, row, column| {
        skip_two(n, row % n, column)
    }),
];

/// The disk of a column if parity occupies some disks from `parity` on.
fn skip(parity: u32, parities: u32, column: u32) -> u32 {
    match column < parity {
        true => column,
        false => column + parities,
    }
}

/// The same if Q follows P: on the first disk if P is on the last.
fn skip_two(disks: u32, parity: u32, column: u32) -> u32 {
    match parity == disks - 1 {
        true => column + 1,
        false => skip(parity, 2, column),
    }
}

impl UnitDistribution {
    /// All distributions with this many units in a period.
    fn of_units(units: u64) -> Vec<UnitDistribution> {
        let all = (DISKS_MIN..=DISKS_MAX).flat_map(UnitDistribution::of_disks);
        all.filter(|distribution| distribution.units() as u64 == units)
            .collect()
    }

    /// All distributions over this many disks.
    pub fn of_disks(disks: u32) -> Vec<UnitDistribution> {
        let distribution = |(level, parities, rotation, rule): Rule| {
            let columns = disks
                .checked_sub(parities)
                .filter(|columns| *columns >= 2)?;
            let order: Vec<u32> = (0..disks)
                .flat_map(|row| (0..columns).map(move |column| rule(disks, row, column)))
                .collect();
            // Its shortest period.
            let repeats = |period: &usize| {
                order.len().is_multiple_of(*period)
                    && (*period..order.len()).all(|k| order[k] == order[k - period])
            };
            let period = (1..=order.len()).find(repeats).unwrap_or(order.len());
            Some(UnitDistribution {
                layout: Consistent::new(level, disks, Some(rotation)),
                order: order[..period].to_vec(),
            })
        };
        RULES.into_iter().filter_map(distribution).collect()
    }

    /// Units in a period.
    pub fn units(&self) -> usize {
        self.order.len()
    }

    /// The disk of a unit.
    pub fn disk(&self, unit: usize) -> u32 {
        self.order[unit % self.order.len()]
    }

    /// Whether two units share a disk.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.disk(a) == self.disk(b)
    }

    fn shown_from(&self, first: usize, shares: &[bool]) -> bool {
        let same = |(k, share): (usize, &bool)| self.share(first, first + k) == *share;
        shares.iter().enumerate().all(same)
    }
}

/// The distributions that fit: `shares` is, for each unit of a period, whether it shares the first
/// one's disk. For each, the indices that this first unit may have in it.
pub(super) fn fitting(shares: &[bool]) -> Vec<(UnitDistribution, Vec<usize>)> {
    UnitDistribution::of_units(shares.len() as u64)
        .into_iter()
        .filter_map(|distribution| {
            let first = (0..distribution.order.len())
                .filter(|first| distribution.shown_from(*first, shares));
            let first: Vec<usize> = first.collect();
            (!first.is_empty()).then_some((distribution, first))
        })
        .collect()
}

/// The layouts whose units go round-robin over `columns` disks.
pub(super) fn of_columns(columns: u32, copies: Copies) -> Vec<Consistent> {
    let mut all = Vec::new();
    if copies != Copies::Several {
        all.push(Consistent::new("0", columns, None));
        // Unit k of a left-symmetric RAID 5 is on disk k mod n: parity rotates the opposite way,
        // and is never read.
        if columns >= 3 {
            all.push(Consistent::new("5", columns, Some("left-symmetric")));
        }
        // On as many disks the last unit of a row and the first of the next share one.
        let level = match columns {
            3 => Some("5"),
            4 => Some("6"),
            _ => None,
        };
        if let Some(level) = level {
            let rotation = "right-symmetric, in units of half the size";
            all.push(Consistent::new(level, columns, Some(rotation)));
        }
        for (level, parities, rotation) in [
            ("4", 1, "parity on one disk"),
            ("6", 2, "parity on two disks"),
        ] {
            let disks = columns + parities;
            all.push(Consistent::new(level, disks, Some(rotation)));
        }
    }
    // A mirror whose controller reads only one copy looks like a single disk.
    let rotation = match copies {
        Copies::One => "mirrored pairs, of which one copy is read",
        Copies::Several | Copies::Unknown => "mirrored pairs",
    };
    all.push(Consistent::new("10", 2 * columns, Some(rotation)));
    // Linux md reads those at the beginning of each disk.
    if copies != Copies::Several {
        let rotation = "far copies, of which the near one is read";
        all.push(Consistent::new("10", columns, Some(rotation)));
    }
    all
}

/// The level, if all that fit agree.
pub(super) fn level(layouts: &[Consistent]) -> Option<&str> {
    let first = layouts.first()?;
    let same = layouts.iter().all(|layout| layout.level == first.level);
    same.then_some(first.level.as_str())
}

impl super::Pattern {
    /// The level, if reads determine it.
    pub fn level(&self) -> Option<&str> {
        level(&self.layouts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(shares: &[bool]) -> Vec<String> {
        let all = fitting(shares)
            .into_iter()
            .map(|(distribution, _)| distribution.layout);
        all.map(|one| {
            format!(
                "{} of {} {}",
                one.level,
                one.disks,
                one.rotation.unwrap_or_default()
            )
        })
        .collect()
    }

    #[test]
    fn six_disks_of_level_6_repeat_after_24_units_and_of_left_asymmetric_level_5_after_30() {
        for (units, name) in [
            (24, "6 of 6 left-symmetric"),
            (30, "5 of 6 left-asymmetric"),
        ] {
            let all = UnitDistribution::of_units(units);
            let name_of = |distribution: &UnitDistribution| {
                let rotation = distribution.layout.rotation.clone().unwrap_or_default();
                format!(
                    "{} of {} {rotation}",
                    distribution.layout.level, distribution.layout.disks
                )
            };
            let one = all
                .iter()
                .find(|distribution| name_of(distribution) == name)
                .unwrap();
            let shares: Vec<bool> = (0..units as usize).map(|k| one.share(7, 7 + k)).collect();
            assert!(names(&shares).contains(&name.to_owned()));
        }
        assert!(names(&[true, false, true, true, false]).is_empty());
    }
}
