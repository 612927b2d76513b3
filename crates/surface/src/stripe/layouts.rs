//! Which layouts look the same to reads.

use super::Copies;
use serde::{Deserialize, Serialize};

/// A layout that fits what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Consistent {
    /// `0`, `10`, `5`, `4`.
    pub level: String,
    /// Drives in all, mirrors and parity included.
    pub disks: u32,
    /// How parity or copies rotate, where that matters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rotation: Option<String>,
}

impl Consistent {
    fn new(level: &str, disks: u32, rotation: Option<&str>) -> Self {
        Consistent {
            level: level.to_owned(),
            disks,
            rotation: rotation.map(str::to_owned),
        }
    }
}

/// The layouts whose units go round `columns` disks, one after the other.
pub(super) fn of_columns(columns: u32, copies: Copies) -> Vec<Consistent> {
    let mut all = Vec::new();
    if copies != Copies::Several {
        all.push(Consistent::new("0", columns, None));
        // Unit k of a left-symmetric RAID 5 lies on disk k mod n: parity goes the other
        // way round, and reads never meet it.
        if columns >= 3 {
            all.push(Consistent::new("5", columns, Some("left-symmetric")));
        }
        all.push(Consistent::new(
            "4",
            columns + 1,
            Some("parity on one disk"),
        ));
    }
    // A mirror whose controller reads one copy only looks like a single disk.
    let rotation = match copies {
        Copies::One => "mirrored pairs, of which one copy is read",
        Copies::Several | Copies::Unknown => "mirrored pairs",
    };
    all.push(Consistent::new("10", 2 * columns, Some(rotation)));
    all
}

/// The level, where all that fit agree.
pub(super) fn level(layouts: &[Consistent]) -> Option<&str> {
    let first = layouts.first()?;
    let same = layouts.iter().all(|layout| layout.level == first.level);
    same.then_some(first.level.as_str())
}

impl super::Pattern {
    /// The level, where reads tell it.
    #[must_use]
    pub fn level(&self) -> Option<&str> {
        level(&self.layouts)
    }
}
