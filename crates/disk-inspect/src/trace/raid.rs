//! How stripe units are distributed over the members of an array, as in Linux: `raid0.c`, `raid5.c`
//! (`raid5_compute_sector`), `raid10.c` (`__raid10_find_phys`), and dm's `raid` targets, which use
//! the same code.

use crate::storage::{Array, BlockDevice};

/// Most members traced; md allows a few hundred.
const MEMBERS_MAX: usize = 512;

/// How units are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Round-robin.
    Plain,
    /// Each unit on `near` adjacent members; `far` copies repeat them further back.
    Mirrored { near: u64 },
    /// Parity units that rotate from row to row.
    Parity { disks: u64, rotation: Rotation },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rotation {
    /// Parity rotates to the left; data starts at the first member, or after the parity
    /// (symmetric).
    Left {
        symmetric: bool,
    },
    /// Parity rotates to the right.
    Right {
        symmetric: bool,
    },
    /// Parity stays on the last member (RAID 4) or the first.
    FixedLast,
    FixedFirst,
}

/// An array's members and its unit distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    kind: Kind,
    members: u64,
}

/// The first byte of something on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// From the start of the member's data.
    pub on_member: u64,
    /// The same byte in the array.
    pub in_array: u64,
}

impl Geometry {
    /// Of an md array; `None` for levels without stripe units and for unknown layouts.
    pub fn new(array: &Array) -> Option<Self> {
        let members = u64::from(array.disks?);
        if members == 0 || members > MEMBERS_MAX as u64 {
            return None;
        }
        let layout = array.layout;
        let kind = match array.level.as_str() {
            "raid0" => Kind::Plain,
            "raid10" => {
                let layout = layout.unwrap_or(0x102);
                // Far copies are further back on the members; the first copy is distributed over
                // all of them.
                Kind::Mirrored {
                    near: u64::from(layout & 0xff).clamp(1, members),
                }
            }
            "raid4" => Kind::Parity {
                disks: 1,
                rotation: Rotation::FixedLast,
            },
            "raid5" => Kind::Parity {
                disks: 1,
                rotation: rotation(layout.unwrap_or(2))?,
            },
            "raid6" => Kind::Parity {
                disks: 2,
                rotation: rotation(layout.unwrap_or(2))?,
            },
            _ => return None,
        };
        Self::checked(kind, members)
    }

    /// A plain stripe over this many devices.
    pub fn plain(members: usize) -> Self {
        Geometry {
            kind: Kind::Plain,
            members: (members.clamp(1, MEMBERS_MAX)) as u64,
        }
    }

    /// For dm's `raid` target; `None` for mirrors.
    pub fn of_mapper(level: Option<&str>, members: usize) -> Option<Self> {
        let members = u64::try_from(members.min(MEMBERS_MAX)).ok()?;
        let parity = |disks, rotation| Kind::Parity { disks, rotation };
        let kind = match level? {
            "raid0" | "raid0_meta" => Kind::Plain,
            "raid4" => parity(1, Rotation::FixedLast),
            "raid5_ls" | "raid5" => parity(1, Rotation::Left { symmetric: true }),
            "raid5_la" => parity(1, Rotation::Left { symmetric: false }),
            "raid5_rs" => parity(1, Rotation::Right { symmetric: true }),
            "raid5_ra" => parity(1, Rotation::Right { symmetric: false }),
            "raid5_n" => parity(1, Rotation::FixedLast),
            "raid6_zr" | "raid6" | "raid6_nr" | "raid6_nc" | "raid6_n_6" | "raid6_ls_6" => {
                parity(2, Rotation::Left { symmetric: true })
            }
            "raid10" | "raid10_near" => Kind::Mirrored { near: 2 },
            _ => return None,
        };
        Self::checked(kind, members)
    }

    fn checked(kind: Kind, members: u64) -> Option<Self> {
        let least = match kind {
            Kind::Parity { disks, .. } => disks + 1,
            _ => 1,
        };
        (members >= least).then_some(Geometry { kind, members })
    }

