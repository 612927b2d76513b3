//! The old partition table in a file: saved before the first write, restored byte for byte.
//!
//! The file is JSON: a format and version, the device's identity, regions of the disk in
//! hexadecimal (runs of zeros abbreviated), and a checksum over all of it. It is human-readable,
//! and a script can restore it without this program. A damaged file, or one for a disk of another
//! size or sector, is refused.

use crate::disk::Disk;
use crate::layout::Geometry;
use crate::table::Patch;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::io;
use stripewise_disk_formats::tables::crc32;

const FORMAT: &str = "stripewise partition table";
const VERSION: u32 = 1;
/// Larger than any file written here: tables, and a few more sectors.
pub(crate) const FILE_BYTES_MAX: u64 = 64 << 20;

/// Identity of the device when its table was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SavedDevice {
    /// The kernel's name then; it may differ now.
    pub name: String,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number or world-wide name.
    pub serial: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest addressable unit.
    pub logical_sector_bytes: u32,
}

/// A region of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
struct Region {
    offset_bytes: u64,
    length_bytes: u64,
    /// Absent for zeros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// A saved table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SavedTable {
    format: String,
    version: u32,
    /// Time, RFC 3339.
    pub saved_at: String,
    /// The device.
    pub device: SavedDevice,
    regions: Vec<Region>,
    /// CRC-32 of this document without this field, printed compactly.
    crc32: String,
}

impl SavedTable {
    /// Reads regions of a disk; overlapping ones are merged.
    pub(crate) fn of<D: Disk>(
        disk: &D,
        device: SavedDevice,
        places: &[(u64, u64)],
        saved_at: &str,
    ) -> io::Result<Self> {
        let mut regions = Vec::new();
        for (start, end) in joined(places) {
            let length = usize::try_from(end - start).unwrap_or(usize::MAX);
            let bytes = disk.piece(start, length)?;
            regions.extend(runs(start, &bytes, device.logical_sector_bytes as usize));
        }
        let mut saved = SavedTable {
            format: FORMAT.to_owned(),
            version: VERSION,
            saved_at: saved_at.to_owned(),
            device,
            regions,
            crc32: String::new(),
        };
        saved.crc32 = saved.checksum();
        Ok(saved)
    }

    fn checksum(&self) -> String {
        let bare = SavedTable {
            crc32: String::new(),
            ..self.clone()
        };
        let bytes = serde_json::to_vec(&bare).expect("plain data");
        format!("{:08x}", crc32(&bytes))
    }

