//! Partition tables: MBR with logical partitions, GPT with its backup, hybrids.
//!
//! Our own bounded parsers, because a disk from an unknown source may contain anything: chains of
//! logical partitions are limited and never walked twice, GPT entries have a maximum number and
//! size, all sums are checked. Nothing is repaired or guessed: anomalies are reported in
//! [`PartitionTable::problems`]. Sources: UEFI specification 2.10, chapter 5; Linux
//! `block/partitions`.

mod gpt;
mod mbr;
mod types;

/// The checksum of a GPT header, with its own field zeroed, or of its entries.
pub use crc32fast::hash as crc32;
pub(crate) use types::guid;
pub use types::{gpt_role, gpt_type_name, mbr_role, mbr_type_name};

pub use gpt::ENTRIES_MAX;

use crate::medium::{Bytes, is_absent};
use serde::Serialize;
use std::io::Result;

// As tools print them.
stripewise_units::named! {
    /// Type of a table.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum TableKind {
        /// Master boot record, with or without logical partitions.
        #[default]
        Mbr = "mbr",
        /// GUID partition table.
        Gpt = "gpt",
        /// A GPT whose protective MBR lists partitions as well.
        HybridMbr = "gpt with hybrid mbr",
    }
}

/// The use of a partition, where it affects the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Data, or anything else that is read and written.
    #[default]
    Data,
    /// GRUB's second stage on GPT disks: read once at boot.
    BiosBoot,
    /// Reserved by Windows: no content.
    MicrosoftReserved,
    /// Contains the logical partitions, no data of its own.
    Extended,
    /// A Windows dynamic disk (LDM): volumes start somewhere inside, and only its database has
    /// their positions.
    Dynamic,
    /// A member of a Windows storage pool (Storage Spaces): its virtual disks' data is somewhere
    /// inside.
    StoragePool,
    /// The MBR entry that hides a GPT from old tools.
    Protective,
}

/// One partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TablePartition {
    /// The kernel's number: slots from 1, logical partitions from 5.
    pub number: u32,
    /// Bytes from the start of the disk, exact.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
    /// `0x83`, or the type's GUID in upper case.
    pub type_id: String,
    /// Its name, if known.
    pub type_name: Option<&'static str>,
    /// Its use.
    pub role: Role,
    /// GPT: the partition's name.
    pub name: Option<String>,
    /// GPT: the partition's own GUID.
    pub uuid: Option<String>,
    /// MBR: marked active.
    pub bootable: bool,
    /// MBR: inside the extended partition.
    pub logical: bool,
}

impl TablePartition {
    /// First byte after it.
    pub fn end_bytes(&self) -> u64 {
        self.start_bytes.saturating_add(self.size_bytes)
    }
}

/// The state of one of the two GPT headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Copy {
    /// The checksums of header and entries are correct.
    Valid,
    /// Present but invalid, for this reason.
    Damaged(String),
    /// Missing.
    Absent,
}

/// A partition table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PartitionTable {
    /// Its kind.
    pub kind: TableKind,
    /// The sector size it is based on.
    pub sector_bytes: u32,
    /// The disk's GUID or MBR signature (`0x...`).
    pub id: Option<String>,
    /// The partitions, ordered by number.
    pub partitions: Vec<TablePartition>,
    /// Additional partitions in a hybrid MBR.
    pub hybrid: Vec<TablePartition>,
    /// GPT: the header at the start and the one at the end.
    pub headers: Option<(Copy, Copy)>,
    /// Errors and anomalies, as sentences.
    pub problems: Vec<String>,
}

impl PartitionTable {
    /// Whether the disk is a Windows dynamic disk.
    pub fn is_dynamic(&self) -> bool {
        self.partitions
            .iter()
            .any(|partition| partition.role == Role::Dynamic)
    }
}

/// Sector sizes of disks; if unknown, the first that fits is used.
const SECTORS: [u32; 4] = [512, 4096, 2048, 1024];

/// Reads the table of a disk or image; `None` if there is none. With `sector_bytes` unknown (an
/// image) a GPT determines its own; an MBR is assumed to use 512 bytes.
///
/// # Errors
/// If the first sector cannot be read. Damage elsewhere is reported as a problem in the table.
pub fn read(disk: &mut dyn Bytes, sector_bytes: Option<u32>) -> Result<Option<PartitionTable>> {
    let sectors: Vec<u32> = match sector_bytes {
        Some(bytes) if bytes.is_power_of_two() && (512..=65_536).contains(&bytes) => vec![bytes],
        _ => SECTORS.to_vec(),
    };
    let first = match disk.piece(0, 512) {
        Ok(first) => first,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let boot_record = mbr::parse(&first);
    for sector in &sectors {
        if let Some(mut table) = gpt::read(disk, *sector, boot_record.as_ref()) {
            check_places(&mut table, disk.size_bytes());
            return Ok(Some(table));
        }
    }
    let Some(record) = boot_record else {
        return Ok(None);
    };
    let sector = sector_bytes.unwrap_or(SECTORS[0]);
    let mut table = mbr::table(disk, sector, &record);
    check_places(&mut table, disk.size_bytes());
    Ok(Some(table))
}

/// Checks for partitions past the end of the disk, and overlaps.
pub(crate) fn check_places(table: &mut PartitionTable, size_bytes: u64) {
    for partition in &table.partitions {
        if partition.end_bytes() > size_bytes {
            table.problems.push(format!(
                "partition {} ends at {} bytes, past the end of the disk at {size_bytes}",
                partition.number,
                partition.end_bytes()
            ));
        }
    }
    let mut order: Vec<&TablePartition> = table
        .partitions
        .iter()
        .filter(|partition| partition.role != Role::Extended)
        .collect();
    order.sort_by_key(|partition| (partition.start_bytes, partition.number));
    let mut reach: Option<&TablePartition> = None;
    for partition in order {
        if let Some(before) = reach
            && partition.start_bytes < before.end_bytes()
        {
            table.problems.push(format!(
                "partitions {} and {} overlap",
                before.number, partition.number
            ));
        }
        if reach.is_none_or(|before| partition.end_bytes() > before.end_bytes()) {
            reach = Some(partition);
        }
    }
    // A hostile table has thousands of them; the first few are enough.
    const PROBLEMS_MAX: usize = 16;
    if table.problems.len() > PROBLEMS_MAX {
        let more = table.problems.len() - PROBLEMS_MAX;
        table.problems.truncate(PROBLEMS_MAX);
        table.problems.push(format!("and {more} more problems"));
    }
}
