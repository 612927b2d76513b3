//! Tables and superblocks made byte by byte, for images and captured trees.
//!
//! Integration tests of several crates include this file by its path, so each
//! leaves a part of it unused.

#![allow(dead_code)]

use stripewise_disk_formats::tables::crc32;

pub const SECTOR: u64 = 512;

/// A sparse picture of a disk: a few pieces of bytes in a length.
#[derive(Clone)]
pub struct Picture {
    pub bytes: Vec<u8>,
}

impl Picture {
    pub fn new(size_bytes: u64) -> Self {
        Picture {
            bytes: vec![0; usize::try_from(size_bytes).expect("a small picture")],
        }
    }

    pub fn put(&mut self, at: u64, piece: &[u8]) -> &mut Self {
        let at = usize::try_from(at).expect("inside");
        self.bytes[at..at + piece.len()].copy_from_slice(piece);
        self
    }

    /// One MBR entry of the boot record at a sector; starts and lengths in sectors.
    pub fn entry(
        &mut self,
        record: u64,
        slot: u64,
        kind: u8,
        start: u32,
        sectors: u32,
    ) -> &mut Self {
        let at = record * SECTOR;
        let mut entry = [0u8; 16];
        entry[4] = kind;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&sectors.to_le_bytes());
        self.put(at + 446 + 16 * slot, &entry);
        self.put(at + 510, &[0x55, 0xaa])
    }

    /// A GPT with both headers and a protective MBR; partitions as type, first
    /// and last sector.
    pub fn gpt(
        &mut self,
        sector: u64,
        count: u32,
        entry_bytes: u32,
        parts: &[(&str, u64, u64)],
    ) -> &mut Self {
        let last = self.bytes.len() as u64 / sector - 1;
        let length = u64::from(count) * u64::from(entry_bytes);
        let sectors = length.div_ceil(sector);
        let mut entries = vec![0u8; usize::try_from(length).expect("small")];
        for (index, (kind, first, end)) in parts.iter().enumerate() {
            let at = index * entry_bytes as usize;
            entries[at..at + 16].copy_from_slice(&guid(kind));
            entries[at + 16] = 1 + index as u8;
            entries[at + 32..at + 40].copy_from_slice(&first.to_le_bytes());
            entries[at + 40..at + 48].copy_from_slice(&end.to_le_bytes());
            entries[at + 56] = b'p';
        }
        let places = [(1, last, 2), (last, 1, last - sectors)];
        for (own, other, at) in places {
            let mut header = vec![0u8; 92];
            header[..8].copy_from_slice(b"EFI PART");
            header[8..12].copy_from_slice(&0x1_0000u32.to_le_bytes());
            header[12..16].copy_from_slice(&92u32.to_le_bytes());
            header[24..32].copy_from_slice(&own.to_le_bytes());
            header[32..40].copy_from_slice(&other.to_le_bytes());
            header[40..48].copy_from_slice(&(2 + sectors).to_le_bytes());
            header[48..56].copy_from_slice(&(last - sectors - 1).to_le_bytes());
            header[56] = 7;
            header[72..80].copy_from_slice(&at.to_le_bytes());
            header[80..84].copy_from_slice(&count.to_le_bytes());
            header[84..88].copy_from_slice(&entry_bytes.to_le_bytes());
            header[88..92].copy_from_slice(&crc32(&entries).to_le_bytes());
            let sum = crc32(&header);
            header[16..20].copy_from_slice(&sum.to_le_bytes());
            self.put(own * sector, &header);
            self.put(at * sector, &entries);
        }
        self.entry(0, 0, 0xee, 1, u32::MAX)
    }

    /// An ext4 superblock of 4 KiB blocks, in a partition that starts here.
    pub fn ext4(&mut self, start: u64, stride_blocks: u16) -> &mut Self {
        let mut block = [0u8; 1024];
        block[4..8].copy_from_slice(&1000u32.to_le_bytes());
        block[24] = 2;
        block[56..58].copy_from_slice(&0xef53u16.to_le_bytes());
        block[92] = 4;
        block[96] = 0x42;
        block[104..120].copy_from_slice(&[9; 16]);
        block[0x164..0x166].copy_from_slice(&stride_blocks.to_le_bytes());
        self.put(start + 1024, &block)
    }

    pub fn ntfs(&mut self, start: u64, cluster_sectors: u8) -> &mut Self {
        self.put(start, &[0xeb, 0x52, 0x90]);
        self.put(start + 3, b"NTFS    ");
        self.put(start + 11, &512u16.to_le_bytes());
        self.put(start + 13, &[cluster_sectors]);
        self.put(start + 40, &2000u64.to_le_bytes());
        self.put(start + 510, &[0x55, 0xaa])
    }
}

/// Small disks of the kinds that are met most, for tests that damage them: logical
/// partitions, GPT in small and large sectors, ext4, NTFS.
pub fn common() -> Vec<Picture> {
    let made: [&dyn Fn(&mut Picture); 5] = [
        &|p| {
            p.entry(0, 0, 0x83, 63, 100)
                .entry(0, 1, 0x05, 200, 200)
                .entry(200, 0, 0x83, 1, 10)
                .entry(200, 1, 0x05, 20, 50)
                .entry(220, 0, 0x83, 1, 10);
        },
        &|p| {
            p.gpt(512, 128, 128, &[(LINUX, 64, 100), (LINUX, 101, 200)]);
        },
        &|p| {
            p.gpt(4096, 8, 256, &[(LINUX, 8, 10)]);
        },
        &|p| {
            p.ext4(0, 16);
        },
        &|p| {
            p.ntfs(0, 8);
        },
    ];
    made.iter()
        .map(|make| {
            let mut picture = Picture::new(256 << 10);
            make(&mut picture);
            picture
        })
        .collect()
}

/// A GUID as GPT stores it.
pub fn guid(text: &str) -> [u8; 16] {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let mut bytes = [0u8; 16];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).expect("a GUID");
    }
    bytes[0..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

pub const LINUX: &str = "0FC63DAF-8483-4772-8E79-3D69D8477DE4";
pub const BIOS_BOOT: &str = "21686148-6449-6E6F-744E-656564454649";
pub const RESERVED: &str = "E3C9E316-0B5C-4DB8-817D-F92DF00215AE";
