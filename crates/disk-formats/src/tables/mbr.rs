//! Master boot records and the chain of logical partitions.
//!
//! A logical partition is described by its own boot record inside the extended partition, whose
//! second entry points to the next one. The chain may be hostile: it may form a loop or lead
//! nowhere. It is followed at most [`LOGICAL_MAX`] steps and never twice to the same position.

use super::types::{mbr_role, mbr_type_name};
use super::{PartitionTable, Role, TableKind, TablePartition};
use crate::medium::{Bytes, le};

/// Linux also stops at 256 partitions per disk.
const LOGICAL_MAX: usize = 256;

/// One of the four entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub bootable: bool,
    pub kind: u8,
    pub start: u32,
    pub sectors: u32,
}

impl Entry {
    pub fn is_used(self) -> bool {
        self.kind != 0 && self.sectors != 0
    }

    fn is_extended(self) -> bool {
        self.is_used() && matches!(self.kind, 0x05 | 0x0f | 0x85)
    }
}

/// A boot record with four plausible entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootRecord {
    pub signature: u32,
    pub entries: [Entry; 4],
}

impl BootRecord {
    pub fn is_protective(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == 0xee)
    }
}

/// The boot record in a first sector. The boot sectors of FAT and NTFS have the same signature; in
/// place of entries they have code or zeros, so entries must have a plausible active flag, and at
/// least one must be used, or all must be zero with the disk signature that partitioning tools
/// write before them.
pub fn parse(sector: &[u8]) -> Option<BootRecord> {
    if sector.get(510..512)? != [0x55, 0xaa] {
        return None;
    }
    let entry = |index: usize| {
        let at = 446 + 16 * index;
        Entry {
            bootable: sector[at] == 0x80,
            kind: sector[at + 4],
            start: le::u32(sector, at + 8),
            sectors: le::u32(sector, at + 12),
        }
    };
    let plausible = (0..4).all(|index| matches!(sector[446 + 16 * index], 0 | 0x80));
    let entries = [entry(0), entry(1), entry(2), entry(3)];
    let used = entries.iter().any(|entry| entry.is_used());
    let signature = le::u32(sector, 440);
    let empty = signature != 0 && sector[446..510].iter().all(|byte| *byte == 0);
    (plausible && (used || empty) && !super::super::superblocks::is_boot_sector(sector))
        .then_some(BootRecord { signature, entries })
}

/// One entry as a partition; `base` is the origin of its start, in sectors.
pub fn partition(entry: Entry, number: u32, base: u64, sector_bytes: u32) -> TablePartition {
    let sector = u64::from(sector_bytes);
    TablePartition {
        number,
        // A sum of two 32-bit numbers times at most 64 KiB: cannot overflow.
        start_bytes: (base + u64::from(entry.start)) * sector,
        size_bytes: u64::from(entry.sectors) * sector,
        type_id: format!("0x{:02x}", entry.kind),
        type_name: mbr_type_name(entry.kind),
        role: mbr_role(entry.kind),
        bootable: entry.bootable,
        logical: base != 0,
        ..TablePartition::default()
    }
}

/// The whole table, including logical partitions.
pub fn table(disk: &mut dyn Bytes, sector_bytes: u32, record: &BootRecord) -> PartitionTable {
    let mut table = PartitionTable {
        kind: TableKind::Mbr,
        sector_bytes,
        id: (record.signature != 0).then(|| format!("0x{:08x}", record.signature)),
        ..PartitionTable::default()
    };
    for (number, entry) in (1..).zip(record.entries) {
        if entry.is_used() {
            table
                .partitions
                .push(partition(entry, number, 0, sector_bytes));
        }
    }
    if record.is_protective() {
        table.problems.push(
            "the MBR protects a GPT, but neither of its headers is present and valid".to_owned(),
        );
    }
    let extended: Vec<Entry> = record
        .entries
        .into_iter()
        .filter(|entry| entry.is_extended())
        .collect();
    if extended.len() > 1 {
        table
            .problems
            .push("there is more than one extended partition".to_owned());
    }
    for entry in extended {
        follow_chain(disk, &mut table, entry);
    }
    table
}

/// Follows the boot records inside one extended partition.
fn follow_chain(disk: &mut dyn Bytes, table: &mut PartitionTable, extended: Entry) {
    let base = u64::from(extended.start);
    let mut at = base;
    let mut visited: Vec<u64> = Vec::new();
    loop {
        if visited.contains(&at) {
            table
                .problems
                .push("the chain of logical partitions goes in a circle".to_owned());
            return;
        }
        if visited.len() >= LOGICAL_MAX {
            table.problems.push(format!(
                "there are more than {LOGICAL_MAX} logical partitions; the rest is left out"
            ));
            return;
        }
        visited.push(at);
        let place = at * u64::from(table.sector_bytes);
        let Ok(sector) = disk.piece(place, 512) else {
            table.problems.push(format!(
                "a logical partition's boot record at {place} bytes cannot be read"
            ));
            return;
        };
        // An empty extended partition has zeros here.
        if sector[510..512] != [0x55, 0xaa] {
            if visited.len() > 1 {
                table.problems.push(format!(
                    "a logical partition's boot record at {place} bytes has no signature"
                ));
            }
            return;
        }
        match link(table, &sector, at, base) {
            Some(next) => at = next,
            None => return,
        }
    }
}

/// Adds the partitions of one boot record of the chain; returns the position of the next one.
fn link(table: &mut PartitionTable, sector: &[u8], at: u64, base: u64) -> Option<u64> {
    let mut next = None;
    for index in 0..4 {
        let place = 446 + 16 * index;
        let entry = Entry {
            bootable: sector[place] == 0x80,
            kind: sector[place + 4],
            start: le::u32(sector, place + 8),
            sectors: le::u32(sector, place + 12),
        };
        if entry.is_extended() {
            // Links are relative to the extended partition.
            next = next.or(Some(base + u64::from(entry.start)));
        } else if entry.is_used() && entry.kind != 0 {
            // Partitions are relative to their own boot record.
            let logical = table.partitions.iter().filter(|one| one.logical).count();
            if logical < LOGICAL_MAX {
                let number = 5 + u32::try_from(logical).unwrap_or(u32::MAX - 5);
                let mut one = partition(entry, number, at, table.sector_bytes);
                one.logical = true;
                if one.role == Role::Protective {
                    one.role = Role::Data;
                }
                table.partitions.push(one);
            }
        }
    }
    next
}
