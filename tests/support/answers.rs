//! Answers written by hand, field by field, at the places that the structures'
//! documentation gives.
//!
//! Integration tests of several crates include this file by its path, so each
//! leaves a part of it unused.

#![allow(dead_code)]

/// A buffer of zeros to write fields into.
pub struct Buffer(pub Vec<u8>);

impl Buffer {
    pub fn new(length: usize) -> Self {
        Buffer(vec![0; length])
    }

    pub fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub fn u32(self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_le_bytes())
    }

    pub fn i64(self, at: usize, value: i64) -> Self {
        self.put(at, &value.to_le_bytes())
    }
}

/// EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, as it stands in memory.
pub const BASIC_DATA: [u8; 16] = [
    0xa2, 0xa0, 0xd0, 0xeb, 0xe5, 0xb9, 0x33, 0x44, 0x87, 0xc0, 0x68, 0xb6, 0xb7, 0x26, 0x99, 0xc7,
];
/// E3C9E316-0B5C-4DB8-817D-F92DF00215AE.
pub const RESERVED: [u8; 16] = [
    0x16, 0xe3, 0xc9, 0xe3, 0x5c, 0x0b, 0xb8, 0x4d, 0x81, 0x7d, 0xf9, 0x2d, 0xf0, 0x02, 0x15, 0xae,
];
/// AF9B60A0-1431-4F62-BC68-3311714A69AD.
pub const LDM_DATA: [u8; 16] = [
    0xa0, 0x60, 0x9b, 0xaf, 0x31, 0x14, 0x62, 0x4f, 0xbc, 0x68, 0x33, 0x11, 0x71, 0x4a, 0x69, 0xad,
];
/// E75CAF8F-F680-4CEE-AFA3-B001E56EFC2D.
pub const SPACES: [u8; 16] = [
    0x8f, 0xaf, 0x5c, 0xe7, 0x80, 0xf6, 0xee, 0x4c, 0xaf, 0xa3, 0xb0, 0x01, 0xe5, 0x6e, 0xfc, 0x2d,
];

/// One entry: (number, start, length, type).
pub type Entry<T> = (u32, i64, i64, T);

fn places<T>(buffer: Buffer, at: usize, style: u32, entry: &Entry<T>) -> Buffer {
    buffer
        .u32(at, style)
        .i64(at + 8, entry.1)
        .i64(at + 16, entry.2)
        .u32(at + 24, entry.0)
}

pub fn mbr(signature: u32, entries: &[Entry<u8>]) -> Vec<u8> {
    let mut buffer = Buffer::new(48 + 144 * entries.len())
        .u32(0, 0)
        .u32(4, entries.len() as u32)
        .u32(8, signature);
    for (index, entry) in entries.iter().enumerate() {
        let at = 48 + 144 * index;
        buffer = places(buffer, at, 0, entry).put(at + 32, &[entry.3, 0x80, 1]);
    }
    buffer.0
}

pub fn gpt(entries: &[Entry<[u8; 16]>]) -> Vec<u8> {
    let mut buffer = Buffer::new(48 + 144 * entries.len())
        .u32(0, 1)
        .u32(4, entries.len() as u32)
        .put(8, &[0x44; 16])
        .i64(24, 17_408)
        .i64(32, 1 << 40)
        .u32(40, 128);
    for (index, entry) in entries.iter().enumerate() {
        let at = 48 + 144 * index;
        let name: Vec<u8> = "Basic data"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        buffer = places(buffer, at, 1, entry)
            .put(at + 32, &entry.3)
            .put(at + 48, &[index as u8 + 1; 16])
            .put(at + 72, &name);
    }
    buffer.0
}

pub fn geometry(sector: u32, size: i64) -> Vec<u8> {
    Buffer::new(40)
        .i64(0, size / (255 * 63 * 512))
        .u32(8, 12)
        .u32(12, 255)
        .u32(16, 63)
        .u32(20, sector)
        .i64(24, size)
        .0
}

pub fn alignment(logical: u32, physical: u32, inside: u32) -> Vec<u8> {
    Buffer::new(28)
        .u32(0, 28)
        .u32(4, 28)
        .u32(16, logical)
        .u32(20, physical)
        .u32(24, inside)
        .0
}

/// With texts behind the fixed part; an empty one is absent.
pub fn descriptor(bus: u32, texts: [&str; 4]) -> Vec<u8> {
    let mut buffer = Buffer::new(256).u32(0, 40).u32(28, bus);
    let mut at = 40;
    for (field, text) in texts.iter().enumerate() {
        if !text.is_empty() {
            buffer = buffer
                .u32(12 + 4 * field, at as u32)
                .put(at, text.as_bytes());
            at += text.len() + 1;
        }
    }
    buffer.0.truncate(at);
    buffer.u32(4, at as u32).0
}

pub fn seek_penalty(spins: bool) -> Vec<u8> {
    Buffer::new(12)
        .u32(0, 12)
        .u32(4, 12)
        .put(8, &[u8::from(spins)])
        .0
}

pub fn write_cache(kind: u32, enabled: u32, write_through: u32) -> Vec<u8> {
    Buffer::new(28)
        .u32(0, 28)
        .u32(4, 28)
        .u32(8, kind)
        .u32(12, enabled)
        .u32(20, write_through)
        .put(24, &[1])
        .0
}

/// (disk, start, length).
pub fn disk_extents(extents: &[(u32, i64, i64)]) -> Vec<u8> {
    let mut buffer = Buffer::new(8 + 24 * extents.len().max(1)).u32(0, extents.len() as u32);
    for (index, (disk, start, length)) in extents.iter().enumerate() {
        let at = 8 + 24 * index;
        buffer = buffer
            .u32(at, *disk)
            .i64(at + 8, *start)
            .i64(at + 16, *length);
    }
    buffer.0
}

pub fn ntfs(sector: u32, cluster: u32, sectors: i64) -> Vec<u8> {
    Buffer::new(96)
        .i64(0, 0x1234_5678_9abc_def0)
        .i64(8, sectors)
        .u32(40, sector)
        .u32(44, cluster)
        .u32(48, 1024)
        .0
}

/// (next cluster, place or -1).
pub fn retrieval_pointers(first: i64, runs: &[(i64, i64)]) -> Vec<u8> {
    let mut buffer = Buffer::new(16 + 16 * runs.len())
        .u32(0, runs.len() as u32)
        .i64(8, first);
    for (index, (next, place)) in runs.iter().enumerate() {
        buffer = buffer
            .i64(16 + 16 * index, *next)
            .i64(24 + 16 * index, *place);
    }
    buffer.0
}
