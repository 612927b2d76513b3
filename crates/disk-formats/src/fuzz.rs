//! What fuzz targets call: any bytes through each parser, and what must hold of
//! whatever comes out. Part of the crate so that `cargo test` runs it, too.
//!
//! Disks come as [`Sparse`] descriptions: a few pieces in a length that may be
//! terabytes, so that inputs stay small and mutations hit what parsers read.

use crate::medium::Medium;
use crate::superblocks::{self, Found};
use crate::{mapper_table, tables};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

/// A disk of zeros with pieces on it.
#[derive(Clone, Debug, Default)]
pub struct Sparse<'a> {
    size_bytes: u64,
    pieces: Vec<(u64, &'a [u8])>,
    at: u64,
}

impl<'a> Sparse<'a> {
    /// A disk that is these bytes from end to end.
    #[must_use]
    pub fn dense(bytes: &'a [u8]) -> Self {
        Sparse {
            size_bytes: bytes.len() as u64,
            pieces: vec![(0, bytes)],
            at: 0,
        }
    }

    /// A description: its size, then for each piece the place, the length (16
    /// bits) and the bytes; numbers little-endian, what is cut off is zeros.
    #[must_use]
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

    /// Its length in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// To read it.
    #[must_use]
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
    superblocks::each(&mut || device.medium());
    if let Ok(Some(Found::FileSystem(header))) = superblocks::read(&mut device.medium()) {
        assert!(header.allocation_unit_bytes != Some(0));
        assert!(header.stripe_unit_bytes != Some(0));
    }
}

/// Any text as LVM's metadata.
pub fn lvm_text(bytes: &[u8]) {
    superblocks::lvm_text(&String::from_utf8_lossy(bytes));
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