    /// The file's bytes.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("plain data");
        bytes.push(b'\n');
        bytes
    }

    /// Parses a file's bytes; nothing in them is trusted. `file` is its name for errors.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if it is not such a file or is damaged.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Self> {
        let refuse = |what: &str| {
            Err(Error::new(ErrorKind::Usage, file, what)
                .with_hint("Name a file that `stripewise partition` saved, as it was saved."))
        };
        let Ok(saved) = serde_json::from_slice::<SavedTable>(bytes) else {
            return refuse("is not a saved partition table");
        };
        if saved.format != FORMAT {
            return refuse("is not a saved partition table");
        }
        if saved.version != VERSION {
            return Err(Error::new(
                ErrorKind::Usage,
                file,
                format!("was saved in version {} of the format", saved.version),
            )
            .with_hint(
                "Restore it with the release of Stripewise that saved it, or a newer one.",
            ));
        }
        if saved.checksum() != saved.crc32 {
            return refuse("is damaged: its checksum is wrong");
        }
        if !saved.is_sound() {
            return refuse("is damaged: its pieces do not fit the disk");
        }
        Ok(saved)
    }

    /// Whether regions are whole sectors, inside the disk, in order, and have all bytes.
    fn is_sound(&self) -> bool {
        let sector = u64::from(self.device.logical_sector_bytes);
        if !sector.is_power_of_two() || !(512..=65_536).contains(&sector) {
            return false;
        }
        let mut reach = 0;
        let mut total: u64 = 0;
        let fits = self.regions.iter().all(|region| {
            let end = region.offset_bytes.checked_add(region.length_bytes);
            let whole = region.offset_bytes.is_multiple_of(sector)
                && region.length_bytes.is_multiple_of(sector)
                && region.length_bytes > 0;
            let in_order = region.offset_bytes >= reach;
            reach = end.unwrap_or(u64::MAX);
            total = total.saturating_add(region.length_bytes);
            let has_bytes = region.hex.as_ref().is_none_or(|hex| {
                hex.len() as u64 == region.length_bytes.saturating_mul(2)
                    && hex.bytes().all(|digit| digit.is_ascii_hexdigit())
            });
            whole && in_order && has_bytes && reach <= self.device.size_bytes
        });
        // The first sector determines which table is in force: it must be present.
        let has_first = self
            .regions
            .first()
            .is_some_and(|one| one.offset_bytes == 0);
        fits && has_first && total <= FILE_BYTES_MAX
    }

    /// Whether it can be restored to a disk: same size, same sector.
    pub(crate) fn check_fits(&self, geometry: &Geometry, device: &str) -> Result<()> {
        let saved = &self.device;
        let same = saved.size_bytes == geometry.size_bytes
            && saved.logical_sector_bytes == geometry.logical_sector_bytes;
        if same {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Refused,
            device,
            format!(
                "has {} bytes in sectors of {}, but the table was saved from {} with {} bytes in sectors of {}",
                geometry.size_bytes,
                geometry.logical_sector_bytes,
                saved.name,
                saved.size_bytes,
                saved.logical_sector_bytes
            ),
        )
        .with_hint("It belongs to another disk; look at `lsblk -b` for the one it was saved from."))
    }

    /// Locations of its regions: offset from the start of the disk, and length. In disk order, with
    /// the first sector separate, none empty, all inside the disk.
    pub fn pieces(&self) -> Vec<(u64, u64)> {
        let patches = self.patches().into_iter();
        let mut pieces: Vec<(u64, u64)> = patches
            .map(|patch| (patch.offset_bytes, patch.bytes.len() as u64))
            .collect();
        pieces.sort_unstable();
        pieces
    }

    /// What to write, in no particular order; the first sector separately.
    pub(crate) fn patches(&self) -> Vec<Patch> {
        let sector = self.device.logical_sector_bytes as usize;
        let mut patches: Vec<Patch> = Vec::new();
        for region in &self.regions {
            let bytes = match &region.hex {
                Some(hex) => unhex(hex),
                None => vec![0; usize::try_from(region.length_bytes).unwrap_or(0)],
            };
            match patches.last_mut() {
                Some(last) if last.end_bytes() == region.offset_bytes => {
                    last.bytes.extend(bytes);
                }
                _ => patches.push(Patch {
                    offset_bytes: region.offset_bytes,
                    bytes,
                    what: "saved sectors".to_owned(),
                }),
            }
        }
        if let Some(first) = patches.first_mut()
            && first.bytes.len() > sector
        {
            let rest = first.bytes.split_off(sector);
            patches.push(Patch {
                offset_bytes: sector as u64,
                bytes: rest,
                what: "saved sectors".to_owned(),
            });
        }
        patches
    }
}

/// Sorted ranges, with adjacent ones merged.
fn joined(places: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sorted: Vec<(u64, u64)> = places
        .iter()
        .filter(|(_, length)| *length > 0)
        .map(|(start, length)| (*start, start + length))
        .collect();
    sorted.sort_unstable();
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (start, end) in sorted {
        match found.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => found.push((start, end)),
        }
    }
    found
}

