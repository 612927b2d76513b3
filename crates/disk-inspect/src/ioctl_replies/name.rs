//! Device names as typed by Windows users.

use stripewise_units::DeviceNumber;

/// The object a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// `\\.\PhysicalDrive0`, with or without the prefix.
    Disk(u32),
    /// `Harddisk0Partition2`.
    Partition {
        /// Its disk.
        disk: u32,
        /// Its number; 0, the whole disk, is parsed as [`Name::Disk`].
        partition: u32,
    },
    /// `C:` or `Volume{...}`.
    Volume(String),
}

impl Name {
    /// Parses a name, ignoring case; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let name = ["\\\\.\\", "\\\\?\\", "//./"]
            .iter()
            .find_map(|start| text.strip_prefix(start))
            .unwrap_or(text);
        let name = name.trim_end_matches(['\\', '/']);
        let lower = name.to_ascii_lowercase();
        if let Some(number) = lower.strip_prefix("physicaldrive") {
            return number_of(number).map(Name::Disk);
        }
        if let Some(rest) = lower.strip_prefix("harddisk") {
            let (disk, partition) = rest.split_once("partition")?;
            let disk = number_of(disk)?;
            return Some(match number_of(partition)? {
                0 => Name::Disk(disk),
                partition => Name::Partition { disk, partition },
            });
        }
        let is_letter = matches!(lower.as_bytes(), [b'a'..=b'z', b':']);
        let is_volume = lower.starts_with("volume{") && lower.ends_with('}');
        if is_letter {
            return Some(Name::Volume(name.to_ascii_uppercase()));
        }
        is_volume.then(|| Name::Volume(name.to_owned()))
    }
}

/// Digits only: `parse` would accept a sign.
fn number_of(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// The name of a disk.
pub fn disk(number: u32) -> String {
    format!("PhysicalDrive{number}")
}

/// The name of a partition.
pub fn partition(disk: u32, number: u32) -> String {
    format!("Harddisk{disk}Partition{number}")
}

/// Windows numbers disks and partitions separately; here they are combined into one number: the
/// major is 7 (`FILE_DEVICE_DISK`) for disks, and 2^16 plus the disk's number for its partitions.
/// Volumes on several disks have none (major 0).
pub fn disk_number(number: u32) -> DeviceNumber {
    DeviceNumber {
        major: 7,
        minor: number,
    }
}

/// See [`disk_number`].
pub fn partition_number(disk: u32, number: u32) -> DeviceNumber {
    DeviceNumber {
        major: (1 << 16) + (disk & 0xffff),
        minor: number,
    }
}

/// The disk and partition of a number made by [`disk_number`] or [`partition_number`].
pub fn from_number(number: DeviceNumber) -> Option<Name> {
    match number.major {
        7 => Some(Name::Disk(number.minor)),
        major if major >> 16 == 1 => Some(Name::Partition {
            disk: major & 0xffff,
            partition: number.minor,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_users_type_them() {
        let volume = |name: &str| Some(Name::Volume(name.to_owned()));
        let guid = "Volume{4c1b02c1-d990-11dc-99ae-806e6f6e6963}";
        for (text, wanted) in [
            (r"\\.\PhysicalDrive0", Some(Name::Disk(0))),
            (r"\\.\PHYSICALDRIVE12", Some(Name::Disk(12))),
            ("PhysicalDrive3", Some(Name::Disk(3))),
            ("//./PhysicalDrive3", Some(Name::Disk(3))),
            (
                r"\\.\Harddisk1Partition2",
                Some(Name::Partition {
                    disk: 1,
                    partition: 2,
                }),
            ),
            ("Harddisk1Partition0", Some(Name::Disk(1))),
            (r"\\.\c:", volume("C:")),
            ("D:", volume("D:")),
            (r"E:\", volume("E:")),
            (&format!(r"\\?\{guid}\"), volume(guid)),
            (r"C:\data", None),
            ("sda", None),
            ("PhysicalDrive", None),
            ("PhysicalDrive+1", None),
            ("PhysicalDrive99999999999", None),
            ("Harddisk1", None),
            ("", None),
            (":", None),
        ] {
            assert_eq!(Name::parse(text), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_lead_back_to_their_names() {
        assert_eq!(from_number(disk_number(5)), Some(Name::Disk(5)));
        assert_eq!(
            from_number(partition_number(5, 2)),
            Some(Name::Partition {
                disk: 5,
                partition: 2
            })
        );
        assert_eq!(from_number(DeviceNumber::default()), None);
    }
}
