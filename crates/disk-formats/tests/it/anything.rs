//! Any bytes through each parser, and what must hold of whatever comes out. Fuzz targets
//! have it, too.
//!
//! Disks come as [`Sparse`] descriptions: a few pieces in a length that may be
//! terabytes, so that inputs stay small and mutations hit what parsers read.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use stripewise_disk_formats::ioctl::{
    EXTENTS_MAX, access_alignment, device_descriptor, device_number, disk_extents, drive_layout,
    geometry, layout, ntfs_volume, retrieval_pointers, seek_penalty, write_cache,
};
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_formats::superblocks::{self, Found, lvm};
use stripewise_disk_formats::{health_log, mapper_table, tables, volume_log};

/// A disk of zeros with pieces on it.
#[derive(Clone, Debug, Default)]
pub struct Sparse<'a> {
    size_bytes: u64,
    pieces: Vec<(u64, &'a [u8])>,
    at: u64,
}

impl<'a> Sparse<'a> {
    /// A disk that is these bytes from end to end.
    pub fn dense(bytes: &'a [u8]) -> Self {
        Sparse {
            size_bytes: bytes.len() as u64,
            pieces: vec![(0, bytes)],
            at: 0,
        }
    }

    /// A description: its size, then for each piece the place, the length (16
    /// bits) and the bytes; numbers little-endian, what is cut off is zeros.
    pub fn described(description: &'a [u8]) -> Self {
        let mut rest = description;
        let mut sparse = Sparse::default();
        if let Some((size, behind)) = number(rest) {
            sparse.size_bytes = size;
            rest = behind;
        }
        while let Some((place, behind)) = number(rest) {
            let Some((length, behind)) = behind.split_first_chunk::<2>() else {
                break;
            };
            let length = usize::from(u16::from_le_bytes(*length)).min(behind.len());
            let (piece, behind) = behind.split_at(length);
            sparse.pieces.push((place, piece));
            rest = behind;
        }
        sparse
    }

    /// To read it.
    pub fn medium(&self) -> Medium<Sparse<'a>> {
        Medium::new(self.clone(), self.size_bytes)
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*number), rest))
}

impl Read for Sparse<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = self.size_bytes.saturating_sub(self.at);
        let length = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..length];
        buffer.fill(0);
        let end = self.at + length as u64;
        for (place, piece) in &self.pieces {
            let from = self.at.max(*place);
            let to = end.min(place.saturating_add(piece.len() as u64));
            if from < to {
                let source = (from - place) as usize..(to - place) as usize;
                let into = (from - self.at) as usize..(to - self.at) as usize;
                buffer[into].copy_from_slice(&piece[source]);
            }
        }
        self.at = end;
        Ok(length)
    }
}

impl Seek for Sparse<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            _ => return Err(Error::from(ErrorKind::Unsupported)),
        }
        Ok(self.at)
    }
}

/// A disk: a partition table or none, whatever sectors are believed.
///
/// # Panics
/// When something that must hold does not.
pub fn partition_table(disk: &Sparse) {
    for sector in [None, Some(512), Some(4096)] {
        if let Ok(Some(table)) = tables::read(&mut disk.medium(), sector) {
            assert!(table.partitions.len() <= tables::ENTRIES_MAX as usize);
            assert!(table.problems.len() <= 17);
            assert!(table.sector_bytes.is_power_of_two());
        }
    }
}

/// A device: file systems, md, LVM, LUKS, or nothing.
///
/// # Panics
/// When something that must hold does not.
pub fn superblock(device: &Sparse) {
    if let Ok(Some(Found::FileSystem(header))) = superblocks::read(&mut device.medium()) {
        assert!(header.allocation_unit_bytes != Some(0));
        assert!(header.stripe_unit_bytes != Some(0));
    }
}

/// Any text as LVM's metadata.
pub fn lvm_text(bytes: &[u8]) {
    let _ = lvm::group(&String::from_utf8_lossy(bytes));
}

/// Any text as a table of device mapper.
///
/// # Panics
/// When something that must hold does not.
pub fn mapper(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Ok(segments) = mapper_table::parse(&lines, &|_| None) {
        assert!(segments.len() <= lines.len());
        assert!(segments.iter().all(|one| one.stripe_unit_bytes != Some(0)));
    }
    let _ = mapper_table::lines_of(&text, "a");
}

/// Any bytes as the pages that volumes and drives keep of themselves.
///
/// # Panics
/// When something that must hold does not.
pub fn volume_log(bytes: &[u8]) {
    let mut page = bytes.to_vec();
    if let Some(magic) = page.get_mut(..4) {
        magic.copy_from_slice(&0x3C23_B510_u32.to_le_bytes());
    }
    page.resize(volume_log::PAGE_BYTES, 0);
    let log = volume_log::decode(&page);
    let bins = log.map(|log| (log.read_latencies.len(), log.write_latencies.len()));
    assert!(bins.is_none_or(|(reads, writes)| reads <= 64 && writes <= 64));
    let _ = volume_log::decode(bytes);
    let _ = health_log::decode(bytes);
}

/// Any bytes as a Windows driver's answer to every question.
///
/// # Panics
/// When something that must hold does not.
pub fn windows_answer(bytes: &[u8]) {
    if let Ok(table) = drive_layout(bytes, 512) {
        assert!(table.partitions.len() <= layout::PARTITIONS_MAX);
        assert!(table.problems.len() <= 17);
    }
    let _ = geometry(bytes);
    if let Ok(alignment) = access_alignment(bytes) {
        assert!(alignment.first_physical_bytes < alignment.physical_sector_bytes);
    }
    let _ = device_descriptor(bytes);
    let _ = device_number(bytes);
    let _ = seek_penalty(bytes);
    let _ = write_cache(bytes);
    if let Ok(volume) = ntfs_volume(bytes) {
        assert!(volume.allocation_unit_bytes.is_power_of_two());
    }
    if let Ok(extents) = disk_extents(bytes) {
        assert!(extents.len() <= EXTENTS_MAX);
    }
    for unit in [512, 4096, 2 << 20] {
        if let Ok(extents) = retrieval_pointers(bytes, 0, unit) {
            let one = extents.extents.iter();
            assert!(one.clone().all(|extent| extent.length_bytes > 0));
            assert!(
                one.zip(extents.extents.iter().skip(1))
                    .all(|(a, b)| { a.logical_bytes + a.length_bytes == b.logical_bytes })
            );
        }
    }
}
