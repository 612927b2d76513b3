//! md arrays: the command that makes one, and arrays that are refused. Pure: from a spec and device
//! sizes to an argument vector and the expected result.

use crate::plan::DeviceFacts;
use crate::{Error, ErrorKind, Result};
use serde::Serialize;
use std::path::PathBuf;
use stripewise_units::{ByteSize, NameText, format_bytes};

/// Data offset on every member, for any level and stripe unit, so that arrays do not differ in
/// where their data is.
pub const DATA_OFFSET_BYTES: u64 = 1 << 20;
/// Stripe units are multiples of a page.
const PAGE_BYTES: u64 = 4 << 10;
/// md rounds members without a stripe unit to this.
const GRAIN_BYTES: u64 = 64 << 10;

// As the kernel and users name them.
stripewise_units::named! {
    /// The supported levels.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum RaidLevel {
        /// Stripes.
        Raid0 = "raid0",
        /// Mirrors.
        Raid1 = "raid1",
        /// Stripes over mirrored pairs (`near=2`).
        Raid10 = "raid10",
        /// One parity block per stripe.
        Raid5 = "raid5",
        /// Two parity blocks per stripe.
        Raid6 = "raid6",
    }
}

impl RaidLevel {
    /// Fewest members.
    pub fn members_min(self) -> usize {
        match self {
            RaidLevel::Raid0 | RaidLevel::Raid1 => 2,
            RaidLevel::Raid5 => 3,
            RaidLevel::Raid10 | RaidLevel::Raid6 => 4,
        }
    }

    /// Number of members' worth of data in a stripe over `members`.
    pub fn data_disks(self, members: usize) -> u32 {
        let disks = match self {
            RaidLevel::Raid0 => members,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid10 => members / 2,
            RaidLevel::Raid5 => members.saturating_sub(1),
            RaidLevel::Raid6 => members.saturating_sub(2),
        };
        u32::try_from(disks.max(1)).unwrap_or(u32::MAX)
    }

    /// Whether it has stripe units.
    pub fn is_striped(self) -> bool {
        self != RaidLevel::Raid1
    }

    /// Whether parity must be correct before measuring: the kernel computes it first. Mirrors of
    /// unwritten data may differ.
    pub fn needs_resync(self) -> bool {
        matches!(self, RaidLevel::Raid5 | RaidLevel::Raid6)
    }

    /// Why an array with this many members and this stripe unit is not possible.
    pub fn cannot(self, members: usize, stripe_unit_bytes: Option<u64>) -> Option<String> {
        if members < self.members_min() {
            return Some(format!(
                "{} takes {} devices or more",
                self.name(),
                self.members_min()
            ));
        }
        if self == RaidLevel::Raid10 && !members.is_multiple_of(2) {
            return Some("raid10 takes an even number of devices".to_owned());
        }
        let unit = stripe_unit_bytes.filter(|_| self.is_striped())?;
        (unit < PAGE_BYTES || !unit.is_power_of_two()).then(|| {
            format!(
                "a stripe unit of {} is not a power of two of 4K or more",
                ByteSize(unit)
            )
        })
    }

    /// Capacity of an array with such members, bytes.
    pub fn capacity_bytes(self, member_bytes: &[u64], stripe_unit_bytes: Option<u64>) -> u64 {
        let smallest = member_bytes.iter().copied().min().unwrap_or(0);
        let grain = match stripe_unit_bytes {
            Some(unit) if self.is_striped() => unit.max(PAGE_BYTES),
            _ => GRAIN_BYTES,
        };
        let each = smallest.saturating_sub(DATA_OFFSET_BYTES) / grain * grain;
        each.saturating_mul(u64::from(self.data_disks(member_bytes.len())))
    }
}

impl std::str::FromStr for RaidLevel {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let number = text.strip_prefix("raid").unwrap_or(text);
        let named = |level: &RaidLevel| level.name().strip_prefix("raid") == Some(number);
        RaidLevel::ALL.into_iter().find(named).ok_or(())
    }
}

/// The requested array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayOptions {
    /// Its level.
    pub level: RaidLevel,
    /// Bytes on one disk before the next one is used; not for plain mirrors.
    pub stripe_unit_bytes: Option<u64>,
    /// UUID of the array, from the caller's random source.
    pub uuid: [u8; 16],
}

/// What would be done. Planning writes nothing.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ArrayPlan {
    /// The devices, in order.
    pub members: Vec<DeviceFacts>,
    /// The level.
    pub level: RaidLevel,
    /// Bytes on one disk before the next one is used.
    pub stripe_unit_bytes: Option<u64>,
    /// Approximate capacity in bytes.
    pub size_bytes: u64,
    /// Why it would currently be refused.
    pub in_the_way: Option<String>,
    /// Why it cannot be determined whether a member is in use.
    pub unseen: Option<String>,
    /// Path of the program to run.
    pub program: PathBuf,
    /// Its arguments, without the array's name and the members.
    pub arguments: Vec<String>,
    #[serde(skip)]
    pub(crate) uuid: [u8; 16],
}

/// The result, read back from the kernel and from the superblocks.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ArrayReport {
    /// The kernel's name: `md127`.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Bytes that it holds.
    pub size_bytes: u64,
}