    /// Members that hold distinct data in one row.
    pub fn data_disks(&self) -> u64 {
        match self.kind {
            Kind::Plain => self.members,
            Kind::Mirrored { near } => (self.members / near).max(1),
            Kind::Parity { disks, .. } => self.members - disks,
        }
    }

    pub fn has_parity(&self) -> bool {
        matches!(self.kind, Kind::Parity { .. })
    }

    /// Members and rows that hold a unit.
    fn places(&self, unit: u64) -> Vec<(u64, u64)> {
        let members = self.members;
        match self.kind {
            Kind::Plain => vec![(unit % members, unit / members)],
            Kind::Mirrored { near } => (0..near)
                .map(|copy| {
                    let at = unit.saturating_mul(near).saturating_add(copy);
                    (at % members, at / members)
                })
                .collect(),
            Kind::Parity { disks, rotation } => {
                let data = members - disks;
                let (row, column) = (unit / data, unit % data);
                vec![(rotation.member(row, column, members, disks), row)]
            }
        }
    }

    /// The first byte on each member of something that starts at `at` in the array, by slot.
    pub fn first_bytes(&self, at: u64, unit_bytes: u64) -> Vec<(usize, First)> {
        let mut found: Vec<(usize, First)> = Vec::new();
        if unit_bytes == 0 {
            return found;
        }
        let first = at / unit_bytes;
        // Within two rows and one full rotation of the parity, each member has had data.
        for unit in first..=first.saturating_add(2 * self.members + 2) {
            let inside = if unit == first { at % unit_bytes } else { 0 };
            let Some(in_array) = unit
                .checked_mul(unit_bytes)
                .and_then(|start| start.checked_add(inside))
            else {
                break;
            };
            for (member, row) in self.places(unit) {
                let Ok(member) = usize::try_from(member) else {
                    continue;
                };
                if found.iter().any(|(known, _)| *known == member) {
                    continue;
                }
                found.push((
                    member,
                    First {
                        on_member: row.saturating_mul(unit_bytes).saturating_add(inside),
                        in_array,
                    },
                ));
            }
        }
        found.sort_by_key(|(member, _)| *member);
        found
    }
}

impl Rotation {
    /// The member that holds a column of a row.
    fn member(self, row: u64, column: u64, members: u64, parity: u64) -> u64 {
        let data = members - parity;
        let turn = row % members;
        match self {
            Rotation::FixedLast => column,
            Rotation::FixedFirst => column + parity,
            Rotation::Left { symmetric } => {
                let first = members - 1 - turn;
                place(first, column, members, parity, data, symmetric)
            }
            Rotation::Right { symmetric } => place(turn, column, members, parity, data, symmetric),
        }
    }
}

/// The member of a column if parity starts at `first` (and continues, for RAID 6, on the next
/// member, wrapping around).
fn place(first: u64, column: u64, members: u64, parity: u64, data: u64, symmetric: bool) -> u64 {
    if symmetric {
        return (first + parity + column) % members;
    }
    let is_parity = |member: u64| (member + members - first) % members < parity;
    (0..members)
        .filter(|member| !is_parity(*member))
        .nth(usize::try_from(column.min(data - 1)).unwrap_or(0))
        .unwrap_or(0)
}

/// The numbers of `ALGORITHM_` in Linux `raid5.h`.
fn rotation(layout: u32) -> Option<Rotation> {
    Some(match layout {
        0 => Rotation::Left { symmetric: false },
        1 => Rotation::Right { symmetric: false },
        2 => Rotation::Left { symmetric: true },
        3 => Rotation::Right { symmetric: true },
        4 => Rotation::FixedFirst,
        5 => Rotation::FixedLast,
        _ => return None,
    })
}

