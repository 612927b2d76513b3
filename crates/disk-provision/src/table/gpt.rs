//! GUID partition tables, by the crate `gptman`, whose writes are caught and
//! become patches: it writes primary before backup, and we want the reverse.

use super::{Identifiers, Patch, mbr};
use crate::layout::{Geometry, Layout, Purpose};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// `0FC63DAF-8483-4772-8E79-3D69D8477DE4`, Linux file system, as stored.
const LINUX: [u8; 16] = [
    0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47, 0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
];
/// `EBD0A0A2-B9E5-4433-87C0-68B6B72699C7`, Microsoft basic data, as stored.
const WINDOWS: [u8; 16] = [
    0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44, 0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7,
];

/// The backup's entries and header, the primary's, the protective MBR.
pub fn patches(geometry: &Geometry, parts: &[Layout], ids: &Identifiers) -> Vec<Patch> {
    let sector = geometry.sector();
    let mut catcher = Catcher::new(geometry);
    // Neither can fail: the catcher never does, and the layout fits the disk.
    let mut table = gptman::GPT::new_from(&mut catcher, sector, ids.disk_guid())
        .expect("a table for a disk that has room for a partition");
    for (index, layout) in (0u8..).zip(parts) {
        table[u32::from(index) + 1] = gptman::GPTPartitionEntry {
            partition_type_guid: match layout.purpose {
                Purpose::Linux => LINUX,
                Purpose::Windows => WINDOWS,
            },
            unique_partition_guid: ids.partition_guid(index),
            starting_lba: layout.start_bytes / sector,
            ending_lba: (layout.start_bytes + layout.size_bytes) / sector - 1,
            attribute_bits: 0,
            partition_name: "".into(),
        };
    }
    table
        .write_into(&mut catcher)
        .expect("partitions that fit the table");
    let entries = table.header.partition_entry_lba;
    let array = u64::from(table.header.number_of_partition_entries)
        * u64::from(table.header.size_of_partition_entry);
    let backup_entries = table.header.last_usable_lba + 1;
    let last = table.header.backup_lba;
    vec![
        catcher.patch(backup_entries, array, "entries of the backup GPT"),
        catcher.patch(last, sector, "header of the backup GPT"),
        catcher.patch(entries, array, "entries of the GPT"),
        catcher.patch(1, sector, "header of the GPT"),
        mbr::protective(geometry),
    ]
}

/// A disk of zeros that remembers what is written to it.
struct Catcher {
    sector: u64,
    size: u64,
    at: u64,
    sectors: BTreeMap<u64, Vec<u8>>,
}

impl Catcher {
    fn new(geometry: &Geometry) -> Self {
        Catcher {
            sector: geometry.sector(),
            size: geometry.sectors() * geometry.sector(),
            at: 0,
            sectors: BTreeMap::new(),
        }
    }

    /// What was written to whole sectors from `first` on.
    fn patch(&self, first: u64, length: u64, what: &str) -> Patch {
        let count = length.div_ceil(self.sector);
        let zeros = vec![0; self.sector as usize];
        Patch {
            offset_bytes: first * self.sector,
            bytes: (first..first + count)
                .flat_map(|sector| self.sectors.get(&sector).unwrap_or(&zeros).clone())
                .collect(),
            what: what.to_owned(),
        }
    }
}

impl Write for Catcher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (index, inside) = (self.at / self.sector, (self.at % self.sector) as usize);
        let sector = self
            .sectors
            .entry(index)
            .or_insert_with(|| vec![0; self.sector as usize]);
        let length = bytes.len().min(sector.len() - inside);
        sector[inside..inside + length].copy_from_slice(&bytes[..length]);
        self.at += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Catcher {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        bytes.fill(0);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl Seek for Catcher {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = moved.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
