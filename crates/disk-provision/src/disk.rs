//! A disk as used by this crate: positioned reads and writes, and a flush. The real one is a
//! claimed block device; tests have one in memory with injectable failures.

use std::io::{self, Read, Seek, SeekFrom};
use stripewise_disk_formats::medium::Medium;

/// Positioned access.
pub(crate) trait Disk {
    /// Its size.
    fn size_bytes(&self) -> u64;
    /// Reads the whole buffer.
    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Writes the whole buffer.
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()>;
    /// Returns when everything written is on the device; later reads come from there.
    fn flush(&mut self) -> io::Result<()>;

    /// A range of bytes as a vector.
    fn piece(&self, offset_bytes: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read_at(offset_bytes, &mut bytes)?;
        Ok(bytes)
    }
}

/// A disk for the parsers of `disk-formats`.
pub(crate) fn medium<D: Disk>(disk: &D) -> Medium<Reader<'_, D>> {
    Medium::new(Reader { disk, at: 0 }, disk.size_bytes())
}

/// A disk as a reader with a position.
pub(crate) struct Reader<'a, D> {
    disk: &'a D,
    at: u64,
}

impl<D: Disk> Read for Reader<'_, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.disk.size_bytes().saturating_sub(self.at);
        let length = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        self.disk.read_at(self.at, &mut buffer[..length])?;
        self.at += length as u64;
        Ok(length)
    }
}

impl<D: Disk> Seek for Reader<'_, D> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.disk.size_bytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = moved.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// In memory, for tests.
#[cfg(test)]
pub(crate) mod memory {
    use super::{Disk, io};

    /// A disk that counts writes and fails on demand.
    #[derive(Clone, Debug)]
    pub(crate) struct MemoryDisk {
        pub bytes: Vec<u8>,
        /// Sectors that can still be written before writes fail.
        pub sectors_left: Option<usize>,
        /// Writes do nothing but report success.
        pub lies: bool,
        pub sector_bytes: usize,
    }

    impl MemoryDisk {
        pub fn new(size_bytes: u64, sector_bytes: usize) -> Self {
            MemoryDisk {
                bytes: vec![0; usize::try_from(size_bytes).unwrap()],
                sectors_left: None,
                lies: false,
                sector_bytes,
            }
        }
    }

    impl Disk for MemoryDisk {
        fn size_bytes(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
            let at = usize::try_from(offset_bytes).unwrap();
            let piece = self.bytes.get(at..at + buffer.len());
            buffer.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }

        fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
            assert!(
                bytes.len().is_multiple_of(self.sector_bytes),
                "whole sectors"
            );
            let mut at = usize::try_from(offset_bytes).unwrap();
            assert!(at.is_multiple_of(self.sector_bytes), "whole sectors");
            for sector in bytes.chunks(self.sector_bytes) {
                match &mut self.sectors_left {
                    Some(0) => return Err(io::Error::from_raw_os_error(5)),
                    Some(left) => *left -= 1,
                    None => {}
                }
                if !self.lies {
                    self.bytes[at..at + sector.len()].copy_from_slice(sector);
                }
                at += sector.len();
            }
            Ok(())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