/// Devices below an array by slot, with the start of their data. If the kernel does not report
/// slots, device order is used.
pub fn members<'d>(
    device: &'d BlockDevice,
    array: &Array,
) -> Vec<(usize, &'d BlockDevice, Option<u64>)> {
    let mut found: Vec<(usize, &BlockDevice, Option<u64>)> = Vec::new();
    for (order, below) in (0..).zip(device.below.iter().take(MEMBERS_MAX)) {
        match array
            .members
            .iter()
            .find(|member| member.device == below.name)
        {
            // Spares hold nothing.
            Some(member) => {
                if let Some(slot) = member.slot {
                    found.push((slot as usize, below, member.data_offset_bytes));
                }
            }
            None => found.push((order, below, None)),
        }
    }
    found.sort_by_key(|(slot, ..)| *slot);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(level: &str, disks: u32, layout: Option<u32>) -> Array {
        Array {
            level: level.to_owned(),
            disks: Some(disks),
            layout,
            ..Array::default()
        }
    }

    fn first_bytes_of_members(
        level: &str,
        disks: u32,
        layout: Option<u32>,
        at: u64,
    ) -> Vec<(usize, u64)> {
        let geometry = Geometry::new(&array(level, disks, layout)).unwrap();
        let found = geometry.first_bytes(at, 64);
        found
            .iter()
            .map(|(member, first)| (*member, first.on_member))
            .collect()
    }

    #[test]
    fn first_bytes_follow_the_layouts_of_linux() {
        // RAID 0: the first unit is partial; members before it hold the next row.
        assert_eq!(
            first_bytes_of_members("raid0", 3, None, 0),
            [(0, 0), (1, 0), (2, 0)]
        );
        assert_eq!(
            first_bytes_of_members("raid0", 3, None, 64 + 5),
            [(0, 64), (1, 5), (2, 0)]
        );
        // RAID 10, near: pairs.
        assert_eq!(
            first_bytes_of_members("raid10", 4, Some(0x102), 69),
            [(0, 64), (1, 64), (2, 5), (3, 5)]
        );
        // Far: like RAID 0 for the first copy.
        assert_eq!(
            first_bytes_of_members("raid10", 2, Some(0x201), 0),
            [(0, 0), (1, 0)]
        );
        // RAID 5 left-symmetric, 3 members: row 0 is 0 1 P, row 1 is 3 P 2.
        assert_eq!(
            first_bytes_of_members("raid5", 3, Some(2), 0),
            [(0, 0), (1, 0), (2, 64)]
        );
        assert_eq!(
            first_bytes_of_members("raid5", 3, Some(2), 64),
            [(0, 64), (1, 0), (2, 64)]
        );
        // RAID 4 keeps parity on the last member.
        assert_eq!(
            first_bytes_of_members("raid4", 3, None, 0),
            [(0, 0), (1, 0)]
        );
    }

    #[test]
    fn every_row_of_every_rotation_uses_each_member_once() {
        for layout in 0..6 {
            for (level, parity) in [("raid5", 1), ("raid6", 2)] {
                for members in parity + 2..9 {
                    let disks = u32::try_from(members).unwrap();
                    let geometry = Geometry::new(&array(level, disks, Some(layout))).unwrap();
                    for row in 0..2 * members {
                        let data = members - parity;
                        let mut used: Vec<u64> = (0..data)
                            .flat_map(|column| geometry.places(row * data + column))
                            .map(|(member, at)| {
                                assert_eq!(at, row);
                                member
                            })
                            .collect();
                        used.sort_unstable();
                        used.dedup();
                        assert_eq!(used.len() as u64, data, "{level} {layout} {members} {row}");
                        assert!(used.iter().all(|member| *member < members));
                    }
                }
            }
        }
    }

    #[test]
    fn arrays_that_cannot_be_have_no_geometry() {
        for (level, disks, layout) in [
            ("raid5", 1, Some(2)),
            ("raid6", 2, Some(2)),
            ("raid0", 0, None),
            ("raid0", 100_000, None),
            ("raid5", 3, Some(77)),
            ("raid1", 2, None),
            ("linear", 2, None),
        ] {
            assert_eq!(
                Geometry::new(&array(level, disks, layout)),
                None,
                "{level} {disks}"
            );
        }
    }
}
