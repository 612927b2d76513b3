//! The current contents of a disk, for the plan: what would be lost.

use crate::disk::{Disk, medium};
use crate::layout::Geometry;
use crate::stale_signatures;
use serde::{Deserialize, Serialize};
use std::io;
use stripewise_disk_formats::medium::{Bytes, Part};
use stripewise_disk_formats::{superblocks, tables};

/// Identity of a device: distinguishes it from others, and from what it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Identity {
    /// The kernel's name, required by `--destroy`.
    pub name: String,
    /// Vendor and model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number or world-wide name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest addressable unit.
    pub logical_sector_bytes: u32,
    /// For a partition: its first byte on its disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
    /// For a loop device: its backing file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing: Option<String>,
}

impl Identity {
    /// Whether it is the same device, whatever its current kernel name. Devices without serial
    /// number and backing file can only be identified by name and size.
    pub fn is_same_device(&self, other: &Identity) -> bool {
        let known = self.serial.is_some() || self.backing.is_some();
        let unnamed = |identity: &Identity| Identity {
            name: String::new(),
            ..identity.clone()
        };
        unnamed(self) == unnamed(other) && (known || self.name == other.name)
    }
}

/// Current contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Present {
    /// Type of the partition table: `gpt`, `mbr`, `gpt with hybrid mbr`.
    pub table: Option<String>,
    /// The disk's GUID or MBR signature.
    pub table_id: Option<String>,
    /// Problems of the table, one sentence each.
    pub problems: Vec<String>,
    /// Other contents of the whole device, certain or likely, with articles.
    pub holds: Vec<String>,
    /// Partitions that the table lists.
    pub partitions: Vec<PresentPartition>,
}

/// A partition of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PresentPartition {
    /// Its kernel number.
    pub number: u32,
    /// First byte, from the start of the disk.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
    /// Its type as text, or as stored.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its contents, with an article.
    pub holds: Option<String>,
    /// It contains the logical partitions.
    #[serde(skip)]
    pub is_extended: bool,
}

impl Present {
    /// Whether nothing is known to be lost.
    pub fn is_empty(&self) -> bool {
        self.table.is_none() && self.holds.is_empty()
    }

    /// Examines a disk. Partitions that cannot be read have unknown contents.
    pub(crate) fn of<D: Disk>(disk: &D, geometry: &Geometry) -> io::Result<Self> {
        let mut bytes = medium(disk);
        let table = tables::read(&mut bytes, Some(geometry.logical_sector_bytes))?;
        let mut present = Present {
            holds: whole(disk, geometry.size_bytes)?,
            ..Present::default()
        };
        if let Some(table) = table {
            present.table = Some(table.kind.name().to_owned());
            present.table_id = table.id.clone();
            present.problems = table.problems.clone();
            for one in &table.partitions {
                let is_extended = one.role == tables::Role::Extended;
                present.partitions.push(PresentPartition {
                    number: one.number,
                    start_bytes: one.start_bytes,
                    size_bytes: one.size_bytes,
                    type_name: one
                        .type_name
                        .map_or_else(|| one.type_id.clone(), str::to_owned),
                    holds: if is_extended {
                        None
                    } else {
                        holds(&mut Part::new(&mut bytes, one.start_bytes, one.size_bytes))
                    },
                    is_extended,
                });
            }
        }
        Ok(present)
    }
}

/// Contents of a whole device: what can be read, and signatures of former contents.
fn whole<D: Disk>(disk: &D, size_bytes: u64) -> io::Result<Vec<String>> {
    let mut found: Vec<String> = holds(&mut medium(disk)).into_iter().collect();
    for signature in stale_signatures::contents(disk, 0, size_bytes)? {
        if !found
            .iter()
            .any(|described| name_same_content(described, &signature.what))
        {
            found.push(signature.what);
        }
    }
    Ok(found)
}

/// Whether the contents and a signature refer to the same: `an ext4 file system` and
/// `an ext2, ext3 or ext4 file system`.
fn name_same_content(described: &str, mark: &str) -> bool {
    const WORDS: [&str; 13] = [
        "ext2", "ext3", "ext4", "xfs", "btrfs", "ntfs", "exfat", " fat ", "vfat", "swap",
        "md array", "lvm", "luks",
    ];
    let (described, mark) = (described.to_lowercase(), mark.to_lowercase());
    described == mark
        || WORDS
            .iter()
            .any(|word| described.contains(word) && mark.contains(word))
        || (described.contains("vfat") && mark.contains(" fat "))
}

/// Contents of a device or partition as text with an article.
pub(crate) fn holds(device: &mut dyn Bytes) -> Option<String> {
    let found = superblocks::read(device).ok()??;
    let label = match found.file_system().and_then(|one| one.label.as_ref()) {
        Some(label) => format!(" with the label `{label}`"),
        None => String::new(),
    };
    let what = match found.kind() {
        "md member" => "a member of an md array".to_owned(),
        "LVM physical volume" => "a physical volume of LVM".to_owned(),
        "LUKS" => "an encrypted volume (LUKS)".to_owned(),
        "swap" => "swap space".to_owned(),
        kind @ ("ext2" | "ext3" | "ext4" | "xfs" | "ntfs" | "exfat" | "iso9660" | "f2fs") => {
            format!("an {kind} file system")
        }
        kind => format!("a {kind} file system"),
    };
    Some(what + &label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::memory::MemoryDisk;

    #[test]
    fn a_mark_is_not_told_besides_what_was_read() {
        for (described, mark, same) in [
            (
                "an ext4 file system with the label `x`",
                "an ext2, ext3 or ext4 file system",
                true,
            ),
            ("an xfs file system", "an XFS file system", true),
            ("a vfat file system", "a FAT file system", true),
            ("an exfat file system", "an exFAT file system", true),
            ("an exfat file system", "a FAT file system", false),
            ("a member of an md array", "a member of an md array", true),
            ("an xfs file system", "a btrfs file system", false),
        ] {
            assert_eq!(
                name_same_content(described, mark),
                same,
                "{described} / {mark}"
            );
        }
    }

    #[test]
    fn a_blank_disk_holds_nothing_and_a_stale_mark_is_told() {
        let geometry = Geometry {
            size_bytes: 1 << 20,
            logical_sector_bytes: 512,
            physical_sector_bytes: 512,
        };
        let mut disk = MemoryDisk::new(1 << 20, 512);
        assert!(Present::of(&disk, &geometry).unwrap().is_empty());
        disk.bytes[0x10040..0x10048].copy_from_slice(b"_BHRfS_M");
        let present = Present::of(&disk, &geometry).unwrap();
        assert_eq!(present.holds, ["a btrfs file system"]);
        assert!(!present.is_empty());
    }
}
