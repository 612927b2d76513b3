//! Prints layouts like the old Windows tools, for scripts that parse those:
//! `diskpar -i` of the Windows 2000 Resource Kit and DiskExt of Sysinternals.
//!
//! diskpar's misspellings (`Infomation`, `StatringOffset`) are part of its
//! format. Drives have Windows' numbers if they have any (`PhysicalDrive2` is
//! drive 2), else their index in the survey. Linux has no geometry: 255 heads and
//! 63 sectors are what every BIOS translation of the time used, and cylinders
//! follow from the size. GPT types, which diskpar did not know, are printed as 7
//! (basic data).

use stripewise_disk_formats::tables::Role;
use stripewise_disk_inspect::ioctl_replies::Name;
use stripewise_disk_inspect::survey::{Disk, Survey, Volume};

const HEADS: u64 = 255;
const SECTORS_PER_TRACK: u64 = 63;
const MEBIBYTE: u64 = 1 << 20;

/// `diskpar -i N` for every disk, one after the other.
pub fn diskpar(survey: &Survey) -> String {
    let mut text = String::new();
    for (place, disk) in survey.disks.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        diskpar_disk(&mut text, number(place, disk), disk);
    }
    text
}

/// The number of a drive: its own on Windows, its index in the survey elsewhere.
fn number(place: usize, disk: &Disk) -> usize {
    match Name::parse(&disk.device.name) {
        Some(Name::Disk(number)) => number as usize,
        _ => place,
    }
}

fn diskpar_disk(text: &mut String, number: usize, disk: &Disk) {
    let sector = sector_bytes(disk);
    let size = disk.device.size_bytes;
    let cylinders = size / (HEADS * SECTORS_PER_TRACK * sector);
    text.push_str(&format!(
        "---- Drive {number} Geometry Infomation ----\n\
         Cylinders = {cylinders}\n\
         TracksPerCylinder = {HEADS}\n\
         SectorsPerTrack = {SECTORS_PER_TRACK}\n\
         BytesPerSector = {sector}\n\
         DiskSize = {size} (Bytes) = {} (MB)\n\n",
        size / MEBIBYTE
    ));
    let partitions = disk
        .partitions
        .iter()
        .filter(|partition| partition.entry.role != Role::Extended);
    let mut count = 0;
    for partition in partitions {
        let entry = &partition.entry;
        let hidden = entry.start_bytes / sector;
        text.push_str(&format!(
            "---- Drive Partition {count} Infomation ----\n\
             StatringOffset = {}\n\
             PartitionLength = {}\n\
             HiddenSectors = {hidden}\n\
             PartitionNumber = {}\n\
             PartitionType = {}\n\n",
            entry.start_bytes,
            entry.size_bytes,
            entry.number,
            type_number(&entry.type_id),
        ));
        count += 1;
    }
    text.push_str(&format!(
        "End of partition information. Total existing partitions: {count}\n"
    ));
}

fn sector_bytes(disk: &Disk) -> u64 {
    let device = disk.device.queue.logical_sector_bytes;
    let table = disk.table.as_ref().map(|table| table.sector_bytes);
    u64::from(device.or(table).unwrap_or(512).max(512))
}

/// `PartitionType` is a decimal number in that format.
fn type_number(type_id: &str) -> u8 {
    type_id
        .strip_prefix("0x")
        .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        .unwrap_or(7)
}

/// DiskExt: the mount point of each volume, and its extents on disks.
pub fn diskext(survey: &Survey) -> String {
    let mut text = String::new();
    for volume in &survey.volumes {
        text.push_str(&format!("Volume: {}\n", volume.name));
        if volume.mount_points.is_empty() {
            text.push_str("   No mount points\n");
        }
        for point in &volume.mount_points {
            text.push_str(&format!("   Mounted at: {}\n", point.display()));
        }
        extents(&mut text, survey, volume);
        text.push('\n');
    }
    text
}

fn extents(text: &mut String, survey: &Survey, volume: &Volume) {
    let places = &volume.subject.places;
    for (index, place) in (1..).zip(places) {
        let disk = survey
            .disks
            .iter()
            .enumerate()
            .find(|(_, disk)| disk.device.name == place.disk)
            .map(|(place, disk)| number(place, disk));
        let disk = disk.map_or_else(|| place.disk.clone(), |number| number.to_string());
        text.push_str(&format!(
            "   Extent [{index}]:\n       Disk:   {disk}\n       Offset: {}\n",
            place.offset_bytes
        ));
        // The share of a volume on each disk of an array is not a length.
        if places.len() == 1 {
            text.push_str(&format!("       Length: {}\n", volume.size_bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_disk_formats::tables::TablePartition;
    use stripewise_disk_inspect::storage::BlockDevice;
    use stripewise_disk_inspect::survey::Partition;
    use stripewise_disk_inspect::verdict::{Nature, Place};

    fn disk() -> Survey {
        let entry = TablePartition {
            number: 1,
            start_bytes: 32_256,
            size_bytes: 10_000 * 512,
            type_id: "0x07".to_owned(),
            ..TablePartition::default()
        };
        Survey {
            disks: vec![Disk {
                device: BlockDevice {
                    name: "sda".to_owned(),
                    size_bytes: 100 * 255 * 63 * 512,
                    ..BlockDevice::default()
                },
                partitions: vec![Partition {
                    name: "sda1".to_owned(),
                    entry,
                    ..Partition::default()
                }],
                ..Disk::default()
            }],
            ..Survey::default()
        }
    }

    #[test]
    fn drives_of_windows_keep_their_numbers() {
        let mut survey = disk();
        "PhysicalDrive3".clone_into(&mut survey.disks[0].device.name);
        assert!(diskpar(&survey).starts_with("---- Drive 3 Geometry"));
        survey.volumes.push(Volume {
            name: "E:".to_owned(),
            ..Volume::default()
        });
        survey.volumes[0].subject.places.push(Place {
            disk: "PhysicalDrive3".to_owned(),
            offset_bytes: 32_256,
            logical_sector_bytes: None,
            physical_sector_bytes: None,
            alignment_offset_bytes: 0,
            nature: Nature::Single,
            may_hide_pages: false,
            ends: None,
            distrusted: None,
        });
        assert!(diskext(&survey).contains("       Disk:   3\n"));
    }

    #[test]
    fn diskpar_prints_bytes_and_its_own_spelling() {
        assert_eq!(
            diskpar(&disk()),
            "---- Drive 0 Geometry Infomation ----\n\
             Cylinders = 100\n\
             TracksPerCylinder = 255\n\
             SectorsPerTrack = 63\n\
             BytesPerSector = 512\n\
             DiskSize = 822528000 (Bytes) = 784 (MB)\n\
             \n\
             ---- Drive Partition 0 Infomation ----\n\
             StatringOffset = 32256\n\
             PartitionLength = 5120000\n\
             HiddenSectors = 63\n\
             PartitionNumber = 1\n\
             PartitionType = 7\n\
             \n\
             End of partition information. Total existing partitions: 1\n"
        );
    }
}