/// Splits a region into runs of all-zero sectors and other runs.
fn runs(start: u64, bytes: &[u8], sector: usize) -> Vec<Region> {
    let is_zero = |sector: &[u8]| sector.iter().all(|byte| *byte == 0);
    let mut found: Vec<Region> = Vec::new();
    let mut at = start;
    for run in bytes
        .chunks(sector)
        .collect::<Vec<_>>()
        .chunk_by(|one, other| is_zero(one) == is_zero(other))
    {
        let run = run.concat();
        let length_bytes = run.len() as u64;
        found.push(Region {
            offset_bytes: at,
            length_bytes,
            hex: (!is_zero(&run)).then(|| hex(&run)),
        });
        at += length_bytes;
    }
    found
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The reverse; the digits were checked.
fn unhex(text: &str) -> Vec<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    text.as_bytes()
        .chunks_exact(2)
        .map(|pair| value(pair[0]) << 4 | value(pair[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::memory::MemoryDisk;

    const SIZE: u64 = 1 << 20;

    fn device() -> SavedDevice {
        SavedDevice {
            name: "sdz".to_owned(),
            size_bytes: SIZE,
            logical_sector_bytes: 512,
            ..SavedDevice::default()
        }
    }

    /// A disk whose sectors 0, 3 and the last hold something.
    fn disk() -> MemoryDisk {
        let mut disk = MemoryDisk::new(SIZE, 512);
        for at in [5, 3 * 512 + 511, SIZE as usize - 1] {
            disk.bytes[at] = 0xa5;
        }
        disk
    }

    fn saved() -> SavedTable {
        let places = [(0, 2048), (1024, 2048), (SIZE - 512, 512)];
        SavedTable::of(&disk(), device(), &places, "2026-01-02T03:04:05.000Z").unwrap()
    }

    #[test]
    fn what_was_saved_comes_back_byte_for_byte() {
        let read = SavedTable::from_bytes(&saved().to_bytes(), "file").unwrap();
        assert_eq!(read, saved());
        let mut blank = MemoryDisk::new(SIZE, 512);
        blank.bytes.fill(0xff);
        for patch in read.patches() {
            blank.write_at(patch.offset_bytes, &patch.bytes).unwrap();
        }
        let original = disk().bytes;
        assert_eq!(blank.bytes[..3072], original[..3072]);
        assert_eq!(
            blank.bytes[SIZE as usize - 512..],
            original[SIZE as usize - 512..]
        );
        assert!(
            blank.bytes[3072..SIZE as usize - 512]
                .iter()
                .all(|byte| *byte == 0xff)
        );
        assert_eq!(
            read.patches()[0].bytes.len(),
            512,
            "the first sector is apart"
        );
    }

    #[test]
    fn zeros_take_no_room() {
        assert!(saved().to_bytes().len() < 5_000);
    }

    #[test]
    fn every_single_damaged_byte_is_noticed() {
        let bytes = saved().to_bytes();
        let original = SavedTable::from_bytes(&bytes, "file").unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            if let Ok(read) = SavedTable::from_bytes(&damaged, "file") {
                // White space between the words may change.
                assert_eq!(read, original, "byte {at}");
            }
        }
        for length in [0, 1, bytes.len() / 2, bytes.len() - 2] {
            assert!(SavedTable::from_bytes(&bytes[..length], "file").is_err());
        }
    }

    #[test]
    fn pieces_that_would_go_astray_are_refused_even_with_a_right_checksum() {
        type Change = fn(&mut SavedTable);
        let changes: [(&str, Change); 8] = [
            ("past the end", |saved| {
                saved.regions.last_mut().unwrap().offset_bytes = SIZE
            }),
            ("wraps", |saved| {
                saved.regions.last_mut().unwrap().offset_bytes = u64::MAX - 511
            }),
            ("no whole sector", |saved| {
                saved.regions[1].offset_bytes += 1
            }),
            ("overlap", |saved| saved.regions[1].offset_bytes = 0),
            ("empty", |saved| saved.regions[1].length_bytes = 0),
            ("bytes missing", |saved| {
                saved.regions[0].hex = Some("00".to_owned())
            }),
            ("no first sector", |saved| {
                saved.regions.remove(0);
            }),
            ("odd sector", |saved| {
                saved.device.logical_sector_bytes = 500
            }),
        ];
        for (case, change) in changes {
            let mut bad = saved();
            change(&mut bad);
            bad.crc32 = bad.checksum();
            let found = SavedTable::from_bytes(&bad.to_bytes(), "file");
            assert_eq!(found.unwrap_err().kind, ErrorKind::Usage, "{case}");
        }
        let mut newer = saved();
        newer.version = 2;
        newer.crc32 = newer.checksum();
        let error = SavedTable::from_bytes(&newer.to_bytes(), "file").unwrap_err();
        assert!(error.hint.contains("newer"), "{error}");
    }

    #[test]
    fn a_disk_of_another_size_or_sector_is_refused() {
        for (size_bytes, sector, fits) in [
            (SIZE, 512, true),
            (SIZE + 512, 512, false),
            (SIZE, 4096, false),
        ] {
            let geometry = Geometry {
                size_bytes,
                logical_sector_bytes: sector,
                physical_sector_bytes: 4096,
            };
            assert_eq!(saved().check_fits(&geometry, "sdy").is_ok(), fits);
        }
    }
}