/// The arguments of mdadm before the members.
pub(crate) fn arguments(spec: &ArrayOptions, members: usize) -> Vec<String> {
    let mut arguments = vec![
        "--run".to_owned(),
        "--metadata=1.2".to_owned(),
        format!("--level={}", spec.level.name()),
        format!("--raid-devices={members}"),
        format!("--data-offset={}K", DATA_OFFSET_BYTES >> 10),
        format!("--uuid={}", uuid_text(spec.uuid)),
        "--homehost=stripewise".to_owned(),
    ];
    if spec.level != RaidLevel::Raid0 {
        arguments.push("--bitmap=none".to_owned());
    }
    if spec.level == RaidLevel::Raid10 {
        arguments.push("--layout=n2".to_owned());
    }
    if let Some(unit) = spec.stripe_unit_bytes.filter(|_| spec.level.is_striped()) {
        arguments.push(format!("--chunk={}K", unit >> 10));
    }
    if !spec.level.needs_resync() && spec.level != RaidLevel::Raid0 {
        arguments.push("--assume-clean".to_owned());
    }
    arguments
}

/// mdadm's notation: four groups of eight digits.
pub(crate) fn uuid_text(uuid: [u8; 16]) -> String {
    let group = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let groups: Vec<String> = uuid.chunks(4).map(group).collect();
    groups.join(":")
}

/// Refuses impossible arrays.
///
/// # Errors
/// [`ErrorKind::Usage`] for a level that is not possible with these devices.
pub(crate) fn check(spec: &ArrayOptions, members: &[DeviceFacts]) -> Result<()> {
    let names: Vec<String> = members.iter().map(|one| one.path.as_text()).collect();
    let target = names.join(",");
    if let Some(why) = spec.level.cannot(members.len(), spec.stripe_unit_bytes) {
        return Err(Error::new(ErrorKind::Usage, target, why)
            .with_hint("Name more devices, or another level or stripe unit."));
    }
    let sizes: Vec<u64> = members.iter().map(|one| one.size_bytes).collect();
    if spec.level.capacity_bytes(&sizes, spec.stripe_unit_bytes) == 0 {
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let what = format!(
            "the smallest device has {}, too little for a member of an array",
            format_bytes(smallest)
        );
        return Err(Error::new(ErrorKind::Usage, target, what).with_hint("Name larger devices."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn spec(level: RaidLevel, unit: Option<u64>) -> ArrayOptions {
        ArrayOptions {
            level,
            stripe_unit_bytes: unit,
            uuid: std::array::from_fn(|index| index as u8),
        }
    }

    #[test]
    fn arrays_differ_in_what_was_asked_for_and_not_in_where_data_begin() {
        let line = |level, unit| arguments(&spec(level, unit), 4).join(" ");
        let striped = line(RaidLevel::Raid10, Some(64 << 10));
        assert_eq!(
            striped,
            "--run --metadata=1.2 --level=raid10 --raid-devices=4 --data-offset=1024K \
             --uuid=00010203:04050607:08090a0b:0c0d0e0f --homehost=stripewise --bitmap=none \
             --layout=n2 --chunk=64K --assume-clean"
        );
        for level in RaidLevel::ALL {
            let line = line(level, Some(16 << 10));
            assert!(line.contains("--data-offset=1024K"), "{line}");
            assert_eq!(line.contains("--chunk"), level.is_striped(), "{line}");
            let parity = matches!(level, RaidLevel::Raid5 | RaidLevel::Raid6);
            assert!(!(parity && line.contains("assume-clean")), "{line}");
        }
    }

    #[test]
    fn levels_take_the_devices_that_they_need() {
        use RaidLevel::*;
        for (level, members, unit, works) in [
            (Raid0, 2, Some(16 << 10), true),
            (Raid0, 1, None, false),
            (Raid1, 2, None, true),
            (Raid10, 3, None, false),
            (Raid10, 4, Some(64 << 10), true),
            (Raid10, 5, None, false),
            (Raid5, 3, Some(64 << 10), true),
            (Raid5, 2, None, false),
            (Raid6, 3, None, false),
            (Raid6, 4, None, true),
            (Raid0, 4, Some(48 << 10), false),
            (Raid0, 4, Some(2 << 10), false),
        ] {
            let why = level.cannot(members, unit);
            assert_eq!(why.is_none(), works, "{level:?} {members}: {why:?}");
        }
        assert_eq!("10".parse(), Ok(Raid10));
        assert_eq!("raid6".parse(), Ok(Raid6));
        assert_eq!("raid4".parse::<RaidLevel>(), Err(()));
    }

    #[test]
    fn an_array_holds_what_its_data_disks_hold_behind_the_offset() {
        let members = [101 * MIB, 257 * MIB, 257 * MIB, 257 * MIB];
        for (level, want) in [
            (RaidLevel::Raid0, 400),
            (RaidLevel::Raid1, 100),
            (RaidLevel::Raid10, 200),
            (RaidLevel::Raid5, 300),
            (RaidLevel::Raid6, 200),
        ] {
            assert_eq!(
                level.capacity_bytes(&members, Some(64 << 10)),
                want * MIB,
                "{level:?}"
            );
        }
        assert_eq!(RaidLevel::Raid0.capacity_bytes(&[MIB, MIB], None), 0);
    }
}
